"""Removes a stopped runner from GitHub. If it fails, the runner stays in GitHub's list as offline for a day."""

import os
import subprocess
from http.client import HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request

from runner import log
from runner.config import WITHOUT_REDIRECTS, Config

MAX_SECONDS = 15.0
ALREADY_GONE = (404, 410)


def deregister(config: Config, home: Path, seconds: float) -> None:
    """Never raises and never exceeds the given time, so the exit code stays the runner's."""
    seconds = max(0.0, min(seconds, MAX_SECONDS))
    if config.remove_url:
        problem = _within(seconds, config.remove_url)
    elif config.remove_token:
        problem = _remove(home, config.remove_token, seconds)
    else:
        log("info", "not deregistered: no remove_url or remove_token is set; GitHub removes the runner after a day")
        return
    if problem:
        log("warning", "not deregistered; GitHub removes the runner after a day", problem=problem)
    else:
        log("info", "deregistered")


def _within(seconds: float, url: str) -> str | None:
    """Runs in a daemon thread, because DNS resolution has no timeout."""
    outcome: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=lambda: outcome.put(_delete(url, seconds)), daemon=True).start()
    try:
        return outcome.get(timeout=seconds)
    except Empty:
        return "timed out"


def _delete(url: str, seconds: float) -> str | None:
    try:
        request = Request(url, method="DELETE")  # noqa: S310 - checked with the config
        with WITHOUT_REDIRECTS.open(request, timeout=seconds):
            return None
    except HTTPError as error:
        error.close()
        return None if error.code in ALREADY_GONE else f"remove_url returned {error.code}"
    except OSError as error:
        return str(error)
    except HTTPException as error:
        return type(error).__name__  # its message may contain the URL


def _remove(home: Path, token: str, seconds: float) -> str | None:
    """Passes the token in the environment, because `ps` shows arguments."""
    environ = {**os.environ, "ACTIONS_RUNNER_INPUT_TOKEN": token}
    try:
        done = subprocess.run(  # noqa: S603
            (home / "config.sh", "remove"), env=environ, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "config.sh timed out"
    except OSError as error:
        return str(error)
    return f"config.sh exited with {done.returncode}" if done.returncode else None
