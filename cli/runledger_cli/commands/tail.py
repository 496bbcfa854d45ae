from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runledger_cli.errors import CommandError, Refusal, Unreachable
from runledger_cli.options import add_command
from runledger_cli.rendering.history import event_line

if TYPE_CHECKING:
    from runledger_cli.api import Answer
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

REMEMBERED = 10_000
MAY_PASS = (429, 500, 502, 503, 504)


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "tail",
        follow,
        does="follow the new events of an installation until Ctrl-C",
        examples="runledger tail\nrunledger tail --since 1h --json | jq -c 'select(.duplicate)'",
    )
    parser.add_argument("--since", metavar="WHEN", default="1m", help="begin with what happened since (default: 1m)")
    parser.add_argument("--interval", type=float, metavar="SECONDS", default=2.0, help="between two looks (default: 2)")


def follow(session: Session) -> int:
    """What was shown is remembered, because answers overlap: an event may be recorded after a later one."""
    path = ("installations", session.installation(), "events")
    since = session.instant(session.options.since)
    shown: dict[tuple[Any, ...], None] = {}
    answer = session.api.get(*path, since=since)
    while True:
        for event in sorted(answer["items"], key=lambda each: str(each["timestamp"])):
            if _key(event) not in shown:
                shown[_key(event)] = None
                _show(session, event)
        shown = dict.fromkeys(list(shown)[-REMEMBERED:])
        since = answer.get("next_since") or since
        session.pause(session.options.interval)
        answer = _again(session, *path, since=since)


def _again(session: Session, *path: object, since: str | None) -> Answer:
    """Somebody who watches for hours shall not miss the rest for one bad minute."""
    while True:
        try:
            return session.api.get(*path, since=since)
        except (Refusal, Unreachable) as trouble:
            if not _may_pass(trouble):
                raise
            session.screen.remark(f"runledger: {trouble}; trying again")
            session.pause(session.options.interval)


def _may_pass(trouble: CommandError) -> bool:
    return not isinstance(trouble, Refusal) or trouble.status in MAY_PASS


def _show(session: Session, event: dict[str, Any]) -> None:
    if session.screen.as_json:
        session.screen.document(event, on_one_line=True)
    else:
        session.screen.show([event_line(session.screen.look, event)])


def _key(event: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(event.get(name) for name in ("job_id", "timestamp", "event_type", "delivery_id"))
