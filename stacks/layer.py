"""Lambda layers built by pip on this machine: no Docker, and wheels for the platform that will run them."""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.parts import removal_policy
from stacks.settings import Settings

ROOT = Path(__file__).parent.parent
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"
RUNTIME = lambda_.Runtime.PYTHON_3_13
ON_LAMBDA = (
    *("--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64"),
    *("--implementation", "cp", "--python-version", "3.13", "--only-binary", ":all:"),
)


def domain_layer(scope: Construct, *, settings: Settings) -> lambda_.LayerVersion:
    """runledger, which every function runs."""
    return _layer(scope, "domain", requirements="runtime.txt", settings=settings)


def github_layer(scope: Construct, *, settings: Settings) -> lambda_.LayerVersion:
    """The GitHub client, for the functions that ask GitHub: its cryptography is heavy, and intake stays light."""
    return _layer(scope, "github", requirements="github.txt", settings=settings)


def _layer(scope: Construct, name: str, *, requirements: str, settings: Settings) -> lambda_.LayerVersion:
    """Made anew in each stack: a layer shared across stacks cannot be updated, for its export is in use."""
    source = ROOT / "layers" / name
    wheels = () if settings.architecture == "host" else ON_LAMBDA
    bundling = _PipBundling(source / "python", ROOT / "requirements" / requirements, wheels)
    return lambda_.LayerVersion(
        scope,
        f"{name.capitalize()}Layer",
        description=f"runledger: {name}",
        compatible_runtimes=[RUNTIME],
        compatible_architectures=[architecture(settings)],
        removal_policy=removal_policy(settings),
        code=lambda_.Code.from_asset(
            str(source),
            asset_hash=bundling.fingerprint(),
            bundling=cdk.BundlingOptions(image=cdk.DockerImage.from_registry("never-used"), local=bundling),
        ),
    )


def architecture(settings: Settings) -> lambda_.Architecture:
    """A local deployment runs its functions as processes of this machine."""
    if settings.architecture == "host" and platform.machine() not in ("arm64", "aarch64"):
        return lambda_.Architecture.X86_64
    return lambda_.Architecture.ARM_64


@jsii.implements(cdk.ILocalBundling)
class _PipBundling:
    def __init__(self, source: Path, requirements: Path, wheels: tuple[str, ...]) -> None:
        self._source = source
        self._requirements = requirements
        self._wheels = wheels

    def try_bundle(self, output_dir: str, *_: object, **__: object) -> bool:
        target = Path(output_dir) / "python"
        shutil.copytree(self._source, target, ignore=shutil.ignore_patterns("__pycache__"))
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        files = ("--requirement", str(self._requirements), "--constraint", str(CONSTRAINTS))
        subprocess.run((*pip, *files, *self._wheels, "--target", str(target)), check=True)  # noqa: S603
        return True

    def fingerprint(self) -> str:
        """Changes when the result would: then pip runs again, and only then."""
        digest = hashlib.sha256(repr(self._wheels).encode())
        for file in (*sorted(self._source.rglob("*.py")), self._requirements, CONSTRAINTS):
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()
