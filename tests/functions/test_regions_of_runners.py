"""The setting `runner_regions`, as the functions read it: machines elsewhere are neither alive nor gone."""

import pytest
from botocore.exceptions import EndpointConnectionError
from runledger.platform import clients

from tests.support.reconciler_scene import Scene
from tests.support.runner_events import INSTANCE, batch, instance_state
from tests.support.webhooks import IN_PROGRESS


def report(scene: Scene, state: str, region: str) -> None:
    scene.world.start("instance_state")
    scene.world.invoke("instance_state", batch(instance_state(state) | {"region": region}))


@pytest.mark.parametrize(("regions", "confirmed"), [("us-east-1,eu-west-1", True), ("", False)])
def test_an_event_counts_only_if_its_region_is_in_the_setting(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, regions: str, confirmed: bool
) -> None:
    monkeypatch.setenv("RUNNER_REGIONS", regions)
    scene.launch(1, INSTANCE)
    report(scene, "running", "eu-west-1")
    assert ("confirmed_at" in scene.runner(INSTANCE)) is confirmed


def test_a_machine_of_a_region_that_was_removed_from_the_setting_is_not_gone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC2 confirmed it once. It isn't called there anymore, so it can't report the machine's absence."""
    monkeypatch.setenv("RUNNER_REGIONS", "eu-west-1")
    scene.launch(1, INSTANCE)
    report(scene, "running", "eu-west-1")
    monkeypatch.setenv("RUNNER_REGIONS", "")
    for _ in range(2):
        assert scene.reconcile("quick")["summary"]["stale_mappings"] == 0
    assert scene.runner(INSTANCE)["status"] == "active"


def test_a_price_list_that_does_not_respond_is_counted(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(_: str) -> None:
        raise EndpointConnectionError(endpoint_url="https://api.pricing")

    instance = scene.start_instance()
    scene.receive(IN_PROGRESS, 1, runner_name=f"runner-{instance}")
    monkeypatch.setattr(clients.client("pricing", "us-east-1"), "get_paginator", unreachable)
    scene.world.invoke("runner_lookup", {"Records": scene.world.waiting("lookups")})
    assert '"LookupsPostponed":1' in capsys.readouterr().out
