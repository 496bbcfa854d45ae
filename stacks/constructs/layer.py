"""Lambda layers, built by pip on this machine without Docker, with wheels for Lambda's platform."""

import hashlib
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs import web
from stacks.settings import Settings

ROOT = Path(__file__).parents[2]
LAYERS = ROOT / "layers"
HANDLERS = ROOT / "functions"
LOCKS = ROOT / "requirements" / "locks"
RUNTIME = lambda_.Runtime.PYTHON_3_13
ON_LAMBDA_AT = "/opt/python"
DASHBOARD = "runledger_api/dashboard_built"  # where the API looks for it
ON_LAMBDA = (
    *("--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64"),
    *("--implementation", "cp", "--python-version", "3.13"),
)
# Only files whose hash is in the lock, and no source packages: building one would download and run unverified code.
LOCKED = ("--require-hashes", "--only-binary", ":all:")


def domain_layer(scope: Construct, *, settings: Settings) -> lambda_.LayerVersion:
    """runledger, which every function runs, and the handlers of all functions.

    AWS updates the code of a function and its layers by two calls. In between, the function runs a mixture of two
    versions. With the handlers in this layer, the code never changes, and one call updates the function.
    """
    return _layer(scope, "domain", settings=settings, also=(HANDLERS,))


def github_layer(scope: Construct, *, settings: Settings) -> lambda_.LayerVersion:
    """The GitHub client, for functions that call GitHub. It is separate because its cryptography package is large."""
    return _layer(scope, "github", settings=settings)


def api_layer(scope: Construct, *, settings: Settings) -> lambda_.LayerVersion:
    """The API's routes and response models, pydantic, and the dashboard. Only the API's function needs them."""
    return _layer(scope, "api", settings=settings, dashboard=DASHBOARD)


def _layer(
    scope: Construct, name: str, *, settings: Settings, also: tuple[Path, ...] = (), dashboard: str | None = None
) -> lambda_.LayerVersion:
    """One per stack: a layer that another stack imports can't be updated."""
    source = LAYERS / name
    wheels = () if settings.architecture == "host" else ON_LAMBDA
    bundling = _PipBundling((source / "python", *also), LOCKS / f"{name}.txt", wheels, dashboard)
    layer = lambda_.LayerVersion(
        scope,
        f"{name.capitalize()}Layer",
        description=f"runledger: {name}",
        compatible_runtimes=[RUNTIME],
        compatible_architectures=[architecture(settings)],
        code=lambda_.Code.from_asset(
            str(source),
            asset_hash=bundling.fingerprint(),
            bundling=cdk.BundlingOptions(image=cdk.DockerImage.from_registry("never-used"), local=bundling),
        ),
    )
    if not bundling.compiler():
        cdk.Annotations.of(layer).add_warning_v2(
            "runledger:layerNotCompiled",
            f"There is no {RUNTIME.name} on this machine, so the layer has no compiled files: each cold start compiles "
            f"them again, which takes 60 ms and more. Install {RUNTIME.name} and deploy again.",
        )
    return layer


def architecture(settings: Settings) -> lambda_.Architecture:
    """A local deployment runs its functions as processes on this machine."""
    if settings.architecture == "host" and platform.machine() not in ("arm64", "aarch64"):
        return lambda_.Architecture.X86_64
    return lambda_.Architecture.ARM_64


@jsii.implements(cdk.ILocalBundling)
class _PipBundling:
    def __init__(self, sources: tuple[Path, ...], lock: Path, wheels: tuple[str, ...], dashboard: str | None) -> None:
        self._sources = sources
        self._lock = lock
        self._wheels = wheels
        self._dashboard = dashboard

    def try_bundle(self, output_dir: str, *_: object, **__: object) -> bool:
        target = Path(output_dir) / "python"
        for source in self._sources:
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        files = ("--requirement", str(self._lock), "--target", str(target))
        subprocess.run((*pip, *LOCKED, *self._wheels, *files), check=True)  # noqa: S603
        if self._dashboard:
            web.build(target / self._dashboard)
        if python := self.compiler():
            self._compile(python, target)
        return True

    def compiler(self) -> str | None:
        """A Python on this machine whose compiled files the function can load: Lambda's version, or the host's own."""
        return _python_of_lambda() if self._wheels else sys.executable

    def _compile(self, python: str, target: Path) -> None:
        """A layer is read-only, so files that aren't compiled here are compiled at every cold start, in 60 ms or more.

        The bytecode isn't checked against the source's date, which the zip file doesn't keep. It contains the paths on
        Lambda, so that tracebacks show the source.
        """
        compiling = (python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
        named = ("-s", str(target), "-p", ON_LAMBDA_AT)
        subprocess.run((*compiling, *named, str(target)), check=True, stdout=subprocess.DEVNULL)  # noqa: S603

    def fingerprint(self) -> str:
        """Changes only if the result would change. Then pip runs again."""
        compiled = (sys.version_info[:2] if not self._wheels else RUNTIME.name) if self.compiler() else None
        digest = hashlib.sha256(repr((self._wheels, compiled)).encode())
        copied = [(source, file) for source in self._sources for file in sorted(source.rglob("*.py"))]
        others = [(ROOT, file) for file in (self._lock, Path(__file__), *(web.sources() if self._dashboard else ()))]
        for folder, file in (*copied, *others):
            digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()


@cache
def _python_of_lambda() -> str | None:
    """Bytecode is valid for all patch releases of one Python version, and for no other version."""
    for python in filter(None, (sys.executable, shutil.which(RUNTIME.name))):
        asked = (python, "-c", "import sys; print('python%d.%d' % sys.version_info[:2])")
        found = subprocess.run(asked, check=False, capture_output=True, text=True)  # noqa: S603
        if found.stdout.strip() == RUNTIME.name:
            return python
    return None
