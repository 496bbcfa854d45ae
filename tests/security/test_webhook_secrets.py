"""A webhook secret is valid for the installations and repositories that its entry names, and for nothing else."""

from typing import Any

import pytest

from tests.functions.conftest import World
from tests.security.webhook_secrets import MINE, OTHER_INSTALLATION, OWNER, REFUSED, job, scoped, status, store
from tests.support import messages
from tests.support.webhooks import INSTALLATION, REPO


def test_a_plain_secret_is_valid_for_everything(world: World) -> None:
    store(world, {"current": MINE, "previous": "old"})
    assert status(world, job()) == 202
    assert status(world, job(None, "another/repository"), "old") == 202
    assert status(world, messages.installation("created")) == 202


def test_an_unknown_secret_stays_401_beside_scoped_ones(world: World) -> None:
    store(world, scoped(installations=[INSTALLATION]))
    assert status(world, job(), "another") == 401


def test_a_secret_is_valid_for_the_installations_that_it_lists(world: World) -> None:
    store(world, scoped(installations=[INSTALLATION]))
    assert status(world, job()) == 202
    assert status(world, job(OTHER_INSTALLATION)) == 403
    assert status(world, job(None)) == 403


def test_installation_0_is_hooks_without_an_installation(world: World) -> None:
    store(world, scoped(installations=[0]))
    assert status(world, job(None)) == 202
    assert status(world, job()) == 403


@pytest.mark.parametrize("listed", [REPO, REPO.upper(), f"{OWNER}/*", f"{OWNER.upper()}/*"])
def test_a_secret_is_valid_for_the_repositories_that_it_lists_whatever_their_case(world: World, listed: str) -> None:
    store(world, scoped(repositories=["globex/web", listed]))
    assert status(world, job(None)) == 202
    assert status(world, job(None, "initech/web")) == 403


@pytest.mark.parametrize(
    "forged",
    [
        f"{OWNER}-evil/web",
        f"evil/{OWNER}",
        f"{OWNER}/web/more",
        f"{OWNER}/",
        f"{OWNER}/*",
        OWNER,
        f"evil\n{OWNER}/web",
        f"{OWNER}/web\n",
        OWNER.replace("i", "\u0130") + "/web",
    ],
)
def test_what_only_resembles_a_repository_of_the_owner_is_outside(world: World, forged: str) -> None:
    store(world, scoped(repositories=[f"{OWNER}/*"]))
    assert status(world, job(None, forged)) in REFUSED


def test_letters_that_lower_to_ascii_are_not_the_owners(world: World) -> None:
    store(world, scoped(repositories=["kube/*"]))
    assert status(world, job(None, "\u212aube/web")) in REFUSED


def test_a_repositorys_secret_cannot_write_into_an_installation_that_its_entry_does_not_list(world: World) -> None:
    """A job is stored under its installation: the name of one's own repository must not open another tenant's."""
    store(world, scoped(repositories=[REPO]))
    assert status(world, job()) == 403
    assert status(world, job(OTHER_INSTALLATION)) == 403
    assert status(world, job(None)) == 202


def test_where_both_are_listed_both_must_hold(world: World) -> None:
    store(world, scoped(installations=[INSTALLATION], repositories=[REPO]))
    assert status(world, job()) == 202
    assert status(world, job(repo="globex/web")) == 403
    assert status(world, job(OTHER_INSTALLATION)) == 403
    assert status(world, job(None)) == 403


EVERY_EVENT = [
    messages.run("requested"),
    messages.deployment(),
    messages.deployment_status("waiting"),
    messages.protection_rule(),
    messages.review("requested"),
    job(),
]


