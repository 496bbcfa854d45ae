"""CPU of a warm webhook through the real handler, with canned answers in the place of the network.

Beside it, the same bytes through hmac and json alone, and the same calls through a bare boto3: what is left is ours.
"""

from __future__ import annotations

import cProfile
import hashlib
import hmac
import io
import json
import pstats
import time
from collections import Counter
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from runledger import runtime, telemetry

from bench.bed import invoke
from bench.lives import Life, normal
from bench.replay import canned, recorded, replay
from bench.report import Entry
from tests.webhooks import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.bed import Bed
    from bench.lives import Step

ROUNDS, TIMES = 15, 40
US = 1_000_000
PATHS = {"new_job": ("queued", 0), "started": ("in_progress", 2), "completed": ("completed", 3)}
# Where the time goes, by the functions that enclose each part: none is inside another.
PARTS = {
    ("webhook_intake", "handler"): "all",
    ("client", "_make_api_call"): "aws_calls",
    ("signatures", "verify"): "verify",
    ("webhooks", "read"): "read",
    ("decision", "decide"): "decide",
    ("attributes", "to_attributes"): "to_attributes",
    ("attributes", "from_attributes"): "from_attributes",
    ("telemetry", "taken"): "telemetry",
}


class Seconds(NamedTuple):
    floor: float
    bare: float
    whole: float


class Profile(NamedTuple):
    """The share of each part in the time, and how many functions are called: that is a count."""

    shares: dict[str, float]
    calls: int


def measure(bed: Bed) -> list[Entry]:
    bed.measure(*normal(Life()))
    entries = []
    for path, (step, steps_before) in PATHS.items():
        job = Life()
        bed.measure(*normal(job)[:steps_before])
        entries += _webhook(bed, path, job.webhook(step))
    return entries


def _webhook(bed: Bed, path: str, step: Step) -> list[Entry]:
    calls, answers = recorded(bed, step)
    body = step[1]["body"].encode()
    client = runtime.client("dynamodb")
    with canned(bed, client, answers):
        seconds = Seconds(
            *_least(partial(_verify_and_parse, body), partial(replay, client, calls), partial(invoke, *step))
        )
        profile = _profile(partial(invoke, *step))
    return _entries(path, seconds, calls=len(calls), profile=profile)


def _verify_and_parse(body: bytes) -> None:
    hmac.compare_digest(hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest(), "0" * 64)
    json.loads(body)


def _least(*things: Callable[[], object]) -> list[float]:
    """Seconds of each, in turns."""
    least = [float("inf")] * len(things)
    with redirect_stdout(io.StringIO()) as said, patch.object(telemetry.logger.registered_handler, "stream", said):
        for _ in range(ROUNDS):
            for number, thing in enumerate(things):
                started = time.process_time()
                for _ in range(TIMES):
                    thing()
                least[number] = min(least[number], (time.process_time() - started) / TIMES)
    return least


def _profile(handled: Callable[[], object]) -> Profile:
    profile = cProfile.Profile()
    with redirect_stdout(io.StringIO()) as said, patch.object(telemetry.logger.registered_handler, "stream", said):
        handled()
        profile.enable()
        for _ in range(TIMES):
            handled()
        profile.disable()
    stats = pstats.Stats(profile)
    spent: Counter[str] = Counter()
    for (file, _, function), (_, _, _, inclusive, _) in stats.stats.items():  # type: ignore[attr-defined]
        spent[PARTS.get((Path(file).stem, function), "")] += inclusive
    shares = {part: spent[part] / spent["all"] for part in PARTS.values() if part != "all"}
    return Profile(shares=shares, calls=round(stats.total_calls / TIMES))  # type: ignore[attr-defined]


def _entries(path: str, seconds: Seconds, *, calls: int, profile: Profile) -> list[Entry]:
    key = f"cpu.{path}"
    how = f"CPU time a webhook, least of {ROUNDS} times {TIMES} in turns, canned answers below botocore; baseline: "
    floor, beyond = "hmac and json.loads of the same bytes", f"the same {calls} calls by a bare client, without ours"
    timed = {
        f"{key}.us": (seconds.whole, seconds.floor, floor),
        f"{key}.bare_calls.us": (seconds.bare, seconds.floor, floor),
        f"{key}.own.us": (seconds.whole - seconds.bare, seconds.bare, beyond),
    }
    return [
        *(
            Entry(key=name, value=value * US, baseline=baseline * US, unit="µs", how=how + what, kind="time")
            for name, (value, baseline, what) in timed.items()
        ),
        Entry(key=f"{key}.python_calls", value=profile.calls, unit="calls", how="functions called, by cProfile"),
        *(
            Entry(
                key=f"{key}.share.{name}",
                value=part,
                unit="of time",
                how="cProfile, inclusive",
                kind="time",
            )
            for name, part in profile.shares.items()
        ),
    ]
