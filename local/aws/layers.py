"""Layers that an earlier deployment has built. The CDK runs pip only for layers that its output folder doesn't have."""

import shutil
import tempfile
from pathlib import Path

from local import ROOT

BUILT = ROOT / ".local" / "cache" / "layers"
KEPT = 12  # three for each of the last versions of the sources


def reuse(output: Path) -> None:
    """Copy built layers into the output folder. The name of a layer contains a hash of its sources."""
    for layer in BUILT.glob("asset.*"):
        if not (output / layer.name).exists():
            _copy(layer, output)


def keep(output: Path) -> None:
    """Keep the built layers for the next deployment. Several deployments may do this at the same time."""
    built = [each for each in output.glob("asset.*") if (each / "python").is_dir()]
    for layer in built:
        if (BUILT / layer.name).exists():
            (BUILT / layer.name).touch()
        else:
            _copy(layer, BUILT)
    for old in sorted(BUILT.glob("asset.*"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def _copy(layer: Path, folder: Path) -> None:
    """Copy atomically: the folder never contains part of a layer."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        copy = shutil.copytree(layer, Path(scratch) / layer.name)
        copy.touch()
        try:
            copy.rename(folder / layer.name)
        except OSError:
            if not (folder / layer.name).exists():
                raise
