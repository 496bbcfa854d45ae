"""The documents contain what is counted."""

import re

import pytest

from bench import documents, prices
from bench.counts import count
from bench.harness import Harness
from bench.report import Figure, lines
from tests.support.documents import rows, section


@pytest.mark.server
def test_cost_and_scaling_contain_what_is_counted(harness: Harness) -> None:
    counts = count(harness)
    for document in documents.DOCUMENTS:
        text = document.read_text()
        assert "<!-- counted: " in text
        assert documents.updated(text, counts) == text, f"{document.name} has drifted: run `make bench-docs`"


def test_the_documented_prices_are_those_of_the_computation() -> None:
    text = (documents.DOCS / "cost.md").read_text().partition("## Prices")[2]
    documented = {float(found) for found in re.findall(r"\d\.\d+", text)}
    per_million = {"WRITE_UNIT", "READ_UNIT", "LAMBDA_REQUEST", "HTTP_API_REQUEST", "CUSTOM_EVENT", "SQS_REQUEST"}
    computed = {
        *(round(getattr(prices, name) * prices.MILLION, 6) for name in per_million),
        *(prices.WRITE_CAPACITY_HOUR, prices.READ_CAPACITY_HOUR, prices.STORED_GB_MONTH, prices.LAMBDA_GB_SECOND),
        *(prices.LOGGED_GB, prices.METRIC_MONTH, prices.SECRET_MONTH, round(prices.SECRET_CALL * 10_000, 6)),
        *(prices.ALARM_MONTH, prices.DASHBOARD_MONTH),
        *(prices.SNAPSTART_CACHED_GB_SECOND, prices.SNAPSTART_RESTORED_GB),
    }
    assert documented == computed
    assert prices.AS_OF in text


def test_the_savings_really_reached_stand_beside_those_that_were_estimated() -> None:
    _, _, (_, *without), *others = rows(section("cost.md", "Compared with S3"))
    s3 = [float(dollars) for dollars in without[:2]]
    for kind, *cells in others:
        left = [before - float(after) for before, after in zip(s3, cells, strict=False)]
        shares = sorted({round(100 * each / before) for each, before in zip(left, s3, strict=True)})
        a_month = sorted({round(10 * each) for each in left})
        assert cells[2] == f"{' to '.join(map(str, shares))} %", kind
        assert cells[3] == " to ".join(map(str, a_month)), kind
    kinds = [kind.partition(":")[0] for kind, *_ in others]
    assert sum("estimated" in kind for kind in kinds) == 2
    assert sum("reached" in kind for kind in kinds) == 4


def test_an_entry_contains_its_ratio_and_how_it_was_measured() -> None:
    entry = Figure(key="capacity.life.units", value=20, baseline=32, unit="write units", how="by counting")
    assert entry.as_json() == {
        "value": 20,
        "baseline": 32,
        "ratio": 0.625,
        "unit": "write units",
        "how": "by counting",
        "kind": "count",
    }
    assert list(lines([entry]))[1].split() == ["capacity.life.units", "20", "32", "0.62", "write", "units"]
