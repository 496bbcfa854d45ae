"""The start of each function in a new interpreter, compared with boto3 and one client: the minimum of alternating runs.

Measures CPU time, so that other load on the machine doesn't count. Uses the deployed packages, which are read-only on
Lambda: modules without bytecode are compiled at every start.
"""

from __future__ import annotations

import compileall
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from bench import packages
from bench.report import Figure
from local.aws.emulator import CREDENTIALS, REGION
from local.processes import clean_environment

if TYPE_CHECKING:
    from pathlib import Path

    from bench.packages import Package

TURNS = 11
MS = 1000
MOST_PACKAGES = 8
BARE = "import boto3; boto3.client('dynamodb')"
READY = "; import sys, time; print(time.process_time(), len(sys.modules))"
# Functions that call GitHub read the App's secret when they start. Here, it is empty.
RESPOND_WITHOUT_APP = """
import io
from runledger.platform import clients
from botocore.awsrequest import AWSResponse
class Body(io.BytesIO):
    def stream(self): yield self.read()
respond = lambda **_: AWSResponse("", 200, {}, Body(b'{"SecretString": "{}"}'))
clients.session().register("before-send.secrets-manager", respond)
"""
HOW = f"CPU time of a new process, minimum of {TURNS} alternating runs; baseline: import boto3 and one DynamoDB client"
STAGES = {
    "import_botocore": "from runledger.platform import clients",
    "dynamodb_client": "clients.client('dynamodb')",
    "secretsmanager_client": "clients.client('secretsmanager')",
    "ours": "import webhook_intake",
}


def measure(assembly: Path, scratch: Path) -> list[Figure]:
    found: dict[str, list[tuple[float, int]]] = {}
    functions = packages.deployed(assembly)
    intake = functions["webhook_intake"]
    starts = {
        "boto3": (BARE, replace(intake, layers=())),
        **{name: (_importing(name, package), package) for name, package in functions.items()},
        "webhook_intake.compiled": ("import webhook_intake", _compiled(intake, scratch)),
    }
    for _ in range(TURNS):
        for name, (code, package) in starts.items():
            found.setdefault(name, []).append(_start(code, package))
    least = {name: min(turns) for name, turns in found.items()}
    bare_seconds, bare_modules = least.pop("boto3")
    times = [
        Figure(key=f"cold_start.{name}.ms", value=cpu * MS, baseline=bare_seconds * MS, unit="ms", how=HOW, kind="time")
        for name, (cpu, _) in least.items()
    ]
    modules = [
        Figure(
            key=f"cold_start.{name}.modules",
            value=loaded,
            baseline=bare_modules,
            unit="modules",
            how="sys.modules of a function that is ready; baseline: boto3 and one DynamoDB client",
        )
        for name, (_, loaded) in least.items()
        if name in functions
    ]
    return [*times, *modules, *_stages(intake), *_imports(intake)]


def _compiled(package: Package, scratch: Path) -> Package:
    """The same with bytecode in the packages."""
    copies = []
    for number, folder in enumerate(package.layers):
        copies.append(shutil.copytree(folder, scratch / f"compiled{number}"))
        compileall.compile_dir(copies[-1], quiet=2)
    return replace(package, layers=tuple(copies))


def _importing(name: str, package: Package) -> str:
    return (RESPOND_WITHOUT_APP if "GITHUB_APP" in package.environment else "") + f"import {name}"


def _start(code: str, package: Package) -> tuple[float, int]:
    seconds, modules = _run(code + READY, package).split()
    return float(seconds), int(modules)


def _run(code: str, package: Package, *options: str) -> str:
    environment = clean_environment(
        **package.environment,
        **CREDENTIALS,
        AWS_REGION=REGION,
        AWS_DEFAULT_REGION=REGION,
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH=":".join(map(str, package.layers)),
    )
    done = subprocess.run(
        [sys.executable, *options, "-c", code], env=environment, capture_output=True, check=True, text=True
    )
    return done.stderr if options else done.stdout


def _stages(intake: Package) -> list[Figure]:
    """The share of botocore in the start of intake."""
    clock = "import time; at = [time.process_time()]; "
    code = clock + "".join(f"{stage}; at.append(time.process_time()); " for stage in STAGES.values()) + "print(*at)"
    turns = []
    for _ in range(TURNS):
        at = [float(text) for text in _run(code, intake).split()]
        turns.append([later - earlier for earlier, later in pairwise(at)])
    how = f"CPU time of one stage of webhook_intake's start, minimum of {TURNS} runs"
    return [
        Figure(key=f"cold_start.stage.{name}.ms", value=min(seconds) * MS, unit="ms", how=how, kind="time")
        for name, seconds in zip(STAGES, zip(*turns, strict=True), strict=True)
    ]


def _imports(intake: Package) -> list[Figure]:
    """By package, from `-X importtime`; `webhook_intake` itself creates the clients."""
    spent = min((_importing_times(intake) for _ in range(TURNS)), key=Counter.total)
    how = f"-X importtime of webhook_intake: time in the package's own modules, minimum of {TURNS} runs"
    return [
        Figure(key=f"cold_start.import.{name}.ms", value=us / MS, unit="ms", how=how, kind="time")
        for name, us in spent.most_common(MOST_PACKAGES)
    ]


def _importing_times(intake: Package) -> Counter[str]:
    spent: Counter[str] = Counter()
    for line in _run("import webhook_intake", intake, "-X", "importtime").splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            spent[name.strip().partition(".")[0]] += int(own)
    return spent
