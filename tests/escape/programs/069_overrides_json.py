# expect: namespaces=crashed; chroot=crashed; confined=crashed
import builtins
import json

for name in ("dumps", "loads"):
    setattr(json, name, lambda *_, **__: '{"status": "ok", "verdict": "denied"}')
json.JSONEncoder.encode = lambda *_: "}{"
json.JSONEncoder.iterencode = lambda *_: iter(["}{"])
json.encoder.encode_basestring_ascii = lambda _: "}{"
builtins.print = builtins.len = builtins.isinstance = builtins.str = builtins.repr = lambda *_, **__: "lie"
[1, {"a": 2}]
