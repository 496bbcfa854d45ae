"""The config of a runner: which fields are required, and how it is fetched from a URL."""

import json
import os
from unittest.mock import Mock

import pytest

from runner.config import BadConfig, load, parse, stop_timeout
from tests.runner.container import JIT_CONFIG, REMOVE_TOKEN, SECRETS, Container, config, encoded
from tests.runner.launcher import SIGNATURE, Launcher


@pytest.fixture
def sleep(monkeypatch: pytest.MonkeyPatch) -> Mock:
    sleep = Mock()
    monkeypatch.setattr("runner.config.time.sleep", sleep)
    return sleep


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (config()[:-1], "isn't JSON"),
        (json.dumps([JIT_CONFIG]), "isn't a JSON object"),
        (json.dumps({"runner_name": "i-0abc"}), "jit_config is missing"),
        (json.dumps({"jit_config": JIT_CONFIG}), "runner_name is missing"),
        (config(jit_config=None), "jit_config must be a non-empty string"),
        (config(jit_config=f"{JIT_CONFIG}!"), "jit_config must be the unchanged encoded_jit_config"),
        (config(jit_config="c2VjcmV0"), "jit_config must be the unchanged encoded_jit_config"),
        (config(jit_config=encoded({})), "jit_config must be the unchanged encoded_jit_config"),
        (config(jit_config=encoded({".runner": 1})), "jit_config must be the unchanged encoded_jit_config"),
        (config(jit_config=encoded({".runner": "not base64"})), "jit_config must be the unchanged encoded_jit_config"),
        (
            config(jit_config=encoded({".runner": "", "../.bashrc": ""})),
            "jit_config must be the unchanged encoded_jit_config",
        ),
        (
            config(jit_config=encoded({".runner": "", "/etc/passwd": ""})),
            "jit_config must be the unchanged encoded_jit_config",
        ),
        (
            config(jit_config=encoded({".runner": "", "run.sh": ""})),
            "jit_config must be the unchanged encoded_jit_config",
        ),
        (config(runner_name=" "), "runner_name must be a non-empty string"),
        (config(labels="self-hosted"), "labels must be a list of strings"),
        (config(labels=[1]), "labels must be a list of strings"),
        (config(org=5), "org must be a non-empty string"),
        (config(remove_token=[REMOVE_TOKEN]), "remove_token must be a non-empty string"),
        (config(remove_token=REMOVE_TOKEN, remove_url="https://launcher.test/7"), "remove_url and remove_token"),
        (config(remove_url=f"http://launcher.test/7?{SIGNATURE}"), "remove_url must be an https URL"),
        (config(remove_url=f"file:///runners/7?{SIGNATURE}"), "remove_url must be an https URL"),
        (config(remove_url=f"https://[launcher/7?{SIGNATURE}"), "remove_url isn't a URL"),
    ],
)
def test_a_config_that_cannot_work_is_refused_by_the_name_of_its_field(text: str, refusal: str) -> None:
    with pytest.raises(BadConfig, match=refusal) as caught:
        parse(text)
    assert not [secret for secret in SECRETS if secret in str(caught.value)]


def test_fields_that_are_not_known_are_left_alone() -> None:
    assert parse(config(scheduled_at="2025-01-15T10:00:01.123Z", ssh_keys=["ssh-ed25519 AAAA"])).runner_name == "i-0abc"


def test_a_config_does_not_show_its_secrets() -> None:
    shown = repr(parse(config(remove_token=REMOVE_TOKEN)))
    assert not [secret for secret in SECRETS if secret in shown]


@pytest.mark.parametrize("given", ["", "0", "-1", "110.5", "two minutes"])
def test_a_stop_timeout_that_is_no_number_of_seconds_is_refused(given: str) -> None:
    with pytest.raises(BadConfig, match="RUNNER_STOP_TIMEOUT_SECONDS"):
        stop_timeout({"RUNNER_STOP_TIMEOUT_SECONDS": given})


def test_the_stop_timeout_ends_before_the_two_minutes_of_ecs() -> None:
    assert stop_timeout({}) == 110


@pytest.mark.parametrize("url", [f"http://bucket.test/?{SIGNATURE}", f"s3://bucket/runner-config.json?{SIGNATURE}"])
def test_only_https_is_called_for_the_config(url: str) -> None:
    with pytest.raises(BadConfig, match="RUNNER_CONFIG_URL must be an https URL"):
        load({"RUNNER_CONFIG_URL": url})


def test_a_response_that_will_not_change_is_not_requested_again(launcher: Launcher, sleep: Mock) -> None:
    launcher.failures = [403]
    with pytest.raises(BadConfig, match="RUNNER_CONFIG_URL returned 403"):
        load({"RUNNER_CONFIG_URL": launcher.config_url})
    assert (len(launcher.requests), sleep.call_count) == (1, 0)


def test_a_server_that_stays_broken_is_called_a_few_times_with_longer_and_longer_pauses(
    launcher: Launcher, sleep: Mock
) -> None:
    launcher.failures = [503] * 100
    with pytest.raises(BadConfig, match="could not be fetched in 6 attempts: returned 503"):
        load({"RUNNER_CONFIG_URL": launcher.config_url})
    assert len(launcher.requests) == 6
    assert [call.args[0] for call in sleep.call_args_list] == [0.2, 0.4, 0.8, 1.6, 3.2]


def test_a_server_that_is_not_there_is_tried_again(launcher: Launcher, sleep: Mock) -> None:
    launcher.server_close()
    with pytest.raises(BadConfig, match=r"could not be fetched in 6 attempts: .*refused"):
        load({"RUNNER_CONFIG_URL": launcher.config_url})
    assert sleep.call_count == 5


@pytest.mark.parametrize(
    ("environ", "refusal"),
    [
        ({"RUNNER_CONFIG": ""}, "RUNNER_CONFIG or RUNNER_CONFIG_URL must be set"),
        ({"RUNNER_CONFIG": json.dumps({"jit_config": JIT_CONFIG})}, "runner_name is missing"),
        ({"RUNNER_HOME": "/nowhere"}, "RUNNER_HOME has no executable run.sh"),
    ],
)
def test_a_container_that_cannot_start_logs_why_and_exits_with_78(
    container: Container, environ: dict[str, str], refusal: str
) -> None:
    container.start(**environ)
    assert container.exit_code() == os.EX_CONFIG == 78
    [line] = container.logs()
    assert line["level"] == "error"
    assert line["message"].startswith(refusal)
