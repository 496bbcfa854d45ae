"""Runs the commands of a document as a reader would, on an emulated AWS."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass

from local.aws import emulator
from tests.support.documents import DOCS

ROOT = DOCS.parent
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\n    .*)*)", re.MULTILINE)
# `make` would install what the checkout lacks; its recipe is this command.
RECOVER = re.compile(r'make recover ARGS="(.*)"')
LAYERS = os.pathsep.join(str(ROOT / "layers" / layer / "python") for layer in ("domain", "github", "api"))

has_tools = all(map(shutil.which, ("aws", "jq", "openssl", "curl")))


def commands(text: str) -> list[str]:
    """The commands, with the lines that continue them, also from blocks within a list."""
    blocks = [textwrap.dedent(content) for _, content in BLOCK.findall(text)]
    return [command for block in blocks for command in COMMAND.findall(block)]


@dataclass(frozen=True, kw_only=True)
class Shell:
    """`replaced` are texts that differ on the emulator, such as the address of the API."""

    url: str
    preparation: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()

    def run(self, *lines: str, **variables: str) -> str:
        script = "\n".join(["set -e", *self.preparation, *lines])
        for document, emulated in self.replaced:
            script = script.replace(document, emulated)
        script = RECOVER.sub(rf'"{sys.executable}" -m recovery \1', script)
        # Version 1 of the aws command reads the address of SQS from no variable.
        script = script.replace("aws sqs ", f"aws --endpoint-url {self.url} sqs ")
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=ROOT,
            env=self._environment() | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{script}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def _environment(self) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **emulator.CREDENTIALS,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_DEFAULT_REGION": emulator.REGION,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "cli"), LAYERS]),
            "PYTHONWARNINGS": "ignore",
        }
