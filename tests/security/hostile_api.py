"""Canned API responses with a hostile text in place of one field after the other, names of fields included."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.cli import release_responses, responses
from tests.cli.responses import INSTALLATION, JOB, MESSAGE, PASS, RUN, Response

BIDI_OVERRIDE, ZERO_WIDTH, C1_ESCAPE, DELETE = "\u202e", "\u200b", "\x9b", "\x7f"
COLOUR_PLACEHOLDER = "\ufdd5"  # what the command itself writes where a colour goes
HOSTILE = (
    f"\x1b]0;title\x07\x1b[2J{C1_ESCAPE}31m{BIDI_OVERRIDE}{ZERO_WIDTH}{DELETE}\b\r\n\t\u2028{COLOUR_PLACEHOLDER}hostile"
)

JOBS = f"installations/{INSTALLATION}/jobs"
ENDED = responses.problem(410, "Gone", "enough")  # the only way to end `tail`
OUTCOME = {"id": PASS, "status": "finished", "text": "Reconciliation (full)\n  Status: Success"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A command, and the responses it needs by route; those of `hostile` are the ones to change."""

    arguments: tuple[str, ...]
    hostile: dict[str, Response]
    friendly: dict[str, Response] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.arguments)


def _listed(*items: Response) -> Response:
    return {"items": list(items), "next_cursor": "next"}


SCHEDULE = {"every": "weekly", "hour": 9, "weekday": "friday", "timezone": "UTC"}
SUBSCRIPTIONS = {
    f"GET installations/{INSTALLATION}/subscriptions": _listed(
        responses.subscription(branches=["main"], at_most_per_hour=5, schedule=SCHEDULE)
    )
}
SENT = responses.message("failed", error_message="x", notification_id="n", payload={"data": {"text": "x"}})

MEASURED = release_responses.measured(release_responses.dora())

SCENES = (
    Scene(arguments=("jobs", "--status", "completed"), hostile={f"GET {JOBS}": _listed(responses.job())}),
    Scene(
        arguments=("job", str(JOB)),
        hostile={
            f"GET {JOBS}/{JOB}": responses.job(environment="production"),
            f"GET {JOBS}/{JOB}/events": {"items": responses.EVENTS, "next_cursor": None},
        },
    ),
    Scene(
        arguments=("run", str(RUN)),
        hostile={f"GET installations/{INSTALLATION}/runs/{RUN}": responses.RUN_RESPONSE},
    ),
    Scene(
        arguments=("stats", "--series"),
        hostile={f"GET installations/{INSTALLATION}/statistics": responses.STATISTICS},
    ),
    Scene(arguments=("stuck",), hostile={f"GET installations/{INSTALLATION}/stuck": responses.STUCK}),
    Scene(arguments=("orphans",), hostile={"GET admin/orphans": responses.ORPHANS}),
    Scene(arguments=("reconcile",), hostile={"POST admin/reconciliation/run": {"id": PASS}}),
    Scene(
        arguments=("reconcile", "--wait"),
        hostile={f"GET admin/reconciliation/{PASS}": OUTCOME},
        friendly={"POST admin/reconciliation/run": {"id": PASS}},
    ),
    Scene(
        arguments=("orphans", "clean", "i-0abc", "--yes", "--wait"),
        hostile={f"GET admin/reconciliation/{PASS}": OUTCOME},
        friendly={"POST admin/orphans/i-0abc/cleanup": {"id": PASS}},
    ),
    Scene(
        arguments=("tail", "--interval", "0"),
        hostile={f"GET installations/{INSTALLATION}/events": {"items": responses.EVENTS, "next_since": "1m"}},
    ),
    Scene(arguments=("subscriptions",), hostile=SUBSCRIPTIONS),
    Scene(
        arguments=("messages", "--status", "failed"),
        hostile={f"GET installations/{INSTALLATION}/messages": _listed(SENT)},
        friendly=SUBSCRIPTIONS,
    ),
    Scene(
        arguments=("messages", "show", MESSAGE),
        hostile={f"GET installations/{INSTALLATION}/messages/{MESSAGE}": SENT},
    ),
    Scene(arguments=("notify", "x"), hostile={f"POST installations/{INSTALLATION}/messages": _listed(SENT)}),
    Scene(arguments=("heads",), hostile={f"GET installations/{INSTALLATION}/heads": _listed(release_responses.head())}),
    Scene(
        arguments=("environments",),
        hostile={f"GET installations/{INSTALLATION}/environments": _listed(release_responses.environment())},
    ),
    Scene(
        arguments=("release", "ui", "2.1.0"),
        hostile={f"GET installations/{INSTALLATION}/releases/ui/2.1.0": release_responses.line()},
    ),
    Scene(arguments=("dora",), hostile={f"GET installations/{INSTALLATION}/dora": MEASURED}),
    Scene(arguments=("installations",), hostile={"GET installations": responses.installations(INSTALLATION)}),
    # One of two installations must be chosen, so this is an error message.
    Scene(arguments=("stuck",), hostile={"GET installations": responses.installations(7, 8)}),
    Scene(
        arguments=("jobs", "--status", "queued"),
        hostile={
            f"GET {JOBS}": responses.problem(400, "Bad Request", "x", errors=[{"parameter": "since", "problem": "y"}])
        },
    ),
    Scene(
        arguments=("tail", "--interval", "0"),
        hostile={f"GET installations/{INSTALLATION}/events": responses.problem(403, "Forbidden", "x")},
    ),
)


def variants(scene: Scene) -> Iterator[dict[str, Response]]:
    """The scene's responses, each time with one more field hostile than the original."""
    for route, response in scene.hostile.items():
        for changed in _changed(response):
            # The status of a problem is that of its HTTP response.
            if "title" not in response or changed["status"] == response["status"]:
                yield {**scene.friendly, **scene.hostile, route: changed}


def _changed(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from ({**value, key: other} for other in _changed(each))
        yield {**value, HOSTILE: HOSTILE}
        if isinstance(value.get("changes"), dict):
            yield {**value, "changes": {HOSTILE: {"from": HOSTILE, "to": HOSTILE}}}
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in _changed(each))
    else:
        yield HOSTILE
