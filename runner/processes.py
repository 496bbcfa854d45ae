"""The tasks of a container's first process: start the runner, handle signals, and reap zombies."""

import ctypes
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
KILL_ROUND_SECONDS = 0.1


def become_init() -> None:
    """Adopt orphaned processes even if not PID 1, and prevent a job's steps from reading this process's memory."""
    libc = ctypes.CDLL(None)
    zero, one = ctypes.c_ulong(0), ctypes.c_ulong(1)
    libc.prctl(PR_SET_CHILD_SUBREAPER, one, zero, zero, zero)
    libc.prctl(PR_SET_DUMPABLE, zero, zero, zero, zero)


class Signals:
    """Queues signals, so none is lost between a check and a wait."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (*STOP_SIGNALS, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)

    def wait(self, seconds: float | None) -> set[int]:
        readable, _, _ = select.select([self._reader], [], [], seconds)
        return set(self._reader.recv(4096)) if readable else set()


class Child:
    """The runner, in a separate process group, so Ctrl-C doesn't cancel its job."""

    def __init__(self, program: Path, environ: Mapping[str, str], signals: Signals) -> None:
        self._signals = signals
        self._exit_code: int | None = None
        # Not Popen, which reaps its child itself: this process reaps all children.
        python_ignores = (signal.SIGPIPE, signal.SIGXFSZ)
        self._pid = os.posix_spawn(program, [str(program)], environ, setpgroup=0, setsigdef=python_ignores)

    @property
    def exit_code(self) -> int:
        """128+n after signal n, as in shells. A runner that survives SIGKILL counts as killed."""
        code = -signal.SIGKILL if self._exit_code is None else self._exit_code
        return code if code >= 0 else 128 - code

    def wait(self, until: float | None = None) -> bool:
        """Return whether it has ended. Without `until`, a stop signal also ends the wait."""
        while not self._has_ended():
            seconds = None if until is None else until - time.monotonic()
            if seconds is not None and seconds <= 0:
                return False
            received = self._signals.wait(seconds)
            if until is None and received & STOP_SIGNALS:
                return self._has_ended()
        return True

    def interrupt(self) -> None:
        os.killpg(self._pid, signal.SIGINT)

    def kill(self, until: float) -> None:
        """Kill all descendants repeatedly, because processes may fork. Processes of `sudo` can't be killed."""
        while living := descendants():
            for pid in living:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() >= until:
                break
            self._signals.wait(KILL_ROUND_SECONDS)
        self._has_ended()

    def _has_ended(self) -> bool:
        with suppress(ChildProcessError):
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == self._pid:
                    self._exit_code = os.waitstatus_to_exitcode(reaped[1])
        return self._exit_code is not None


def descendants() -> dict[int, str]:
    """The names of all descendants by pid. Groups and sessions don't identify them, because jobs create their own."""
    children: dict[int, dict[int, str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # ended in the meantime
            head, _, tail = stat.read_text(errors="replace").rpartition(")")
            pid, _, name = head.partition(" (")
            state, parent = tail.split()[:2]
            if state != "Z":
                children.setdefault(int(parent), {})[int(pid)] = name
    found: dict[int, str] = {}
    generation = [os.getpid()]
    while generation:
        born = [children.get(pid, {}) for pid in generation]
        generation = [pid for siblings in born for pid in siblings]
        for siblings in born:
            found.update(siblings)
    return found
