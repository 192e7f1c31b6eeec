"""A child of a pool in Python: one line of JSON in for every request, one line of JSON out for every answer.

Start it from an application with workerPool({ kind: 'text.count', argv: ['python3', 'worker.py'], size: 4 }).
"""
import json
import sys
import time


def handle(payload):
    """The work itself: gives back the fields of an answer. What it raises makes the attempt fail."""
    if "text" not in payload:
        # No further attempt can help: the job is dead at once.
        return {"status": "dead", "message": "payload.text: is missing. Give the text to count"}
    if payload.get("busyUntil", 0) > time.time():
        # Not now: the whole queue waits for a second, and the attempt is not spent.
        return {"status": "throttled", "retryAfterMs": 1000}
    return {"status": "ok", "result": {"words": len(payload["text"].split())}}


# One request at a time, until the pool closes our input: then the loop, and with it the program, ends.
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = handle(request["payload"])
    except Exception as error:
        answer = {"status": "error", "message": f"{type(error).__name__}: {error}"}
    # The id of the request comes back with the answer. Anything else belongs on stderr.
    print(json.dumps({"id": request["id"], **answer}), flush=True)
