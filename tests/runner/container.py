"""A container without Docker: the real entrypoint as a process, with a fake runner in its home."""

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runner.launcher import SIGNATURE
from tests.support.polling import eventually

ROOT = Path(__file__).parents[2]
FAKE_RUNNER = Path(__file__).parent / "fake_runner"
LONG_ENOUGH_SECONDS = 60


def encoded(files: object) -> str:
    """A JIT config, encoded as GitHub does."""
    return base64.b64encode(json.dumps(files).encode()).decode()


RSA_KEY = "a-private-key-of-the-runner"
JIT_CONFIG = encoded(
    {".runner": "c2VjcmV0LXJ1bm5lcg==", ".credentials_rsaparams": base64.b64encode(RSA_KEY.encode()).decode()}
)
REMOVE_TOKEN = "AREMOVETOKENTHATNOBODYMAYSEE"
SECRETS = (JIT_CONFIG, REMOVE_TOKEN, SIGNATURE)


def config(**fields: object) -> str:
    given = {"jit_config": JIT_CONFIG, "runner_name": "i-0abc", "labels": ["self-hosted"], "repo": "octo/app"}
    return json.dumps(given | fields)


class Container:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.command: tuple[str, ...] = ("-m", "runner.entrypoint")  # as in the image
        self._out, self._err = folder / "stdout", folder / "stderr"
        self._process: subprocess.Popen[bytes] | None = None
        shutil.copytree(FAKE_RUNNER, self.home)

    def start(self, **environ: str) -> None:
        environ = {"PATH": "/usr/bin:/bin", "RUNNER_HOME": str(self.home), "RUNNER_CONFIG": config()} | environ
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                (sys.executable, *self.command), cwd=ROOT, env=environ, stdout=out, stderr=err, start_new_session=True
            )

    def start_listening(self, **environ: str) -> None:
        self.start(**environ)
        self.wait_for("listening")

    def start_working(self, **environ: str) -> None:
        self.start_listening(FAKE_JOB="1", **environ)
        self.wait_for("job_started")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process
        return self._process

    def exit_code(self) -> int:
        return self.process.wait(LONG_ENOUGH_SECONDS)

    def mark(self, *names: str) -> None:
        for name in names:
            (self.home / name).touch()

    def marked(self, name: str) -> bool:
        return (self.home / name).exists()

    def wait_until(self, check: Callable[[], bool], what: str) -> None:
        eventually(check, lambda: f"{what}: {self.output()}", seconds=LONG_ENOUGH_SECONDS, pause=0.02)

    def wait_for(self, name: str) -> None:
        self.wait_until(lambda: self.marked(name), f"the fake runner came to {name!r}")

    def wait_for_message(self, message: str) -> None:
        self.wait_until(lambda: message in self.messages(), f"{message!r} was logged")

    def read(self, name: str) -> str:
        return (self.home / name).read_text()

    def stdout(self) -> str:
        return self._out.read_text()

    def output(self) -> str:
        return self.stdout() + self._err.read_text()

    def logs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._err.read_text().splitlines()]

    def messages(self) -> list[str]:
        return [line["message"] for line in self.logs()]

    def clean_up(self) -> None:
        """Ends what a failed test left behind: the fakes by their markers, the entrypoint by its id."""
        self.mark("leave", "finish_job", "release_orphan", "finish_removal")
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
