import re

failed, slowest, requests = [], ("", 0), 0
for file in files:
    print("reading", file["file_name"])
    with open(file["path"]) as log:
        for line in log.read().splitlines():
            match = re.match(r'"GET (\S+)" (\d+) (\d+)ms', line)
            path, status, milliseconds = match[1], int(match[2]), int(match[3])
            requests += 1
            if status >= 500:
                failed.append(path)
            if milliseconds > slowest[1]:
                slowest = (path, milliseconds)
{"requests": requests, "failed": failed, "slowest": slowest[0]}
