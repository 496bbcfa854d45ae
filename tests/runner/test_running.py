"""The entrypoint runs the runner: exit code, output, logs, the JIT config and orphaned processes."""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.container import ROOT, Container, config
from tests.runner.launcher import Launcher


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_and_the_output_are_the_runners(container: Container, code: int) -> None:
    container.mark("leave")
    container.start(FAKE_EXIT_CODE=str(code))
    assert container.exit_code() == code
    assert container.stdout() == "Listening for Jobs\n"


def test_a_runner_killed_by_a_signal_ends_with_128_and_its_number(container: Container) -> None:
    container.mark("leave")
    container.start(FAKE_SIGNAL="KILL")
    assert container.exit_code() == 128 + signal.SIGKILL


def test_logs_are_lines_of_json_with_the_runner_and_its_job(container: Container) -> None:
    container.mark("leave")
    container.start()
    container.exit_code()
    started, ended = container.logs()
    assert started.keys() == {"time", "level", "message", "runner_name", "labels", "owner"}
    assert (started["runner_name"], started["labels"], started["owner"]) == ("i-0abc", ["self-hosted"], "octo/app")
    assert (ended["message"], ended["exit_code"]) == ("runner ended", 0)


def test_the_runner_finds_the_files_of_its_jit_config(container: Container) -> None:
    container.mark("leave")
    container.start()
    container.exit_code()
    assert container.read(".runner") == "secret-runner"
    assert container.read("arguments").splitlines() == [str(container.home / "run.sh")]
    assert "RUNNER_MANUALLY_TRAP_SIG=1" in container.read("environment").splitlines()


def test_the_config_may_come_from_an_address_that_works_at_the_third_try(
    container: Container, launcher: Launcher
) -> None:
    launcher.config = config(runner_name="from-the-url").encode()
    launcher.failures = [503, 500]
    container.mark("leave")
    container.start(RUNNER_CONFIG="", RUNNER_CONFIG_URL=launcher.config_url)
    assert container.exit_code() == 0
    assert launcher.requests == ["GET /runner-config.json"] * 3
    assert [line["runner_name"] for line in container.logs() if line["message"] == "runner started"] == ["from-the-url"]


def test_orphans_of_a_job_do_not_stay_as_zombies(container: Container) -> None:
    container.start_listening(FAKE_ORPHAN="1")
    orphan = Path("/proc") / container.read("orphan").strip()
    entrypoint = str(container.process.pid)
    container.wait_until(lambda: _parent(orphan) == entrypoint, "the entrypoint is the orphan's parent")
    container.mark("release_orphan")
    container.wait_until(lambda: not orphan.exists(), "the orphan was reaped")
    assert container.process.poll() is None


def _parent(process: Path) -> str:
    return (process / "stat").read_text().rpartition(")")[2].split()[1]


def test_steps_of_a_job_cannot_read_the_config_from_the_entrypoints_memory() -> None:
    program = (
        "import ctypes; from runner.processes import become_init; become_init(); print(ctypes.CDLL(None).prctl(3))"
    )
    assert ctypes.CDLL(None).prctl(3) == 1, "PR_GET_DUMPABLE: others of the same user may read"
    shown = subprocess.run(
        (sys.executable, "-c", program), cwd=ROOT, env=dict(os.environ), check=True, capture_output=True
    )
    assert shown.stdout.strip() == b"0"
