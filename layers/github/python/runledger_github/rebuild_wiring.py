"""Composition of the function that rebuilds dependents."""

from runledger.releases.rebuilds import Rebuilds
from runledger.wiring import release_lines

from runledger_github.wiring import CachedPerApp, github_state


@CachedPerApp
def rebuilds() -> Rebuilds:
    github = github_state()
    return Rebuilds(
        table=release_lines.lines_table(),
        lines=release_lines.lines(),
        github=github.app.installation if github else None,
        send=release_lines.queue().send,
    )
