"""A worker pool child in Python: reads one JSON line per request and writes one JSON line per answer.

Start it from an application with workerPool({ kind: 'text.count', argv: ['python3', 'worker.py'], size: 4 }).
"""
import json
import sys
import time


def handle(payload):
    """Does the work and returns the fields of an answer. An exception fails the attempt."""
    if "text" not in payload:
        # A retry cannot help: the job is dead immediately.
        return {"status": "dead", "message": "payload.text: is missing. Pass the text to count"}
    if payload.get("busyUntil", 0) > time.time():
        # Throttled: the queue pauses for a second, and no attempt is spent.
        return {"status": "throttled", "retryAfterMs": 1000}
    return {"status": "ok", "result": {"words": len(payload["text"].split())}}


# Handles one request at a time, until the pool closes stdin.
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = handle(request["payload"])
    except Exception as error:
        answer = {"status": "error", "message": f"{type(error).__name__}: {error}"}
    # The answer repeats the id of the request. All other output belongs on stderr.
    print(json.dumps({"id": request["id"], **answer}), flush=True)
