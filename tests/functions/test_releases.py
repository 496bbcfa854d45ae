"""Publications: what intake puts on the queue, and what the functions of releases make of it."""

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator
from runledger.model.packages import LineKey, Package, PublishedBy
from runledger.releases.queue import read_publication
from runledger.tables import schema
from runledger.tables.packages import PackagesTable
from runledger.tables.release_lines import LinesTable

from local import ROOT
from local.github.examples import payloads
from tests.functions.conftest import World
from tests.support.memory import engine
from tests.support.reconciler_scene import ORG, Scene
from tests.support.webhooks import INSTALLATION, QUEUED, http_event, payload

TABLE = schema.RELEASES.name
GOOD: dict[str, list[Any]] = {"batchItemFailures": []}
AT = "2025-01-15T10:00:00.000Z"


@pytest.fixture
def releases(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    queues = {
        "RELEASE_INPUTS_QUEUE": world.sqs.create_queue(QueueName="inputs.fifo", Attributes={"FifoQueue": "true"}),
        "REBUILDS_QUEUE": world.sqs.create_queue(QueueName="rebuilds"),
    }
    table = {"RELEASES_TABLE": TABLE, "RELEASES_RETENTION_DAYS": "90", "REBUILD_DEPENDENTS": "enforce"}
    for name, value in {**{name: made["QueueUrl"] for name, made in queues.items()}, **table}.items():
        monkeypatch.setenv(name, value)
    return world


def deliver(world: World, event: str, message: Any) -> str:
    response = world.invoke("webhook_intake", http_event(json.dumps(message).encode(), event=event))
    return f"{response['statusCode']} {json.loads(response['body']).get('result')}"


def sent(world: World) -> list[dict[str, str]]:
    found = world.waiting("inputs.fifo")
    return [each | {"attributes": {"MessageGroupId": "1"}} for each in found]  # type: ignore[misc]


def registry_package() -> dict[str, Any]:
    """The package has no examples of this event, but its schema."""
    message = payloads("package")[0]
    message["registry_package"] = message.pop("package")
    message["registry_package"]["package_version"] |= {"package_url": "https://x", "release": {}, "docker_metadata": []}
    return message


def new_tag() -> dict[str, Any]:
    tag = {"ref": "refs/tags/v1.2.3", "created": True, "deleted": False, "after": "a" * 40, "head_commit": None}
    return payloads("push")[0] | tag


def examples(event: str) -> pytest.MarkDecorator:
    found = payloads(event)
    return pytest.mark.parametrize("example", found, ids=[f"{n}-{each.get('action')}" for n, each in enumerate(found)])


@examples("release")
def test_every_published_release_is_forwarded(releases: World, example: dict[str, Any]) -> None:
    expected = example["action"] == "published" and not example["release"]["draft"]
    assert deliver(releases, "release", example) == ("202 recorded" if expected else "200 ignored")
    found = [read_publication(each["body"]) for each in sent(releases)]
    assert [each.tag for each in found] == ([example["release"]["tag_name"]] if expected else [])
    assert all(each.repo_full_name == example["repository"]["full_name"] for each in found)


@examples("push")
def test_every_new_tag_is_forwarded(releases: World, example: dict[str, Any]) -> None:
    expected = example["ref"].startswith("refs/tags/") and example["created"] and not example["deleted"]
    assert deliver(releases, "push", example) == ("202 recorded" if expected else "200 ignored")
    found = [read_publication(each["body"]) for each in sent(releases)]
    assert [each.tag for each in found] == (["simple-tag"] if expected else [])


def test_a_new_tag_is_forwarded_with_its_commit(releases: World) -> None:
    assert deliver(releases, "push", new_tag()) == "202 recorded"
    (found,) = (read_publication(each["body"]) for each in sent(releases))
    assert (found.tag, found.head_sha, found.published_by) == ("v1.2.3", "a" * 40, PublishedBy.TAG)


@examples("package")
def test_every_package_is_forwarded(releases: World, example: dict[str, Any]) -> None:
    assert deliver(releases, "package", example) == "202 recorded"
    (found,) = (read_publication(each["body"]) for each in sent(releases))
    assert (found.published_by, found.package_version) == (
        PublishedBy.REGISTRY_PACKAGE,
        example["package"]["package_version"]["version"],
    )


def test_a_package_of_the_registry_is_forwarded_with_the_name_and_dependencies_of_its_manifest(releases: World) -> None:
    message = registry_package()
    manifest = json.loads(message["registry_package"]["package_version"]["manifest"])
    manifest["dependencies"] = {"left-pad": "^1.0.0", "any": "", "number": 7}
    message["registry_package"]["package_version"]["manifest"] = json.dumps(manifest)
    assert deliver(releases, "registry_package", message) == "202 recorded"
    (found,) = (read_publication(each["body"]) for each in sent(releases))
    assert (found.package_name, found.ecosystem) == ("@codertocat/hello-world-npm", "npm")
    assert found.dependencies == {"left-pad": "^1.0.0", "any": "*"}


def test_the_example_of_the_registry_follows_githubs_schema() -> None:
    described = json.loads((ROOT / "node_modules/@octokit/webhooks-schemas/schema.json").read_text())
    wanted = {"$ref": "#/definitions/registry_package$published", "definitions": described["definitions"]}
    problems = [each.json_path for each in Draft7Validator(wanted).iter_errors(registry_package())]
    # The repository is that of the older example, and the version has fields of both generations.
    accepted = ("$.repository", "$.registry_package.package_version")
    assert [each for each in problems if not each.startswith(accepted)] == []


def test_a_redelivered_publication_is_queued_once(releases: World) -> None:
    """The body has no time, so the second publication is newer than the first."""
    body = json.dumps(new_tag()).encode()
    for guid, at in (("first", 1_736_935_200_123), ("second", 1_736_935_260_123)):
        request = http_event(body, event="push", guid=guid, at_epoch_ms=at)
        assert releases.invoke("webhook_intake", request)["statusCode"] == 202
    assert len(sent(releases)) == 1


def test_a_job_and_a_run_are_recorded_as_without_the_setting(releases: World) -> None:
    assert deliver(releases, "workflow_job", payload(QUEUED)) == "202 recorded"
    assert deliver(releases, "workflow_run", payloads("workflow_run")[0]) == "202 recorded"
    assert sent(releases) == []


@pytest.mark.parametrize("event", ["release", "registry_package", "package", "push"])
def test_without_the_setting_nothing_is_forwarded_or_parsed(world: World, event: str) -> None:
    assert world.invoke("webhook_intake", http_event(b"{}", event=event))["statusCode"] == 200


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("release", {"action": "published"}),
        ("release", {"action": "published", "release": {"tag_name": "v1"}}),
        ("release", {"action": "published", "release": {"tag_name": "v1"}, "repository": {"full_name": "../x"}}),
        ("push", {"ref": 7}),
        ("push", {"ref": "refs/tags/v1", "created": True}),
        ("package", {"action": "published", "package": []}),
        ("registry_package", {"action": 1}),
        ("release", {"action": "published", "workflow_run": {}, "release": {"tag_name": "v1"}}),
        ("push", {"ref": "refs/tags/v1", "created": True, "deployment": {}, "repository": {"full_name": "a/b"}}),
    ],
)
def test_hostile_bodies_are_rejected(releases: World, event: str, body: Any) -> None:
    assert deliver(releases, event, body) == "400 None"
    assert sent(releases) == []


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("release", {"action": "published", "release": {"tag_name": ["v1"]}, "repository": {"full_name": "a/b"}}),
        ("package", {"action": "published", "package": {"name": "x"}, "repository": {"full_name": "a/b"}}),
        ("package", {"action": "published", "package": {"name": "x", "package_version": {"version": "1"}}}),
        ("push", {"ref": "refs/tags/", "created": True, "repository": {"full_name": "a/b"}}),
    ],
)
def test_what_names_no_version_is_ignored(releases: World, event: str, body: Any) -> None:
    assert deliver(releases, event, body) == "200 ignored"


