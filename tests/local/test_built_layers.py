"""A deployment takes over the layers that an earlier one has built."""

import os
from pathlib import Path

import pytest

from local.aws import layers


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(layers, "BUILT", tmp_path / "built")
    return tmp_path / "built"


def output_with(folder: Path, *names: str, inside: str = "python") -> Path:
    for name in names:
        (folder / name / inside).mkdir(parents=True)
        (folder / name / inside / "code.py").write_text(name)
    return folder


def test_the_next_deployment_finds_the_layers_of_the_last_one(tmp_path: Path) -> None:
    layers.keep(output_with(tmp_path / "first", "asset.a", "asset.b"))
    layers.reuse(tmp_path / "second")
    found = {each.parent.parent.name: each.read_text() for each in (tmp_path / "second").rglob("code.py")}
    assert found == {"asset.a": "asset.a", "asset.b": "asset.b"}


def test_functions_are_not_kept_because_copying_them_takes_as_long(tmp_path: Path, built: Path) -> None:
    layers.keep(output_with(tmp_path / "first", "asset.function", inside="."))
    assert not list(built.glob("asset.*"))


def test_a_layer_that_the_output_folder_has_is_left_as_it_is(tmp_path: Path) -> None:
    layers.keep(output_with(tmp_path / "first", "asset.a"))
    second = output_with(tmp_path / "second", "asset.a")
    (second / "asset.a" / "python" / "code.py").write_text("its own")
    layers.reuse(second)
    assert (second / "asset.a" / "python" / "code.py").read_text() == "its own"


def test_the_layers_that_were_used_last_are_kept(tmp_path: Path, built: Path) -> None:
    for number in range(layers.KEPT + 2):
        layers.keep(output_with(tmp_path / str(number), f"asset.{number}"))
        os.utime(built / f"asset.{number}", (number, number))
    layers.keep(output_with(tmp_path / "again", "asset.2", "asset.new"))
    kept = {each.name for each in built.glob("asset.*")}
    assert kept == {"asset.2", "asset.new", *(f"asset.{number}" for number in range(4, layers.KEPT + 2))}
