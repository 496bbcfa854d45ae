from __future__ import annotations

import argparse
import getpass
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runledger_cli import subscriptions
from runledger_cli.errors import UsageError
from runledger_cli.options import STDIN, add_command
from runledger_cli.rendering.messages import subscriptions_table

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

KINDS = ("slack", "webhook", "ntfy", "sns", "eventbridge", "relaunch")
# The secrets that the command asks for. A webhook's secret is generated, and a secret for ntfy is optional.
NEEDS_SECRET = {"slack": "URL of the incoming webhook", "relaunch": "webhook secret of the launcher's App"}
DEFAULT_HOUR = 9
# Options that can be repeated, and their fields in the API.
FILTERS = {"type": "types", "repo": "repositories", "branch": "branches", "conclusion": "conclusions"}
# What `edit --clear` can remove: the field in the API, and its empty value.
CLEARED: dict[str, tuple[str, Any]] = {
    "repo": ("repositories", []),
    "branch": ("branches", []),
    "conclusion": ("conclusions", []),
    "at-most": ("at_most_per_hour", None),
    "schedule": ("schedule", None),
}
EXAMPLES = """\
runledger subscriptions
runledger subscriptions create Failures --kind slack --type job.failed --type job.stuck --branch main
runledger subscriptions create Pager --kind webhook --url https://example.com/hook --type 'job.*'
runledger subscriptions create Digest --kind sns --target builds --weekly monday --hour 9 --timezone Europe/Berlin
runledger subscriptions edit Failures --type job.failed --type run.failed --clear branch
runledger subscriptions test Failures --wait"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "subscriptions",
        show,
        summary="list subscriptions and the health of their receivers, or change them (changes: operators only)",
        examples=EXAMPLES,
    )
    actions = parser.add_subparsers(metavar="ACTION", title="actions")
    _add_create(actions)
    _add_edit(actions)
    for name, run, summary in (
        ("test", test, "send a test message"),
        ("enable", enable, "send matching events from now on"),
        ("disable", disable, "send nothing; waiting messages fail"),
        ("rotate-secret", rotate, "replace the secret; a webhook is signed with both for 24 hours"),
        ("delete", delete, "delete a subscription and its secret"),
    ):
        action = add_command(actions, name, run, summary=summary, examples=f"runledger subscriptions {name} Failures")
        _add_subscription(action)
        if name == "test":
            action.add_argument(
                "--wait", action="store_true", help="wait for the receiver; the exit code is 1 if it fails"
            )
        if name == "rotate-secret":
            _add_secret_file(action)
        if name == "delete":
            action.add_argument("--yes", action="store_true", help="skip the confirmation")


def _add_create(actions: Commands) -> None:
    parser = add_command(
        actions, "create", create, summary="create a subscription", examples="\n".join(EXAMPLES.splitlines()[1:4])
    )
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--kind", choices=KINDS, required=True, metavar="KIND", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("--url", help="the receiver's URL (webhook, ntfy and relaunch)")
    parser.add_argument("--target", metavar="NAME", help="name of a topic or bus in the settings (sns and eventbridge)")
    _add_secret_file(parser)
    _add_rules(parser)


def _add_edit(actions: Commands) -> None:
    example = EXAMPLES.splitlines()[4]
    parser = add_command(actions, "edit", edit, summary="change what a subscription sends, and where", examples=example)
    _add_subscription(parser)
    parser.add_argument("--name", metavar="NAME", help="a new name")
    parser.add_argument("--url", help="the receiver's URL (webhook, ntfy and relaunch)")
    parser.add_argument("--target", metavar="NAME", help="name of a topic or bus in the settings (sns and eventbridge)")
    _add_rules(parser)
    parser.add_argument(
        "--clear",
        action="append",
        choices=CLEARED,
        metavar="RULE",
        default=[],
        help=f"remove a filter, the limit or the schedule: one of {', '.join(CLEARED)}; may be repeated",
    )


def _add_rules(parser: argparse.ArgumentParser) -> None:
    for name, what in (
        ("type", "events to send, such as job.failed or job.*"),
        ("repo", "only events of these repositories, such as acme/*"),
        ("branch", "only events on these branches"),
        ("conclusion", "only events with these conclusions"),
    ):
        parser.add_argument(f"--{name}", action="append", metavar=name.upper(), help=f"{what}; may be repeated")
    parser.add_argument("--at-most", type=int, metavar="N", help="maximum number of messages per hour")
    schedule = parser.add_mutually_exclusive_group()
    schedule.add_argument("--daily", action="store_true", help="send a digest each day")
    schedule.add_argument("--weekly", metavar="DAY", help="send a digest each week on this day, such as monday")
    parser.add_argument("--hour", type=int, metavar="0-23", help=f"hour of the digest (default: {DEFAULT_HOUR})")
    parser.add_argument("--timezone", metavar="ZONE", help="time zone of --hour (default: UTC)")
    parser.add_argument("--reminder", metavar="TEXT", help="send this text instead of the digest")
    parser.add_argument(
        "--config", type=_config, metavar="JSON", default={}, help="more fields of the channel, as a JSON object"
    )


def _add_subscription(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subscription", metavar="SUBSCRIPTION", help="its name, its id, or the beginning of its id")


def _config(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"{text!r} must be a JSON object, such as " + '{"priority": 4}')
    return found


def _add_secret_file(parser: argparse.ArgumentParser) -> None:
    """Other users of the machine can see a command's options, so a secret isn't one of them."""
    parser.add_argument("--secret-file", metavar="FILE", help="read the secret from this file; - is stdin")


def show(session: Session) -> int:
    screen = session.screen
    response = session.api.get(*session.path("subscriptions"))
    if screen.as_json:
        screen.document(response)
    elif response["items"]:
        screen.show(subscriptions_table(screen.style, response["items"]))
    else:
        screen.note("no subscriptions")
    return 0


def create(session: Session) -> int:
    given = session.options
    body: dict[str, Any] = {
        "name": given.name,
        "kind": given.kind,
        "config": _channel(given),
        **_rules(given),
        **_present(secret=_secret(given, given.kind)),
    }
    if given.kind != "relaunch":
        body.setdefault("types", [])
    return _report(session, session.api.post(*session.path("subscriptions"), body=body), "created")


def edit(session: Session) -> int:
    """New filters replace the previous ones. New channel fields are added to the existing ones."""
    given, found = session.options, subscriptions.find(session, session.options.subscription)
    channel, rules = _channel(given), _rules(given)
    for name in given.clear:
        field, cleared = CLEARED[name]
        if field in rules:
            raise UsageError(f"--clear {name} contradicts the new value")
        rules[field] = cleared
    changes = {**_present(name=given.name), **({"config": {**found["config"], **channel}} if channel else {}), **rules}
    if not changes:
        raise UsageError("nothing to change: give at least one option")
    where = session.path("subscriptions", found["subscription_id"])
    return _report(session, session.api.patch(*where, body=changes), "changed")


def test(session: Session) -> int:
    sent = session.api.post(*_path(session), "test")
    return subscriptions.report(session, [sent], wait=session.options.wait)


def enable(session: Session) -> int:
    return _report(session, session.api.patch(*_path(session), body={"enabled": True}), "enabled")


def disable(session: Session) -> int:
    return _report(session, session.api.patch(*_path(session), body={"enabled": False}), "disabled")


def rotate(session: Session) -> int:
    found = subscriptions.find(session, session.options.subscription)
    secret = _secret(session.options, found["kind"])
    where = session.path("subscriptions", found["subscription_id"], "rotate-secret")
    return _report(session, session.api.post(*where, body=_present(secret=secret)), "replaced the secret of")


def delete(session: Session) -> int:
    found = subscriptions.find(session, session.options.subscription)
    if not session.options.yes:
        consequence = f"{found['name']} and its secret will be deleted, and waiting messages will fail. Delete it?"
        session.confirm("deleting", consequence)
    where = session.path("subscriptions", found["subscription_id"])
    return _report(session, session.api.delete(*where), "deleted")


def _channel(given: argparse.Namespace) -> dict[str, Any]:
    return {**given.config, **_present(url=given.url, target=given.target)}


def _rules(given: argparse.Namespace) -> dict[str, Any]:
    filters = {field: getattr(given, name) for name, field in FILTERS.items()}
    return _present(**filters, at_most_per_hour=given.at_most, schedule=_schedule(given))


def _path(session: Session) -> tuple[object, ...]:
    found = subscriptions.find(session, session.options.subscription)
    return session.path("subscriptions", found["subscription_id"])


def _report(session: Session, found: Json, done: str) -> int:
    """A generated secret is printed once, on stdout, so that it can be piped."""
    screen = session.screen
    if screen.as_json:
        screen.document(found)
        return 0
    screen.note(f"{done} {found['name']} ({found['subscription_id']})")
    if found.get("secret"):
        screen.note("its secret, which can't be read later:")
        screen.show([found["secret"]])
    return 0


def _schedule(given: argparse.Namespace) -> dict[str, Any] | None:
    if not given.daily and not given.weekly:
        for name in ("reminder", "hour", "timezone"):
            if getattr(given, name) is not None:
                raise UsageError(f"--{name} requires --daily or --weekly")
        return None
    found = {"every": "daily"} if given.daily else {"every": "weekly", "weekday": given.weekly.lower()}
    content = {"content": "reminder", "text": given.reminder} if given.reminder else {"content": "digest"}
    hour = DEFAULT_HOUR if given.hour is None else given.hour
    return {**found, "hour": hour, "timezone": given.timezone or "UTC", **content}


def _secret(given: argparse.Namespace, kind: str) -> str | None:
    if given.secret_file:
        try:
            text = sys.stdin.read() if given.secret_file == STDIN else Path(given.secret_file).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {given.secret_file}: {error}") from error
        return text.strip()
    if kind not in NEEDS_SECRET:
        return None
    if not sys.stdin.isatty():
        raise UsageError(f"this channel needs the {NEEDS_SECRET[kind]}: pass it with --secret-file")
    return getpass.getpass(f"{NEEDS_SECRET[kind]}: ").strip()


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
