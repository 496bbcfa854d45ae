"""`make soak`: many jobs on a deployment of its own, under faults; exits with 1 if a job or delivery isn't right."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from local.aws import deployment, emulator
from local.github import simulator
from local.processes import LocalError
from tests.soak import lives, soak
from tests.support.deployed import pause_schedules

SHOWN = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak")
    parser.add_argument("--lives", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with emulator.running(folder) as aws_url, simulator.running(folder) as github_url:
            outputs = deployment.deploy(aws_url, folder, github_api_url=github_url)
            pause_schedules(outputs)
            result = soak.play(outputs, lives.workload(given.lives, seed=given.seed), seed=given.seed)
    print("\n".join(result.violations[:SHOWN]))
    print("\n".join(result.lines()))
    print(f"{given.lives:,} jobs from seed {given.seed} in {time.monotonic() - started:.0f} s")
    return 1 if result.violations else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocalError as problem:
        sys.exit(f"soak: {problem}")
