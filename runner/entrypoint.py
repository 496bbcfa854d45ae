"""Runs one GitHub runner from its config to its exit code, and lets its job finish when ECS stops the task."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from runner.config import BadConfig, Config, load, stop_timeout
from runner.deregistration import deregister
from runner.handover import receive, start_afresh, write_runner_files
from runner.log import log
from runner.processes import STOP_SIGNALS, Child, Signals, become_init, descendants

# Of the stop time-out: a job may run for the first share, the runner has until the second to report it as cancelled,
# what survived is killed until the third, and the rest is for GitHub.
ASK_SHARE, KILL_SHARE, KILLED_SHARE = 0.7, 0.9, 0.95

# The runner's process for a job. It lives from the moment the job is taken until its result and logs are with GitHub.
WORKER = "Runner.Worker"


def main() -> int:
    for number in STOP_SIGNALS:
        signal.signal(number, _leave)
    become_init()
    home = Path(os.environ.get("RUNNER_HOME", "/home/runner"))
    try:
        timeout = stop_timeout(os.environ)
        config = receive(os.environ) or _prepare(home)
        child = _start(home)
    except BadConfig as refusal:
        log("error", str(refusal))
        return os.EX_CONFIG
    log("info", "runner started", runner_name=config.runner_name, labels=config.labels, owner=config.repo or config.org)
    if not child.wait():
        _stop(child, config, home, timeout)
    log("info", "runner ended", runner_name=config.runner_name, exit_code=child.exit_code)
    return child.exit_code


def _prepare(home: Path) -> NoReturn:
    config = load(os.environ)
    if not os.access(home / "run.sh", os.X_OK):
        raise BadConfig("RUNNER_HOME has no run.sh that can be started")
    write_runner_files(config.runner_files, home)
    start_afresh(config, os.environ)


def _leave(number: int, _frame: object) -> None:
    log("info", "stopped before the runner was started", signal=number)
    sys.exit(128 + number)


def _start(home: Path) -> Child:
    signals = Signals()
    # Without this variable, run.sh keeps signals from the runner behind it.
    environ = {**os.environ, "RUNNER_MANUALLY_TRAP_SIG": "1"}
    try:
        os.chdir(home)
        return Child(home / "run.sh", environ, signals)
    except OSError as error:
        raise BadConfig(f"RUNNER_HOME has no run.sh that can be started: {error}") from None


def _stop(child: Child, config: Config, home: Path, timeout: float) -> None:
    """SIGINT makes an idle runner leave but cancels the job of a busy one, so a busy one is asked as late as can be."""
    began = time.monotonic()
    if WORKER in descendants().values():
        log("info", "stop requested, the job may go on", seconds=timeout * ASK_SHARE)
        if child.wait(began + timeout * ASK_SHARE):
            return  # a JIT runner takes one job, and GitHub removes it after that
        log("warning", "the job takes too long, asking the runner to cancel it")
    else:
        log("info", "stop requested and there is no job, asking the runner to stop")
    child.interrupt()
    if not child.wait(began + timeout * KILL_SHARE):
        log("warning", "the runner did not stop, killing it")
        child.kill(began + timeout * KILLED_SHARE)
    deregister(config, home, began + timeout - time.monotonic())


if __name__ == "__main__":
    sys.exit(main())