@pytest.mark.parametrize("about", EVERY_EVENT, ids=lambda about: about[0])
def test_every_event_is_checked_by_the_installation_and_repository_that_it_is_stored_under(
    world: World, about: tuple[str, dict[str, Any]]
) -> None:
    event, message = about
    store(world, scoped(installations=[INSTALLATION], repositories=[REPO]))
    assert status(world, about) == 202
    assert status(world, (event, message | {"installation": {"id": OTHER_INSTALLATION}})) == 403
    # Nested objects that name the secret's own repository are ignored.
    elsewhere = message | {"repository": message["repository"] | {"full_name": "globex/web"}}
    for part in ("workflow_run", "workflow_job", "deployment"):
        if part in message:
            own = {"repository": {"full_name": REPO}, "head_repository": {"full_name": REPO}}
            elsewhere |= {part: message[part] | own}
    assert status(world, (event, elsewhere)) == 403


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"installations": [INSTALLATION]}, 202),
        ({"app": True}, 202),
        ({"app": True, "installations": [INSTALLATION]}, 202),
        ({"app": True, "installations": [OTHER_INSTALLATION]}, 403),
        ({"installations": [OTHER_INSTALLATION]}, 403),
        ({"installations": [0]}, 403),
        ({"repositories": [f"{OWNER}/*"]}, 403),
        ({"installations": [INSTALLATION], "repositories": [f"{OWNER}/*"]}, 403),
    ],
)
def test_events_about_an_installation_need_a_secret_that_is_valid_for_all_of_it(
    world: World, limits: dict[str, object], expected: int
) -> None:
    store(world, scoped(**limits))
    assert status(world, messages.installation("deleted")) == expected


def test_a_repository_in_an_installation_event_does_not_satisfy_the_limits_of_a_secret(world: World) -> None:
    store(world, scoped(installations=[INSTALLATION], repositories=[REPO]))
    event, message = messages.installation("deleted")
    assert status(world, (event, message | {"repository": {"full_name": REPO}})) == 403


def test_a_relabelled_body_is_read_and_checked_by_its_label(world: World) -> None:
    """The event's name is a header, and headers are not signed."""
    store(world, scoped(installations=[INSTALLATION], repositories=[REPO]))
    _, message = job()
    assert status(world, ("installation", message | {"action": "deleted"})) in REFUSED


@pytest.mark.parametrize("action", ["deleted", "suspend"])
def test_hooks_without_an_installation_have_none_that_could_end(world: World, action: str) -> None:
    store(world, {"current": MINE})
    event, message = messages.installation(action)
    message["installation"]["id"] = 0
    assert status(world, (event, message)) == 400


def test_once_an_apps_secret_is_marked_only_it_is_valid_for_installations(world: World) -> None:
    entries = {"app": {"secret": "the App's", "app": True}, "current": "plain"}
    store(world, entries | scoped(installations=[INSTALLATION, 0]))
    assert status(world, job(), "the App's") == 202
    assert status(world, messages.installation("suspend"), "the App's") == 202
    for secret in ("plain", MINE):
        assert status(world, job(), secret) == 403
        assert status(world, messages.installation("deleted"), secret) == 403
        assert status(world, job(None), secret) == 202


def test_an_apps_secret_is_not_valid_for_hooks_without_an_installation(world: World) -> None:
    store(world, scoped(app=True))
    assert status(world, job(None)) == 403


def test_an_app_can_rotate_its_secret(world: World) -> None:
    store(world, {"new": {"secret": "new", "app": True}, "old": {"secret": "old", "app": True}})
    assert status(world, job(), "old") == 202
    assert status(world, messages.run("requested"), "new") == 202


def test_where_entries_share_a_secret_any_of_them_may_allow_a_delivery(world: World) -> None:
    store(world, {name: {"secret": MINE, "repositories": [f"{name}/web"]} for name in ("acme", "globex")})
    assert status(world, job(None, "acme/web")) == 202
    assert status(world, job(None, "initech/web")) == 403
    event, message = messages.run("requested")
    del message["installation"]
    message["repository"]["full_name"] = "globex/web"
    assert status(world, (event, message)) == 202


def test_a_ping_gets_a_response_whatever_the_scope(world: World) -> None:
    store(world, scoped(repositories=["acme/web"]))
    assert status(world, ("ping", {"zen": "Keep it simple."})) == 200
    assert status(world, ("star", {})) == 200
