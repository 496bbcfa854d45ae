from __future__ import annotations

from typing import TYPE_CHECKING

from runledger_cli.errors import CommandError
from runledger_cli.options import add_command
from runledger_cli.pages import add_pages, read_pages, show_pages
from runledger_cli.rendering.releases import release_details, releases_table

if TYPE_CHECKING:
    from runledger_cli.api import Json
    from runledger_cli.options import Commands
    from runledger_cli.session import Session

EXAMPLES = """\
runledger release
runledger release @acme/ui
runledger release @acme/ui 2.1.0 --json"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "release",
        show,
        summary="show a published version with its builds and the rebuilds of its dependents, or list the newest",
        examples=EXAMPLES,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="package name (default: list the newest releases)")
    parser.add_argument("version", metavar="VERSION", nargs="?", help="version of the package (default: the highest)")
    add_pages(parser)


def show(session: Session) -> int:
    given, screen = session.options, session.screen
    if given.name is None:
        return _list(session)
    installation = session.installation()
    version = given.version or _latest(session, installation, given.name)
    response = session.api.get("installations", installation, "releases", given.name, version)
    if screen.as_json:
        screen.document(response)
    else:
        screen.show(release_details(screen.style, response))
    return 0


def _list(session: Session) -> int:
    hint = ": one appears when a version of a package is published"
    return show_pages(session, read_pages(session, "releases"), releases_table, what="releases", hint=hint)


def _latest(session: Session, installation: int, name: str) -> str:
    package: Json = session.api.get("installations", installation, "packages", name)
    if not package.get("version"):
        raise CommandError(f"no version of {name} has been published")
    return str(package["version"])
