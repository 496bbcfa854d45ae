"""Steps of a job cannot read the JIT config or the presigned address from any process of the container.

Steps may become root, and only root may look into the entrypoint, so these tests are skipped for other users. CI runs
this file as root.
"""

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.runner.conftest import container, launcher  # noqa: F401 - fixtures
from tests.runner.container import JIT_CONFIG, ROOT, RSA_KEY, SECRETS, Container, config
from tests.runner.launcher import SIGNATURE, Launcher

DOCKERFILE = ROOT / "runner" / "Dockerfile"
DIGEST = f"@sha256:{'0123456789abcdef' * 4}"
# The entrypoint, to which ECS sends a SIGTERM in the moment before it starts itself afresh.
STOPPED_AT_EXEC = """
import os, signal, sys
from runner import entrypoint, handover
execve = os.execve
def stopped(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    execve(*arguments)
handover.os.execve = stopped
sys.exit(entrypoint.main())
"""


def processes(top: int) -> Iterator[int]:
    yield top
    with suppress(FileNotFoundError, ProcessLookupError):  # it may end at any time
        for child in Path(f"/proc/{top}/task/{top}/children").read_text().split():
            yield from processes(int(child))


@contextmanager
def looking_into_processes() -> Iterator[None]:
    """Skips the test, rather than letting it pass, if it may not look into the entrypoint."""
    try:
        yield
    except PermissionError:
        if os.geteuid() == 0:
            raise
        pytest.skip("only root may look into the entrypoint")


def environments_and_arguments(top: int) -> dict[tuple[int, str], bytes]:
    """By process and by their name in /proc."""
    found = {}
    for pid in processes(top):
        for name in ("environ", "cmdline"):
            with looking_into_processes(), suppress(FileNotFoundError, ProcessLookupError):  # it may end at any time
                found[pid, name] = Path(f"/proc/{pid}/{name}").read_bytes()
    return found


def open_files(top: int) -> dict[int, list[str]]:
    """By process."""
    found = {}
    for pid in processes(top):
        with looking_into_processes(), suppress(FileNotFoundError, ProcessLookupError):
            found[pid] = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
    return found


@pytest.mark.parametrize("variable", ["RUNNER_CONFIG", "RUNNER_CONFIG_URL"])
def test_no_process_has_a_secret_in_its_environment_or_arguments(
    container: Container,  # noqa: F811
    launcher: Launcher,  # noqa: F811
    variable: str,
) -> None:
    launcher.config = config().encode()
    given = {"RUNNER_CONFIG": config(), "RUNNER_CONFIG_URL": launcher.config_url}
    container.start_working(**{"RUNNER_CONFIG": ""} | {variable: given[variable]})
    entrypoint = container.process.pid
    found = environments_and_arguments(entrypoint)
    assert found[entrypoint, "environ"]
    assert found[entrypoint, "cmdline"]
    assert len({pid for pid, _ in found}) >= 3, "the entrypoint, run.sh and the worker"
    secrets = [each.encode() for each in (JIT_CONFIG, RSA_KEY, SIGNATURE)]
    assert [where for where, content in found.items() if any(secret in content for secret in secrets)] == []
    inherited = container.read("environment")
    assert not [name for name in ("RUNNER_CONFIG", "JITCONFIG", "DESCRIPTOR") if name in inherited]


def test_the_entrypoint_forgets_the_jit_config_before_a_job_runs(container: Container) -> None:  # noqa: F811
    """Its memory doesn't contain it either: root can read memory, and steps of a job may become root."""
    container.start_working()
    found = [secret for secret in (JIT_CONFIG, RSA_KEY) if secret.encode() in memory(container.process.pid)]
    assert found == []


def memory(pid: int) -> bytes:
    content = b""
    with looking_into_processes(), Path(f"/proc/{pid}/mem").open("rb", buffering=0) as mem:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end, mode = re.match(r"(\w+)-(\w+) (\S+)", line).groups()  # type: ignore[union-attr]
            if mode.startswith("rw") and "[v" not in line:
                mem.seek(int(start, 16))
                content += mem.read(int(end, 16) - int(start, 16))
    assert b"i-0abc" in content, "the runner's name is there"
    return content


def test_no_descriptor_with_the_config_is_left_open(container: Container) -> None:  # noqa: F811
    container.start_working()
    found = open_files(container.process.pid)
    assert found[container.process.pid], "the entrypoint has at least its output open"
    assert [target for targets in found.values() for target in targets if "memfd" in target] == []


def test_the_files_of_the_runner_are_private(container: Container) -> None:  # noqa: F811
    """Also those that are there already, with other permissions."""
    file = container.home / ".credentials_rsaparams"
    file.write_text("old")
    file.chmod(0o666)
    container.start_listening()
    assert file.read_text() == RSA_KEY
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_in_the_home_folder_is_replaced_and_not_followed(
    container: Container,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "target"
    target.write_text("untouched")
    (container.home / ".runner").symlink_to(target)
    container.start_listening()
    assert target.read_text() == "untouched"


def test_a_stop_while_the_entrypoint_starts_afresh_is_not_lost(container: Container) -> None:  # noqa: F811
    container.command = ("-c", STOPPED_AT_EXEC)
    container.start()
    assert container.exit_code() == 143
    assert not container.marked("listening")
    assert not [secret for secret in SECRETS if secret in container.output()]


def check_of_the_base_image() -> str:
    """The first command of the Dockerfile."""
    lines = DOCKERFILE.read_text().partition("\nRUN ")[2]
    return lines[: re.search(r"[^\\]\n", lines).end()].replace("\\\n", "")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("image", "accepted"),
    [
        (f"ghcr.io/actions/actions-runner{DIGEST}", True),
        (f"ghcr.io/actions/actions-runner:2.330.0{DIGEST}", True),
        ("ghcr.io/actions/actions-runner:latest", False),
        ("ghcr.io/actions/actions-runner:2.330.0", False),
        ("ghcr.io/actions/actions-runner@sha256:", False),
        ("ghcr.io/actions/actions-runner@sha256:0123", False),
        (f"ghcr.io/actions/actions-runner{DIGEST.upper()}", False),
        (f"ghcr.io/actions/actions-runner{DIGEST}0", False),
        ("", False),
    ],
)
def test_an_image_is_built_from_a_digest_only(image: str, accepted: bool) -> None:
    built = subprocess.run(
        ["sh", "-c", check_of_the_base_image()],
        env={"RUNNER_IMAGE": image, "PATH": os.environ["PATH"]},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (built.returncode == 0) is accepted
    assert accepted or "RUNNER_IMAGE must name an image by its digest" in built.stderr


def test_the_base_image_has_no_default() -> None:
    text = DOCKERFILE.read_text()
    assert "\nARG RUNNER_IMAGE\nFROM ${RUNNER_IMAGE}\n" in text
    assert ":latest" not in text
