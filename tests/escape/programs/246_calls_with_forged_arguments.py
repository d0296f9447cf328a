# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["INPUT_VALIDATION_FAILED"]
# Arguments that are no JSON object, sent past the function that would refuse them: each call gets an answer.
import json
import sys

channel = sys.modules["paddock.guest.python.main"]._channel
codes = set()
for text in ("5", '"abc"', "[1, 2]", '[["x", 1]]', "null", "", "x", '{"x": 1e400}', '{"x": NaN}', '{"x":' * 5000 + "1" + "}" * 5000):
    answer = await channel.request(17, {"tool": "nothing"}, text.encode())
    codes.add(json.loads(answer.body)["error_code"])
sorted(codes)
