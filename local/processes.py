"""Starts, finds and stops the local servers."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LOOPBACK = "127.0.0.1"
# Files of the servers (logs, buckets, unpacked functions) may contain secrets.
PRIVATE_FOLDER, PRIVATE_UMASK = 0o700, 0o077
_POLL_SECONDS = 0.05


class LocalError(RuntimeError):
    """An error to show to the user, without a traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    pid: int
    port: int

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"


class Server:
    """A child process that may outlive this command. Later commands find it by the pid file in its folder.

    The child inherits a lock on that file, which is released when the child ends. A held lock therefore proves that
    the pid still belongs to the child and hasn't been reused.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.log = folder / "server.log"
        self._pid_file = folder / "server.pid"
        self._child: subprocess.Popen[bytes] | None = None

    def running(self) -> Process | None:
        try:
            pid_file = self._pid_file.open("r+")
        except FileNotFoundError:
            return None
        with pid_file:
            if _lock(pid_file, fcntl.LOCK_SH):
                return None
            return Process(**json.load(pid_file))

    def start(
        self,
        command: Sequence[str | Path],
        *,
        port: int,
        health_path: str,
        environment: Mapping[str, str],
        working_folder: Path | None = None,
        timeout_seconds: float = 60,
    ) -> Process:
        """Return when the server responds on its port."""
        if _accepts_connections(port):
            raise LocalError(f"port {port} is in use by another program: stop it, or set RUNLEDGER_PORT")
        self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with self._pid_file.open("a+") as pid_file, self.log.open("wb") as log:
            if not _lock(pid_file, fcntl.LOCK_EX):
                raise LocalError(f"the {self.name} is already running: stop it with `make down`")
            self._child = subprocess.Popen(
                command,
                cwd=working_folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C doesn't reach it, and its children end with it
                pass_fds=[pid_file.fileno()],
                umask=PRIVATE_UMASK,
            )
            process = Process(pid=self._child.pid, port=port)
            pid_file.truncate(0)
            json.dump({"pid": process.pid, "port": process.port}, pid_file)
        self._wait_until_healthy(self._child, port, health_path, timeout_seconds)
        return process

    def stop(self, *, timeout_seconds: float = 10) -> bool:
        """Stop the server and its children. Return whether it was running."""
        process = self.running()
        if process:
            _signal_group(process.pid, signal.SIGTERM)
            deadline = time.monotonic() + timeout_seconds
            while self.running() and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            _signal_group(process.pid, signal.SIGKILL)
        if self._child:
            self._child.wait()
        self._pid_file.unlink(missing_ok=True)
        return process is not None

    def _wait_until_healthy(self, child: subprocess.Popen[bytes], port: int, path: str, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not _is_healthy(port, path):
            if child.poll() is not None:
                raise LocalError(f"the {self.name} ended with exit code {child.returncode}:\n{tail(self.log)}")
            if time.monotonic() > deadline:
                self.stop()
                raise LocalError(f"the {self.name} didn't respond within {timeout:.0f} s:\n{tail(self.log)}")
            time.sleep(_POLL_SECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log and its path, for an error message."""
    end = log.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join([*(f"  {line}" for line in end), f"  (full log: {log})"])


def clean_environment(**more: str) -> dict[str, str]:
    """Return the environment without AWS settings, so no process can reach a real account by mistake.

    Python settings are removed too: functions must find their modules in their layers, as on Lambda.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    tools = os.path.join(sys.prefix, "tools")  # Node.js and Java, if the machine has none
    return {
        **kept,
        "PATH": os.pathsep.join([tools, kept.get("PATH", os.defpath)]),
        "NO_PROXY": f"{LOOPBACK},localhost",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }


def _lock(file: TextIO, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def _is_healthy(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)