def test_the_secret_must_be_valid_for_the_repository(releases: World, monkeypatch: pytest.MonkeyPatch) -> None:
    scoped = [{"secret": "s3cret", "installation_ids": [1]}]
    arn = releases.secrets.create_secret(Name="scoped", SecretString=json.dumps({"entries": scoped}))["ARN"]
    monkeypatch.setenv("WEBHOOK_SECRETS", arn)
    message = payloads("release")[0]
    response = releases.invoke("webhook_intake", http_event(json.dumps(message).encode(), event="release"))
    assert response["statusCode"] in (401, 403)
    assert sent(releases) == []


def test_a_release_dispatches_the_workflow_of_a_dependent_once(releases: World, scene: Scene) -> None:
    """The real functions handle the webhook twice."""
    packages = PackagesTable(engine(), TABLE)  # type: ignore[arg-type]
    repo = f"{ORG}/core"
    base = Package(installation_id=INSTALLATION, name="core", repo_full_name=repo, published_by=PublishedBy.RELEASE)
    packages.save(base, at=AT)
    site = Package(
        installation_id=INSTALLATION,
        name="site",
        repo_full_name=f"{ORG}/site",
        published_by=PublishedBy.RELEASE,
        workflow="release.yml",
        dependencies={"core": "^1.0.0"},
    )
    packages.save(site, at=AT)
    scene.github.state.put("workflows", 5, repository=f"{ORG}/site", path=".github/workflows/release.yml")
    message = payloads("release")[0] | {"installation": {"id": INSTALLATION}}
    message["repository"]["full_name"] = repo
    message["release"] |= {"tag_name": "v1.4.0", "draft": False}
    assert deliver(releases, "release", message) == "202 recorded"
    records = sent(releases)
    line = LineKey(INSTALLATION, "core", "1.4.0")
    for _ in range(2):
        assert releases.invoke("release_publications", {"Records": records}) == GOOD
        rebuilds = releases.waiting("rebuilds")
        assert rebuilds
        assert releases.invoke("release_rebuilds", {"Records": rebuilds}) == GOOD
    (run,) = [each for each in scene.github.state.runs.values() if each.event == "workflow_dispatch"]
    assert (run.repository, run.head_branch, run.workflow_id) == (f"{ORG}/site".lower(), "main", 5)
    lines = LinesTable(engine(), TABLE, retention_days=90)  # type: ignore[arg-type]
    (dependent,) = lines.dependents(line)
    assert (dependent["status"], dependent["run_id"], dependent["workflow_id"]) == ("dispatched", run.id, 5)
