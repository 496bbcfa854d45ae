"""Canned API answers with a hostile text in place of one field after the other, names of fields included."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.cli import answers
from tests.cli.answers import INSTALLATION, JOB, PASS, RUN, Answer

BIDI_OVERRIDE, ZERO_WIDTH, C1_ESCAPE, DELETE = "\u202e", "\u200b", "\x9b", "\x7f"
COLOUR_PLACEHOLDER = "\ufdd5"  # what the command itself writes where a colour goes
HOSTILE = (
    f"\x1b]0;title\x07\x1b[2J{C1_ESCAPE}31m{BIDI_OVERRIDE}{ZERO_WIDTH}{DELETE}\b\r\n\t\u2028{COLOUR_PLACEHOLDER}hostile"
)

JOBS = f"installations/{INSTALLATION}/jobs"
ENDED = answers.problem(410, "Gone", "enough")  # the only way to end `tail`
OUTCOME = {"id": PASS, "status": "finished", "text": "Reconciliation (full)\n  Status: Success"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A command, and the answers it needs by route; those of `hostile` are the ones to change."""

    arguments: tuple[str, ...]
    hostile: dict[str, Answer]
    friendly: dict[str, Answer] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.arguments)


def _listed(*items: Answer) -> Answer:
    return {"items": list(items), "next_cursor": "next"}


SCENES = (
    Scene(arguments=("jobs", "--status", "completed"), hostile={f"GET {JOBS}": _listed(answers.job())}),
    Scene(
        arguments=("job", str(JOB)),
        hostile={
            f"GET {JOBS}/{JOB}": answers.job(environment="production"),
            f"GET {JOBS}/{JOB}/events": {"items": answers.EVENTS, "next_cursor": None},
        },
    ),
    Scene(
        arguments=("run", str(RUN)),
        hostile={f"GET installations/{INSTALLATION}/runs/{RUN}": answers.RUN_ANSWER},
    ),
    Scene(
        arguments=("stats", "--series"),
        hostile={f"GET installations/{INSTALLATION}/statistics": answers.STATISTICS},
    ),
    Scene(arguments=("stuck",), hostile={f"GET installations/{INSTALLATION}/stuck": answers.STUCK}),
    Scene(arguments=("orphans",), hostile={"GET admin/orphans": answers.ORPHANS}),
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
        hostile={f"GET installations/{INSTALLATION}/events": {"items": answers.EVENTS, "next_since": None}},
    ),
    Scene(arguments=("installations",), hostile={"GET installations": answers.installations(INSTALLATION)}),
    # One of two installations must be chosen, so this is an error message.
    Scene(arguments=("stuck",), hostile={"GET installations": answers.installations(7, 8)}),
    Scene(
        arguments=("jobs", "--status", "queued"),
        hostile={
            f"GET {JOBS}": answers.problem(400, "Bad Request", "x", errors=[{"parameter": "since", "problem": "y"}])
        },
    ),
    Scene(
        arguments=("tail", "--interval", "0"),
        hostile={f"GET installations/{INSTALLATION}/events": answers.problem(403, "Forbidden", "x")},
    ),
)


def variants(scene: Scene) -> Iterator[dict[str, Answer]]:
    """The scene's answers, each time with one more field hostile than the original."""
    for route, answer in scene.hostile.items():
        for changed in _changed(answer):
            # The status of a problem is that of its HTTP response.
            if "title" not in answer or changed["status"] == answer["status"]:
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
