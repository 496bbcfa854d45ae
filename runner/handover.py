"""Restarts the entrypoint, so its environment and memory contain no secrets while a job runs.

The initial environment of a process stays readable in /proc/<pid>/environ; only exec replaces it. The first process
loads the config, writes the runner's files, and executes itself again. The second process reads what it needs to stop
the runner from an in-memory file and closes it immediately.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from runner.config import BadConfig, Config
from runner.processes import STOP_SIGNALS

SECRETS = ("RUNNER_CONFIG", "RUNNER_CONFIG_URL")
DESCRIPTOR = "RUNLEDGER_CONFIG_DESCRIPTOR"


def write_runner_files(files: Mapping[str, bytes], home: Path) -> None:
    """Write the files that the runner itself would write from a JIT config."""
    for name, content in files.items():
        file = home / name
        try:
            file.unlink(missing_ok=True)
            with open(file, "xb", opener=_private) as new:
                new.write(content)
        except OSError as error:
            raise BadConfig(f"{name} can't be written to RUNNER_HOME: {error.strerror}") from None


def restart(config: Config, environ: Mapping[str, str]) -> NoReturn:
    """Blocks stop signals until the second process has started, so none is lost."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    remaining = {name: value for name, value in asdict(config).items() if name != "runner_files"}
    descriptor = os.memfd_create("config", 0)
    with open(descriptor, "w", closefd=False) as memory:
        json.dump(remaining, memory)
    os.lseek(descriptor, 0, os.SEEK_SET)
    kept = {name: value for name, value in environ.items() if name not in SECRETS}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**kept, DESCRIPTOR: str(descriptor)})  # noqa: S606


def receive(environ: MutableMapping[str, str]) -> Config | None:
    """Return the config without the runner's files, or None in the first process."""
    descriptor = environ.pop(DESCRIPTOR, None)
    if descriptor is None:
        return None
    with open(int(descriptor)) as memory:
        given = json.load(memory)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    return Config(runner_files={}, **given | {"labels": tuple(given["labels"])})


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
