"""The entrypoint of a GitHub runner container: Python without dependencies, to copy into any image."""

import json
import sys
import time


def log(level: str, message: str, **fields: object) -> None:
    """One JSON object per line, so that CloudWatch Logs Insights can query every field.

    Written to stderr, which isn't buffered, so that no line is lost when the container is killed.
    """
    now = time.time()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
    sys.stderr.write(json.dumps({"time": moment, "level": level, "message": message, **fields}) + "\n")
