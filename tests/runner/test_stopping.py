"""A container that is stopped: an idle runner ends at once, a busy one may finish its job in time."""

import signal
from pathlib import Path

import pytest

from tests.runner.container import Container, config
from tests.runner.launcher import Launcher


def impatient(**shares: float) -> tuple[str, str]:
    """The entrypoint with other shares of the stop timeout, so that a test need not wait for the real ones."""
    changes = "".join(f"entrypoint.{name} = {share}; " for name, share in shares.items())
    return ("-c", f"import sys; from runner import entrypoint; {changes}sys.exit(entrypoint.main())")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_runner_is_stopped_at_once(container: Container, number: signal.Signals) -> None:
    container.start_listening(FAKE_EXIT_CODE="5", RUNNER_STOP_TIMEOUT_SECONDS="3600")
    container.process.send_signal(number)
    assert container.exit_code() == 5
    assert container.marked("interrupted")
    assert "stop requested without a job, stopping the runner" in container.messages()


def test_a_busy_runner_may_finish_its_job(container: Container, launcher: Launcher) -> None:
    container.start_working(
        RUNNER_CONFIG=config(remove_url=launcher.remove_url), FAKE_EXIT_CODE="4", RUNNER_STOP_TIMEOUT_SECONDS="3600"
    )
    container.process.terminate()
    container.wait_for_message("stop requested, waiting for the job")
    container.process.terminate()
    container.mark("finish_job")
    assert container.exit_code() == 4
    assert container.marked("job_finished")
    assert not container.marked("interrupted")
    assert launcher.requests == [], "GitHub removes a JIT runner after its job"


def test_a_job_that_takes_too_long_is_cancelled_by_the_runner(container: Container, launcher: Launcher) -> None:
    container.command = impatient(INTERRUPT_SHARE=0)
    container.start_working(
        RUNNER_CONFIG=config(remove_url=launcher.remove_url),
        FAKE_EXIT_CODE="6",
        RUNNER_STOP_TIMEOUT_SECONDS="3600",
    )
    container.process.terminate()
    assert container.exit_code() == 6
    assert container.marked("job_cancelled")
    assert launcher.requests == ["DELETE /runners/7"]


def test_a_runner_that_does_not_stop_is_killed_with_all_its_processes(container: Container, launcher: Launcher) -> None:
    container.command = impatient(INTERRUPT_SHARE=0, KILL_SHARE=0)
    container.start_working(
        RUNNER_CONFIG=config(remove_url=launcher.remove_url),
        FAKE_STUBBORN="1",
        RUNNER_STOP_TIMEOUT_SECONDS="3600",
    )
    worker = Path("/proc") / container.read("worker").strip()
    assert worker.exists()
    container.process.terminate()
    assert container.exit_code() == 128 + signal.SIGKILL
    assert not worker.exists()
    assert launcher.requests == ["DELETE /runners/7"]


def test_the_stop_timeout_limits_every_wait(container: Container) -> None:
    container.start_working(FAKE_STUBBORN="1", RUNNER_STOP_TIMEOUT_SECONDS="1")
    container.process.terminate()
    assert container.exit_code() == 128 + signal.SIGKILL
    assert container.messages()[1:4] == [
        "stop requested, waiting for the job",
        "the job didn't finish in time, cancelling it",
        "the runner didn't stop, killing it",
    ]


def test_a_container_that_still_requests_its_config_stops_at_once(container: Container, launcher: Launcher) -> None:
    launcher.silent = True
    container.start(RUNNER_CONFIG="", RUNNER_CONFIG_URL=launcher.config_url)
    assert launcher.called.wait(60)
    container.process.terminate()
    assert container.exit_code() == 128 + signal.SIGTERM
    assert not container.marked("listening")
