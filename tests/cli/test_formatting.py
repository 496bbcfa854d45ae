"""Durations and dollars have units, and no name can send control characters to a terminal."""

import pytest
from runledger_cli.rendering import formatting


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "-"),
        (0, "0 ms"),
        (0.34, "340 ms"),
        (1, "1.0 s"),
        (9.94, "9.9 s"),
        (12.3, "12 s"),
        (59.6, "1m 00s"),
        (63, "1m 03s"),
        (3_725, "1h 02m"),
        (100_000, "1d 03h"),
        (5_000_000, "57d 20h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float | None, expected: str) -> None:
    assert formatting.duration(seconds) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (None, "-"),
        (0, "$0.00"),
        (0.000001, "$0.000001"),
        (0.00598, "$0.00598"),
        ("0.0357", "$0.0357"),
        (0.01, "$0.01"),
        (0.3, "$0.30"),
        (-0.25, "-$0.25"),
        (-12.345, "-$12.35"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars_keep_enough_digits_to_compare_jobs(amount: float | str | None, expected: str) -> None:
    assert formatting.dollars(amount) == expected


def test_control_characters_of_a_name_are_shown_and_not_obeyed() -> None:
    assert formatting.printable("\x1b[2Jmine\t\nnext\u202e") == "\ufffd[2Jmine  next\ufffd"


def test_emoji_take_two_columns_and_accents_none() -> None:
    assert formatting.width("🚀 e\N{COMBINING ACUTE ACCENT}") == 4


def test_what_is_too_long_ends_in_an_ellipsis_within_its_columns() -> None:
    assert formatting.shorten("deploy to production", 10) == "deploy to…"
    assert formatting.shorten("🚀🚀🚀", 4) == "🚀…"
    assert formatting.shorten("build", 5) == "build"
