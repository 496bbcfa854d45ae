"""Tells GitHub that a stopped runner will not come back; a failure costs nothing but an offline runner in its list."""

import os
import subprocess
from http.client import HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request

from runner.config import WITHOUT_REDIRECTS, Config
from runner.log import log

LONGEST_SECONDS = 15.0
ALREADY_GONE = (404, 410)


def deregister(config: Config, home: Path, seconds: float) -> None:
    """Never raises and never takes longer than the given seconds: the exit code is the runner's."""
    seconds = max(0.0, min(seconds, LONGEST_SECONDS))
    if config.remove_url:
        problem = _within(seconds, config.remove_url)
    elif config.remove_token:
        problem = _remove(home, config.remove_token, seconds)
    else:
        log("info", "not deregistered, there is no remove_url or remove_token: GitHub forgets it after a day")
        return
    if problem:
        log("warning", "not deregistered, GitHub forgets it after a day", problem=problem)
    else:
        log("info", "deregistered")


def _within(seconds: float, url: str) -> str | None:
    """In a thread that may be left behind, because nothing else limits the resolving of a name."""
    outcome: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=lambda: outcome.put(_delete(url, seconds)), daemon=True).start()
    try:
        return outcome.get(timeout=seconds)
    except Empty:
        return "no answer in time"


def _delete(url: str, seconds: float) -> str | None:
    try:
        request = Request(url, method="DELETE")  # noqa: S310 - checked with the config
        with WITHOUT_REDIRECTS.open(request, timeout=seconds):
            return None
    except HTTPError as error:
        error.close()
        return None if error.code in ALREADY_GONE else f"remove_url answered {error.code}"
    except OSError as error:
        return str(error)
    except HTTPException as error:
        return type(error).__name__  # its text may quote the address


def _remove(home: Path, token: str, seconds: float) -> str | None:
    """The token goes by the environment, which the runner reads as it does arguments, and `ps` does not show."""
    environ = {**os.environ, "ACTIONS_RUNNER_INPUT_TOKEN": token}
    try:
        done = subprocess.run(  # noqa: S603
            (home / "config.sh", "remove"), env=environ, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "config.sh did not end in time"
    except OSError as error:
        return str(error)
    return f"config.sh ended with {done.returncode}" if done.returncode else None
