"""The bench refers to modules and functions of the product by name: a rename must not make a figure silently zero."""

import importlib.util
import re
from pathlib import Path

import botocore
import pytest
from runledger_api.wiring import ApiSettings

from bench import cold_start, cpu, packages
from tests.support.settings import SETTINGS, WIRING
from tests.support.synthesis import Templates

ROOT = Path(__file__).parents[2]
BOTOCORE = Path(botocore.__file__).parent
SOURCES = [*ROOT.glob("functions/*.py"), *ROOT.glob("layers/*/python/**/*.py"), *BOTOCORE.glob("*.py")]


@pytest.mark.parametrize(("module", "function"), cpu.PARTS)
def test_every_part_of_the_profile_exists(module: str, function: str) -> None:
    files = [file for file in SOURCES if file.stem == module]
    assert any(re.search(rf"^ *def {function}\b", file.read_text(), re.MULTILINE) for file in files)


def test_every_stage_of_a_cold_start_imports_what_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    namespace: dict[str, object] = {}
    for stage in cold_start.STAGES.values():
        exec(stage, namespace)  # noqa: S102


def test_the_api_starts_with_the_environment_that_the_cold_start_replaces(
    templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = [each["Properties"] for each in templates["api"]["Resources"].values()]
    [function] = [each for each in resources if each.get("Handler") == "api.handler"]
    for name, value in packages.environment(function).items():
        monkeypatch.setenv(name, value)
    assert ApiSettings.from_environment().dead_letter_queues


def test_a_cold_function_clears_the_caches_of_every_composition_root() -> None:
    roots = ("runledger.wiring.recording", "runledger_api.wiring", "runledger_github.reconciler_wiring")
    for name in roots:
        assert importlib.util.find_spec(name)
        assert WIRING.fullmatch(name)
