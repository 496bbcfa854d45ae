"""Renders installations and their repositories."""

from __future__ import annotations

from typing import Any

from runledger_cli.rendering.style import Style, tone_of
from runledger_cli.rendering.tables import Cell, Column, table

INSTALLATIONS = (
    Column(title="INSTALLATION", right=True),
    *(Column(title=each) for each in ("ORGANISATION", "STATUS", "FIRST SEEN")),
)
REPOSITORIES = (Column(title="REPOSITORY", shrinks=True), Column(title="JOBS", right=True))


def installations_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            each["installation_id"],
            each.get("org_name"),
            Cell(each.get("status"), tone_of(each.get("status"))),
            style.time(each.get("first_seen_at")),
        )
        for each in items
    ]
    return table(style, INSTALLATIONS, rows)


def repositories_table(style: Style, items: list[dict[str, Any]]) -> list[str]:
    return table(style, REPOSITORIES, [(each["repo_full_name"], f"{each['jobs']:,}") for each in items])
