"""Runs a GitHub runner and returns its exit code. When ECS stops the task, the job may finish first."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from runner import log
from runner.config import BadConfig, Config, load, stop_timeout
from runner.deregistration import deregister
from runner.handover import receive, restart, write_runner_files
from runner.processes import STOP_SIGNALS, Child, Signals, become_init, descendants

# Shares of the stop timeout: the job may run until the first, the runner may report it as cancelled until the second,
# and remaining processes are killed until the third. The rest is for deregistration.
INTERRUPT_SHARE, KILL_SHARE, KILLED_SHARE = 0.7, 0.9, 0.95

# The runner's process for a job. It runs from the job's assignment until its result and logs are uploaded.
WORKER = "Runner.Worker"


def main() -> int:
    for number in STOP_SIGNALS:
        signal.signal(number, _exit_early)
    become_init()
    home = Path(os.environ.get("RUNNER_HOME", "/home/runner"))
    try:
        timeout = stop_timeout(os.environ)
        config = receive(os.environ) or _prepare(home)
        child = _start(home)
    except BadConfig as error:
        log("error", str(error))
        return os.EX_CONFIG
    log("info", "runner started", runner_name=config.runner_name, labels=config.labels, owner=config.repo or config.org)
    if not child.wait():
        _stop(child, config, home, timeout)
    log("info", "runner ended", runner_name=config.runner_name, exit_code=child.exit_code)
    return child.exit_code


def _prepare(home: Path) -> NoReturn:
    config = load(os.environ)
    if not os.access(home / "run.sh", os.X_OK):
        raise BadConfig("RUNNER_HOME has no executable run.sh")
    write_runner_files(config.runner_files, home)
    restart(config, os.environ)


def _exit_early(number: int, _frame: object) -> None:
    log("info", "stopped before the runner started", signal=number)
    sys.exit(128 + number)


def _start(home: Path) -> Child:
    signals = Signals()
    # Without this variable, run.sh doesn't forward signals to the runner.
    environ = {**os.environ, "RUNNER_MANUALLY_TRAP_SIG": "1"}
    try:
        os.chdir(home)
        return Child(home / "run.sh", environ, signals)
    except OSError as error:
        raise BadConfig(f"RUNNER_HOME has no executable run.sh: {error}") from None


def _stop(child: Child, config: Config, home: Path, timeout: float) -> None:
    """SIGINT stops an idle runner, but cancels the job of a busy one, so a busy runner gets it as late as possible."""
    started_at = time.monotonic()
    if WORKER in descendants().values():
        log("info", "stop requested, waiting for the job", seconds=timeout * INTERRUPT_SHARE)
        if child.wait(started_at + timeout * INTERRUPT_SHARE):
            return  # GitHub removes a JIT runner after its job
        log("warning", "the job didn't finish in time, cancelling it")
    else:
        log("info", "stop requested without a job, stopping the runner")
    child.interrupt()
    if not child.wait(started_at + timeout * KILL_SHARE):
        log("warning", "the runner didn't stop, killing it")
        child.kill(started_at + timeout * KILLED_SHARE)
    deregister(config, home, started_at + timeout - time.monotonic())


if __name__ == "__main__":
    sys.exit(main())
