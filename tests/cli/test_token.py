"""`runledger token` against Secrets Manager and CloudFormation of the emulated AWS."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from runledger_api.authentication import Role
from runledger_api.token_entries import Entry, read_entries
from runledger_cli import api_tokens
from runledger_cli.errors import CommandError
from runledger_cli.secrets_manager import SecretsManager

from local.aws import emulator
from tests.cli.command import environment, runledger

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

CURSOR_KEY = "a-generated-key"
Create = Callable[..., CompletedProcess[str]]


pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def aws_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with emulator.running(tmp_path_factory.mktemp("tokens")) as url:
        yield url


@pytest.fixture
def secrets(aws_url: str) -> Iterator["SecretsManagerClient"]:
    client = boto3.client("secretsmanager", endpoint_url=aws_url)
    yield client
    client.close()


@pytest.fixture
def secret(secrets: "SecretsManagerClient", request: pytest.FixtureRequest) -> str:
    """The secret as a first deployment creates it."""
    document = json.dumps({"tokens": [], "cursor_key": CURSOR_KEY})
    return secrets.create_secret(Name=request.node.name, SecretString=document)["ARN"]


@pytest.fixture
def create(aws_url: str, secret: str) -> Create:
    return _action("create", aws_url, secret)


@pytest.fixture
def remove(aws_url: str, secret: str) -> Create:
    return _action("remove", aws_url, secret)


def _action(action: str, aws_url: str, secret: str) -> Create:
    def run(*arguments: str, **variables: str) -> CompletedProcess[str]:
        aws = {"AWS_ENDPOINT_URL": aws_url, "AWS_REGION": "us-east-1"}
        keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        return runledger("token", action, *arguments, "--secret", secret, folder=None, **aws, **keys, **variables)

    return run


def stored(secrets: "SecretsManagerClient", secret: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(secrets.get_secret_value(SecretId=secret)["SecretString"])
    return document


def test_it_prints_the_token_once_and_stores_only_its_hash(
    create: Create, secrets: "SecretsManagerClient", secret: str
) -> None:
    created = create("ana", "--role", "operator", "--installations", "all")
    token = created.stdout.strip()
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert (created.returncode, token[:3], len(created.stdout.splitlines())) == (0, "rl_", 1)
    assert "created the operator token 'ana'" in created.stderr
    assert token not in created.stderr
    document = stored(secrets, secret)
    assert token not in json.dumps(document)
    assert document["cursor_key"] == CURSOR_KEY
    # What the API reads: an entry that it would ignore is of no use.
    (entry,) = read_entries(document["tokens"], roles=set(Role), log_error=pytest.fail)
    assert entry == Entry(name="ana", role="operator", sha256=digest, installations=None)


def test_a_token_is_a_readers_and_limited_unless_more_is_given(
    create: Create, secrets: "SecretsManagerClient", secret: str
) -> None:
    assert create("ci", "--installations", "42", "43", "--json").returncode == 0
    (entry,) = read_entries(stored(secrets, secret)["tokens"], roles=set(Role), log_error=pytest.fail)
    assert (entry.role, entry.installations) == ("reader", frozenset({42, 43}))


def test_other_entries_stay_as_they_are(create: Create, secrets: "SecretsManagerClient", secret: str) -> None:
    others = [{"name": "old", "role": "reader", "sha256": "0" * 64, "installations": [1]}, {"not": "valid"}]
    secrets.put_secret_value(SecretId=secret, SecretString=json.dumps({"tokens": others, "mine": 1}))
    assert create("ana", "--installations", "all").returncode == 0
    document = stored(secrets, secret)
    assert (document["tokens"][:2], document["mine"], len(document["tokens"])) == (others, 1, 3)


def test_a_name_that_exists_is_rejected(create: Create, secrets: "SecretsManagerClient", secret: str) -> None:
    assert create("ana", "--installations", "all").returncode == 0
    before = stored(secrets, secret)
    again = create("ana", "--installations", "all")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr.startswith("runledger: a token named 'ana' already exists")
    assert stored(secrets, secret) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tokens": {}}', '{"tokens": null}', '{"tokens": "none"}'])
def test_a_malformed_secret_is_not_overwritten(
    create: Create, secrets: "SecretsManagerClient", secret: str, text: str
) -> None:
    secrets.put_secret_value(SecretId=secret, SecretString=text or " ")
    refused = create("ana", "--installations", "all")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "isn't a JSON object with a list `tokens`" in refused.stderr
    assert secrets.get_secret_value(SecretId=secret)["SecretString"] == (text or " ")


def test_tokens_created_at_the_same_time_are_all_kept(
    create: Create, secrets: "SecretsManagerClient", secret: str
) -> None:
    names = [f"person-{number}" for number in range(4)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        created = list(pool.map(lambda name: create(name, "--installations", "all"), names))
    assert [each.returncode for each in created] == [0] * 4, [each.stderr for each in created]
    assert sorted(each["name"] for each in stored(secrets, secret)["tokens"]) == names


def test_an_edit_between_reading_and_storing_is_kept(
    aws_url: str, secrets: "SecretsManagerClient", secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_url)
    edits = [{"name": "by hand", "role": "reader", "sha256": "0" * 64, "installations": [1]}]
    entry = api_tokens.new_entry("rl_x", name="ana", role="reader", installations="*")

    def add(text: str) -> str:
        changed = api_tokens.add(text, entry)
        if edits:
            secrets.put_secret_value(SecretId=secret, SecretString=json.dumps({"tokens": [edits.pop()]}))
        return changed

    SecretsManager({"AWS_REGION": "us-east-1"}).change(secret, add)
    assert [each["name"] for each in stored(secrets, secret)["tokens"]] == ["by hand", "ana"]


def test_it_gives_up_if_the_secret_changes_at_every_attempt(
    aws_url: str, secrets: "SecretsManagerClient", secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_url)

    def race(text: str) -> str:
        secrets.put_secret_value(SecretId=secret, SecretString='{"tokens": []}')
        return text

    with pytest.raises(CommandError, match="nothing was stored"):
        SecretsManager({"AWS_REGION": "us-east-1"}).change(secret, race)


def test_a_stage_without_a_stack_explains_what_to_check(aws_url: str) -> None:
    aws = {"AWS_ENDPOINT_URL": aws_url, "AWS_REGION": "us-east-1"}
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    arguments = ["token", "create", "ana", "--installations", "all", "--stage", "nowhere"]
    refused = runledger(*arguments, folder=None, **aws, **keys)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "runledger: there is no stack runledger-nowhere-api in us-east-1: check AWS_REGION and --stage\n"
    )


def test_a_binary_secret_is_not_overwritten(create: Create, secrets: "SecretsManagerClient", secret: str) -> None:
    secrets.put_secret_value(SecretId=secret, SecretBinary=b"binary")
    refused = create("ana", "--installations", "all")
    assert refused.returncode == 1
    assert "isn't a JSON object with a list `tokens`" in refused.stderr
    assert secrets.get_secret_value(SecretId=secret)["SecretBinary"] == b"binary"


@pytest.mark.parametrize(
    "arguments", [["ana"], ["ana", "--installations", "some"], ["", "--installations", "all"], ["a\nb", "--role", "x"]]
)
def test_wrong_usage_stores_nothing(
    create: Create, secrets: "SecretsManagerClient", secret: str, arguments: list[str]
) -> None:
    assert create(*arguments).returncode == 2
    assert stored(secrets, secret)["tokens"] == []


def test_without_boto3_it_explains_how_to_install_it() -> None:
    arguments = ["token", "create", "ana", "--installations", "all"]
    refused = subprocess.run(
        [sys.executable, "-S", "-m", "runledger_cli", *arguments],  # without site-packages
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("runledger: this command needs boto3: ")


@pytest.mark.parametrize(
    "text", ['{"tokens": ' + "[" * 100_000, '{"tokens": [], "x": ' + "[" * 100_000 + "]" * 100_000 + "}"]
)
def test_a_document_that_is_nested_too_deeply_is_an_error_and_no_traceback(text: str) -> None:
    entry = api_tokens.new_entry("rl_1", name="ci", role="reader", installations="*")
    with pytest.raises(CommandError, match="nested too deeply"):
        api_tokens.add(text, entry)


def test_a_removed_token_is_gone_and_the_others_stay(
    create: Create, remove: Create, secrets: "SecretsManagerClient", secret: str
) -> None:
    for name in ("ana", "ana-2"):
        assert create(name, "--installations", "all").returncode == 0
    removed = remove("ana")
    assert (removed.returncode, removed.stdout) == (0, "")
    assert "removed the token 'ana'" in removed.stderr
    document = stored(secrets, secret)
    assert [entry["name"] for entry in document["tokens"]] == ["ana-2"]
    assert document["cursor_key"] == CURSOR_KEY


def test_a_token_that_does_not_exist_cannot_be_removed(
    create: Create, remove: Create, secrets: "SecretsManagerClient", secret: str
) -> None:
    assert create("ana", "--installations", "all").returncode == 0
    before = stored(secrets, secret)
    failed = remove("bob")
    assert failed.returncode == 1
    assert failed.stderr.startswith("runledger: there is no token named 'bob'; the tokens are: 'ana'")
    assert stored(secrets, secret) == before


def test_invalid_entries_survive_a_removal() -> None:
    entries = [{"name": "ana"}, {"not": "valid"}, "text"]
    assert json.loads(api_tokens.remove(json.dumps({"tokens": entries, "mine": 1}), "ana")) == {
        "tokens": entries[1:],
        "mine": 1,
    }
