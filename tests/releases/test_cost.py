"""The number of writes of a publication, a rebuild and a report of a build: docs/cost.md states it."""

import re
from typing import Any

from runledger.model.packages import VariantStatus
from runledger.releases.build_reports import BuildReport
from runledger.releases.builds import Builds
from runledger.tables.builds import BuildsTable

from local import ROOT
from tests.releases.rebuild_scenes import BASE, SCOPE, TABLE, ReleaseWorld, Scene

WRITES = ("put_item", "update_item", "delete_item")


class Meter:
    """Counts writes: each item has less than 1 KB."""

    def __init__(self, client: Any) -> None:
        self.client, self.writes = client, 0

    def __getattr__(self, name: str) -> Any:
        self.writes += name in WRITES
        return getattr(self.client, name)

    def since_last(self) -> int:
        found, self.writes = self.writes, 0
        return found


def stated(operation: str) -> int:
    found = re.search(rf"^\| {operation}[^|]* \| (\d+) \|$", (ROOT / "docs" / "cost.md").read_text(), re.MULTILINE)
    assert found, operation
    return int(found[1])


def test_a_publication_and_a_rebuild_take_the_writes_of_the_document() -> None:
    world = ReleaseWorld()
    meter = Meter(world.engine)
    scene = Scene(meter, world.queues, world.bus, lambda: world.bus.entries, world.clock)
    scene.publish("app", "1.0.0")
    assert meter.since_last() == stated("a publication")
    scene.publish()
    dependents = 3
    assert meter.since_last() == stated("a publication") + dependents * stated("each dependent in its plan")
    scene.rebuilds.advance(BASE)
    scene.run("api", run_id=1001, conclusion="success")
    scene.rebuilds.advance(BASE)
    ui_dispatch = 4
    assert meter.since_last() - ui_dispatch == stated("each rebuild")


def test_a_report_of_a_build_takes_the_writes_of_the_document() -> None:
    world = ReleaseWorld()
    meter = Meter(world.engine)
    builds = Builds(table=BuildsTable(meter, TABLE, retention_days=90), now=world.clock.text)  # type: ignore[arg-type]

    def report(variant: str) -> int:
        world.clock.advance(1)
        values = {"name": "ui", "version": "1.0.0", "environment": "prod", "status": VariantStatus.COMPLETED}
        builds.report(SCOPE, BuildReport(**values, variant=variant, variants=3))  # type: ignore[arg-type]
        return meter.since_last()

    first, second, last = (report(each) for each in ("de", "en", "fr"))
    assert second == stated("a report of a variant")
    assert first == second + stated("the first report of a build")
    assert last == second + stated("the last report of a build")
