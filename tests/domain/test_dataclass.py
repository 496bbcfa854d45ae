"""The project's `dataclass` behaves as the standard library's, except that only mypy checks `frozen`."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from runledger.model.dataclass import dataclass

ROOT = Path(__file__).parents[2]
FROZEN = """
from runledger.model.dataclass import dataclass

@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int

Point(x=1).x = 2
Point(1)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    y: int = 0
    label: str = dataclasses.field(default="", repr=False)


@dataclass(slots=True)
class Counter:
    number: int = 0


def test_instances_of_one_class_are_equal_if_all_values_are() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert Point(x=1) != Point(x=1, label="a")
    assert {Point(x=1): "found"}[Point(x=1)] == "found"


def test_instances_of_two_classes_are_never_equal() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Other:
        x: int
        y: int = 0
        label: str = ""

    point, other = Point(x=1), Other(x=1)
    assert point.__eq__(other) is NotImplemented


def test_a_class_that_is_not_frozen_has_no_hash() -> None:
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_fields_with_a_secret_are_not_printed() -> None:
    assert repr(Point(x=1, label="secret")) == "Point(x=1, y=0)"


def test_the_functions_of_the_standard_library_work() -> None:
    point = Point(x=1, label="a")
    assert dataclasses.replace(point, y=2) == Point(x=1, y=2, label="a")
    assert dataclasses.asdict(point) == {"x": 1, "y": 0, "label": "a"}
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301
    assert not hasattr(point, "__dict__")


def test_mypy_rejects_an_assignment_to_a_frozen_class_and_positional_arguments(tmp_path: Path) -> None:
    file = tmp_path / "frozen.py"
    file.write_text(FROZEN)
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(file)]
    found = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout
    assert 'Property "x" defined in "Point" is read-only' in found
    assert "Too many positional arguments" in found
