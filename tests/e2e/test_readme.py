"""The commands of the README work as written, on the demo that it describes."""

import re
import subprocess
from pathlib import Path

from local.aws.outputs import Outputs
from local.demo.payloads.entities import Job
from local.demo.steps import deliveries
from local.demo.workload import Played

ROOT = Path(__file__).parent.parent.parent
ELLIPSIS = "https://github.com/acme/storefront/actions/runs/…/job/…"


def shown() -> list[str]:
    """The commands of the README's first section that call a deployment."""
    section = (ROOT / "README.md").read_text().partition("\n## Try it on your machine\n")[2].partition("\n## ")[0]
    return [line for line in re.findall(r"^\$ (.*)$", section, re.MULTILINE) if not line.startswith("make ")]


def test_every_command_of_the_first_look_works(outputs: Outputs, played: Played, tmp_path: Path) -> None:
    subjects = [each.subject for each in deliveries(played.steps)]
    job = next(
        each for each in subjects if isinstance(each, Job) and each.run.repository.full_name == "acme/storefront"
    )
    (tmp_path / ".local").mkdir()
    outputs.save(tmp_path / ".local" / "outputs.json")
    commands = shown()
    assert commands[0] == "export PATH=$PWD/.venv/bin:$PATH"
    assert len(commands) == 7
    for command in commands[1:]:
        page = f"https://github.com/acme/storefront/actions/runs/{job.run.id}/job/{job.id}"
        line = command.replace(ELLIPSIS, page).replace("curl", "curl -sSf")
        result = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env={
                "PATH": f"{ROOT}/.venv/bin:/usr/local/bin:/usr/bin:/bin",
                "RUNLEDGER_TOKEN": outputs.admin_token,
                "RUNLEDGER_API_URL": outputs.api_url,
            },
            check=False,
            capture_output=True,
            text=True,
        )
        assert (result.returncode, result.stderr) == (0, ""), line
        assert result.stdout.strip(), line
