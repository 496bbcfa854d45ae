"""CPU time of a warm webhook in the real handler, with recorded responses instead of the network.

The baselines are hmac and json for the same bytes, and the same calls with plain boto3. `own` is the handler's time
outside of its AWS calls, which includes the effects of our code and botocore on each other's CPU caches.
"""

from __future__ import annotations

import cProfile
import hashlib
import hmac
import json
import pstats
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.harness import captured_log, invoke
from bench.lives import Life, normal
from bench.replay import Bare, Stopwatch, canned, recorded
from bench.report import Figure
from tests.support.webhooks import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.harness import Harness
    from bench.lives import Step

ROUNDS, TIMES = 100, 10
US = 1_000_000
PATHS = {"new_job": ("queued", 0), "started": ("in_progress", 2), "completed": ("completed", 3)}
# Parts of the time, by the functions that contain them; they don't overlap.
PARTS = {
    ("webhook_intake", "handler"): "all",
    ("client", "_make_api_call"): "aws_calls",
    ("signatures", "verify"): "verify",
    ("dispatcher", "read"): "read",
    ("decision", "decide"): "decide",
    ("attributes", "to_attributes"): "to_attributes",
    ("attributes", "from_attributes"): "from_attributes",
    ("telemetry", "recorded"): "telemetry",
}


class Seconds(NamedTuple):
    """For one webhook; `calls` and `own` add up to `whole`."""

    floor: float
    bare: float
    whole: float
    calls: float
    own: float


class Profile(NamedTuple):
    """The share of each part, and the number of function calls."""

    shares: dict[str, float]
    calls: int


def measure(harness: Harness) -> list[Figure]:
    harness.measure(*normal(Life()))
    entries: list[Figure] = []
    for path, (step, steps_before) in PATHS.items():
        job = Life()
        harness.measure(*normal(job)[:steps_before])
        entries += _webhook(harness, path, job.webhook(step))
    return entries


def _webhook(harness: Harness, path: str, step: Step) -> Iterator[Figure]:
    calls, responses = recorded(harness, step)
    with canned(harness, responses), captured_log():
        seconds = _least(step, Bare(calls, responses))
        profile = _profile(partial(invoke, *step))
    return _entries(path, seconds, calls=len(calls), profile=profile)


def _verify_and_parse(body: bytes) -> None:
    hmac.compare_digest(hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest(), "0" * 64)
    json.loads(body)


def _least(step: Step, bare: Bare) -> Seconds:
    """The minimum of many alternating runs."""
    floor = partial(_verify_and_parse, step[1]["body"].encode())
    turns = [_turn(step, floor, bare) for _ in range(ROUNDS)]
    return Seconds(*(min(seconds) / TIMES for seconds in zip(*turns, strict=True)))


def _turn(step: Step, floor: Callable[[], None], bare: Bare) -> Seconds:
    stopwatch = Stopwatch()
    with stopwatch.running():
        whole = _seconds(partial(invoke, *step))
    calls = stopwatch.seconds
    return Seconds(floor=_seconds(floor), bare=_seconds(bare), whole=whole, calls=calls, own=whole - calls)


def _seconds(function: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(TIMES):
        function()
    return time.process_time() - started


def _profile(handled: Callable[[], object]) -> Profile:
    profile = cProfile.Profile()
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


def _entries(path: str, seconds: Seconds, *, calls: int, profile: Profile) -> Iterator[Figure]:
    key = f"cpu.{path}"
    how = f"CPU time per webhook, minimum of {ROUNDS} alternating runs of {TIMES} calls, recorded responses; "
    bare = f"the same {calls} calls by a bare boto3 client"
    for name, value, baseline, what in (
        ("us", seconds.whole, seconds.bare, f"the whole handler; baseline: only {bare}"),
        ("beyond_bare_calls.us", seconds.whole - seconds.bare, None, f"the whole handler, less {bare}"),
        ("aws_calls.us", seconds.calls, seconds.bare, f"its calls to AWS; baseline: {bare}"),
        (
            "own.us",
            seconds.own,
            seconds.floor,
            "without AWS calls; baseline: hmac and json.loads of the same bytes",
        ),
    ):
        floor = None if baseline is None else baseline * US
        yield Figure(key=f"{key}.{name}", value=value * US, baseline=floor, unit="µs", how=how + what, kind="time")
    yield Figure(key=f"{key}.python_calls", value=profile.calls, unit="calls", how="functions called, by cProfile")
    for name, part in profile.shares.items():
        yield Figure(key=f"{key}.share.{name}", value=part, unit="of time", how="cProfile, inclusive", kind="time")
