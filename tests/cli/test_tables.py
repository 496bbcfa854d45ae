"""Tables are aligned everywhere, fit a terminal, and are whole in a pipe."""

import io
from datetime import UTC, datetime

from runledger_cli.rendering.style import Style, Tone
from runledger_cli.rendering.tables import Cell, Column, pairs, table
from runledger_cli.screen import Screen

NOW = datetime(2025, 1, 15, 11, tzinfo=UTC)
PIPE = Style(now=NOW)
COLUMNS = (Column(title="NAME", shrinks=True), Column(title="JOBS", right=True), Column(title="WHY"))
ROWS = [("🚀 deploy to production", 7, None), ("build", Cell(1_200, Tone.BAD), "slow")]


def test_columns_are_aligned_also_below_emoji() -> None:
    assert table(PIPE, COLUMNS, ROWS) == [
        "NAME                     JOBS  WHY",
        "🚀 deploy to production     7  -",
        "build                    1200  slow",
    ]


def test_on_a_terminal_the_widest_names_give_way() -> None:
    assert table(Style(now=NOW, width=26), COLUMNS, ROWS) == [
        "NAME            JOBS  WHY",
        "🚀 deploy to…      7  -",
        "build           1200  slow",
    ]


def test_on_a_narrow_terminal_optional_columns_are_omitted_until_the_table_fits() -> None:
    columns = (*COLUMNS[:2], Column(title="REASON", optional=1), Column(title="RUNNER", optional=2))
    rows = [("🚀 deploy to production", 7, "slow", "i-0abc")]
    titles = {width: table(Style(now=NOW, width=width), columns, rows)[0] for width in (34, 26, 16)}
    assert titles == {
        34: "NAME          JOBS  REASON  RUNNER",
        26: "NAME          JOBS  REASON",
        16: "NAME        JOBS",
    }
    assert table(PIPE, columns, rows)[0].endswith("RUNNER")


def test_prose_exceeds_the_width_and_narrows_no_other_column() -> None:
    columns = (*COLUMNS[:2], Column(title="WHY", flows=True))
    rows = [("build and test", 7, "because no runner is scheduled for it")]
    assert table(Style(now=NOW, width=30), columns, rows)[1] == f"build and test     7  {rows[0][2]}"


def test_colour_goes_around_the_cell_and_does_not_move_it() -> None:
    style, out = Style(now=NOW, colour=True), io.StringIO()
    Screen(out=out, notes=out, style=style).show(table(style, COLUMNS, ROWS))
    assert out.getvalue().splitlines()[2] == "build                    \x1b[31m1200\x1b[0m  slow"


def test_facts_that_are_not_known_are_left_out() -> None:
    assert pairs(PIPE, [("runner", "i-0abc"), ("environment", None)]) == ["  runner  i-0abc"]
