"""Deployed packages: functions and their layers, from the CDK assembly."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.report import Figure

if TYPE_CHECKING:
    from pathlib import Path

KILOBYTE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """`handler` is a file in the first layer. Values that are only known at deployment are replaced."""

    handler: Path
    layers: tuple[Path, ...]
    environment: dict[str, str]


def deployed(assembly: Path) -> dict[str, Package]:
    """By the file name of the function."""
    found = {}
    for file in sorted(assembly.glob("*.template.json")):
        resources = json.loads(file.read_text())["Resources"]
        for resource in resources.values():
            if resource["Type"] == "AWS::Lambda::Function" and "Layers" in resource["Properties"]:
                about = resource["Properties"]
                layers = [_asset(assembly, resources[layer["Ref"]]) / "python" for layer in about["Layers"]]
                name = about["Handler"].partition(".")[0]
                found[name] = Package(
                    handler=layers[0] / f"{name}.py",
                    layers=tuple(layers),
                    environment=environment(about),
                )
    return found


def environment(function: dict[str, Any]) -> dict[str, str]:
    """The variables of a function. Values that are only known at deployment are replaced, even within a longer text."""
    return {key: _text(value) for key, value in function["Environment"]["Variables"].items()}


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_text, parts))
        case _:
            return "known-when-deployed"


def measure(assembly: Path, scratch: Path) -> list[Figure]:
    packages = deployed(assembly)
    layers = {layer for package in packages.values() for layer in package.layers}
    deployed_files = {f"layer.{_holds(layer)}": sorted(layer.rglob("*")) for layer in layers}
    deployed_files["function.webhook_intake"] = [packages["webhook_intake"].handler]
    return [entry for name, files in sorted(deployed_files.items()) for entry in _sizes(name, files, scratch)]


def _asset(assembly: Path, resource: dict[str, Any]) -> Path:
    return assembly / str(resource["Metadata"]["aws:asset:path"])


def _holds(layer: Path) -> str:
    return min((folder.name for folder in layer.glob("runledger*")), key=len)


def _sizes(name: str, paths: list[Path], scratch: Path) -> list[Figure]:
    files = [path for path in paths if path.is_file()]
    archive = scratch / f"{name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            packed.write(file, str(file).rpartition("/python/")[2])
    sizes = {"kb": sum(file.stat().st_size for file in files), "zipped_kb": archive.stat().st_size}
    how = "as `cdk deploy` made it for this machine"
    return [
        Figure(key=f"package.{name}.{what}", value=size / KILOBYTE, unit="KB", how=how) for what, size in sizes.items()
    ]
