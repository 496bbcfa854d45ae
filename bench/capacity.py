"""Capacity units of complete jobs, counted by DynamoDB Local, compared with `original_schema.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger.platform import clients

from bench import lives, original_schema, prices
from bench.lives import LIVES, TYPICAL, WITH_PROPERTIES, Life
from bench.report import Figure
from bench.sizes import UNIT_BYTES, item_bytes
from tests.support.ledgers import EVENTS, JOBS, RUNNERS, RUNS

if TYPE_CHECKING:
    from bench.harness import Harness
    from bench.meter import Usage

# The original estimate, which excludes run counters and the runner mapping.
SAME_WORK = (JOBS, EVENTS)
HOW = "Amazon DynamoDB Local, ReturnConsumedCapacity=INDEXES, the real functions; "


def life(harness: Harness, name: str, example: dict[str, Any] = TYPICAL) -> Usage:
    """In a known installation and repository; the run is new."""
    harness.measure(*LIVES[name](Life(example=example)))
    return harness.measure(*LIVES[name](Life(example=example)))


def original_life(harness: Harness, example: dict[str, Any] = TYPICAL) -> Usage:
    reading = original_schema.OriginalSchema(clients.client("dynamodb"))
    if original_schema.JOBS not in harness.dynamodb.list_tables()["TableNames"]:
        original_schema.create_tables(harness.dynamodb)
    usage = harness.meter.reset()
    reading.play(Life(example=example))
    return usage


def measure(harness: Harness) -> list[Figure]:
    ours, theirs = life(harness, "normal"), original_life(harness)
    return [
        *_same_work(ours, theirs),
        *_parts(ours),
        *_dollars(ours, theirs),
        _item(harness),
        *_other_lives(harness, ours),
        _with_properties(harness, ours),
        *_examples(harness),
    ]


def _same_work(ours: Usage, theirs: Usage) -> list[Figure]:
    units, baseline = ours.written(*SAME_WORK), theirs.written()
    how = HOW + "queued, scheduled, in_progress, completed: jobs and history, write units"
    return [
        Figure(key="capacity.life.units", value=units, baseline=baseline, unit="write units", how=how),
        Figure(
            key="capacity.literal.units",
            value=baseline,
            baseline=prices.CLAIMED_WRITE_UNITS,
            unit="write units",
            how="the same events, with the original schema's tables and calls; baseline: its estimate",
        ),
        Figure(key="capacity.ratio", value=units / baseline, baseline=1, unit="of original", how=how),
        Figure(key="capacity.life.read_units", value=ours.read(), baseline=theirs.read(), unit="read units", how=how),
    ]


def _parts(ours: Usage) -> list[Figure]:
    """The total, then per table and index; the original estimate excludes counters and mapping."""
    totals = {"whole": ours.written(), "counters": ours.written(RUNS), "mapping": ours.written(RUNNERS)}
    parts = {
        **{f"capacity.life.{name}.units": units for name, units in totals.items()},
        **{f"capacity.life.{name}": units for name, units in sorted(ours.writes.items())},
    }
    how = HOW + "the same events: everything, the run's counters, the runner's mapping, each table and each index"
    return [Figure(key=key, value=units, unit="write units", how=how) for key, units in parts.items()]


def _dollars(ours: Usage, theirs: Usage) -> list[Figure]:
    how = f"write and read units at on-demand prices of {prices.AS_OF}; baseline: the same on S3"
    per_million = {
        "capacity.life.dollars": prices.requests(ours.written(*SAME_WORK), ours.read()),
        "capacity.life.whole.dollars": prices.requests(ours.written(), ours.read()),
        "capacity.literal.dollars": prices.requests(theirs.written(), theirs.read()),
    }
    return [
        Figure(
            key=key,
            value=dollars * prices.MILLION,
            baseline=prices.S3_PER_MILLION_JOBS,
            unit="$ per million jobs",
            how=how,
        )
        for key, dollars in per_million.items()
    ]


def _item(harness: Harness) -> Figure:
    finished = Life()
    harness.measure(*lives.normal(finished))
    return Figure(
        key="capacity.job.bytes",
        value=job_bytes(harness, finished),
        baseline=UNIT_BYTES,
        unit="bytes",
        how="the finished job's item; baseline: what one write unit holds",
    )


def job_bytes(harness: Harness, finished: Life) -> int:
    key: Any = {"PK": {"S": f"{finished.installation_id}#{finished.job_id}"}, "SK": {"S": "v"}}
    return item_bytes(harness.dynamodb.get_item(TableName=JOBS, Key=key, ConsistentRead=True)["Item"])


def _with_properties(harness: Harness, ours: Usage) -> Figure:
    return Figure(
        key="capacity.properties.units",
        value=life(harness, "normal", WITH_PROPERTIES).written(*SAME_WORK),
        baseline=ours.written(*SAME_WORK),
        unit="write units",
        how=HOW + "the same events in a repository with two custom properties",
    )


def _other_lives(harness: Harness, ours: Usage) -> list[Figure]:
    entries = []
    for name in sorted(LIVES.keys() - {"normal"}):
        usage = life(harness, name)
        how = HOW + f"{LIVES[name].__doc__} All tables; baseline: the normal job"
        entries += [
            Figure(
                key=f"capacity.{name}.units",
                value=usage.written(),
                baseline=ours.written(),
                unit="write units",
                how=how,
            ),
            Figure(
                key=f"capacity.{name}.read_units",
                value=usage.read(),
                baseline=ours.read(),
                unit="read units",
                how=how,
            ),
        ]
    return entries


def _examples(harness: Harness) -> list[Figure]:
    """GitHub's examples, by size: an item over 1 KB costs more."""
    found = sorted(
        (life(harness, "normal", example).written(*SAME_WORK), original_life(harness, example).written())
        for example in lives.examples()
    )
    how = HOW + f"a job from each of GitHub's {len(found)} examples: jobs and history; baseline: the original schema"
    return [
        Figure(key=f"capacity.examples.{which}.units", value=ours, baseline=original, unit="write units", how=how)
        for which, (ours, original) in {"least": found[0], "most": found[-1]}.items()
    ]
