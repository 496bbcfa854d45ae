"""A runner that is stopped while idle is deregistered, by its launcher or by its own remove token."""

import pytest

from tests.runner.container import REMOVE_TOKEN, Container, config
from tests.runner.launcher import Launcher

NOT_DEREGISTERED = "not deregistered; GitHub removes the runner after a day"


def test_an_idle_runner_that_was_stopped_is_taken_back_by_the_launcher(
    container: Container, launcher: Launcher
) -> None:
    container.start_listening(RUNNER_CONFIG=config(remove_url=launcher.remove_url))
    container.process.terminate()
    assert container.exit_code() == 0
    assert launcher.requests == ["DELETE /runners/7"]
    assert "deregistered" in container.messages()


def test_a_runner_with_a_remove_token_removes_itself(container: Container) -> None:
    container.start_listening(RUNNER_CONFIG=config(remove_token=REMOVE_TOKEN))
    container.process.terminate()
    assert container.exit_code() == 0
    assert container.read("removal") == f"remove {REMOVE_TOKEN}\n"
    assert "deregistered" in container.messages()


def test_a_runner_with_neither_is_left_to_github(container: Container) -> None:
    container.start_listening()
    container.process.terminate()
    assert container.exit_code() == 0
    assert not container.marked("removal")
    assert [line["level"] for line in container.logs() if line["message"].startswith("not deregistered")] == ["info"]


def test_a_runner_that_ended_by_itself_is_not_deregistered(container: Container, launcher: Launcher) -> None:
    container.mark("leave")
    container.start(RUNNER_CONFIG=config(remove_url=launcher.remove_url))
    assert container.exit_code() == 0
    assert launcher.requests == []


def test_a_runner_that_is_gone_already_is_no_failure(container: Container, launcher: Launcher) -> None:
    launcher.removal_status = 404
    container.start_listening(RUNNER_CONFIG=config(remove_url=launcher.remove_url))
    container.process.terminate()
    container.exit_code()
    assert "deregistered" in container.messages()


@pytest.mark.parametrize(("status", "problem"), [(422, "remove_url returned 422"), (500, "remove_url returned 500")])
def test_a_refusal_is_a_warning_and_leaves_the_exit_code(
    container: Container, launcher: Launcher, status: int, problem: str
) -> None:
    launcher.removal_status = status
    container.start_listening(RUNNER_CONFIG=config(remove_url=launcher.remove_url), FAKE_EXIT_CODE="3")
    container.process.terminate()
    assert container.exit_code() == 3
    assert warning(container) == problem


def test_a_launcher_that_is_not_there_is_a_warning(container: Container, launcher: Launcher) -> None:
    launcher.server_close()
    container.start_listening(RUNNER_CONFIG=config(remove_url=launcher.remove_url), FAKE_EXIT_CODE="3")
    container.process.terminate()
    assert container.exit_code() == 3
    assert "refused" in warning(container)


def test_a_failing_removal_is_a_warning(container: Container) -> None:
    container.start_listening(RUNNER_CONFIG=config(remove_token=REMOVE_TOKEN), FAKE_REMOVAL_EXIT_CODE="1")
    container.process.terminate()
    assert container.exit_code() == 0
    assert warning(container) == "config.sh exited with 1"


def test_a_launcher_that_does_not_respond_is_not_waited_for_beyond_the_timeout(
    container: Container, launcher: Launcher
) -> None:
    launcher.silent = True
    container.start_listening(
        RUNNER_CONFIG=config(remove_url=launcher.remove_url), FAKE_STUBBORN="1", RUNNER_STOP_TIMEOUT_SECONDS="1"
    )
    container.process.terminate()
    assert container.exit_code() == 137
    assert warning(container)


def test_a_removal_that_does_not_end_is_not_waited_for_beyond_the_timeout(container: Container) -> None:
    container.start_listening(
        RUNNER_CONFIG=config(remove_token=REMOVE_TOKEN), FAKE_SLOW_REMOVAL="1", RUNNER_STOP_TIMEOUT_SECONDS="1"
    )
    container.process.terminate()
    container.exit_code()
    assert warning(container) == "config.sh timed out"


def warning(container: Container) -> str:
    [line] = [line for line in container.logs() if line["message"] == NOT_DEREGISTERED]
    assert line["level"] == "warning"
    return str(line["problem"])
