"""Deploys the real CDK app to the emulated AWS."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from local import ROOT
from local.aws import layers, outputs
from local.aws.emulator import CREDENTIALS, REGION
from local.aws.outputs import Outputs
from local.github import webhooks as github_webhooks
from local.processes import LocalError, clean_environment, tail

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


OUTPUTS = "outputs.json"
LOG = "cdk.log"
SOURCES = ("app.py", "cdk.json", "stacks", "functions", "layers", "requirements", "web")
RUNNER_TAGS = {"runledger:runner": "demo"}
CONTEXT = {
    "stage": "local",
    "throw_away": "true",
    "architecture": "host",
    "orphans": "enforce",
    "runner_tags": ",".join(f"{name}={value}" for name, value in RUNNER_TAGS.items()),
    "orphan_grace_minutes": "0",  # the second of two passes cleans up what the first one suspects
    "releases": "true",
    "rebuild_dependents": "enforce",
}
_ACCOUNT = "000000000000"
_DEPLOYED = "\N{WHITE HEAVY CHECK MARK}  "

Progress = Callable[[str], None]
Stacks = dict[str, dict[str, str]]


def deploy(
    endpoint_url: str,
    folder: Path,
    *,
    github_api_url: str,
    progress: Progress = print,
    app_folder: Path = ROOT,
    assets_folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Outputs:
    """Bootstrap and deploy every stack, and write `outputs.json` into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG).unlink(missing_ok=True)
    cdk = _Cdk(endpoint_url, folder, progress, context={})
    # Not in the folder of cdk.json: bootstrap would synthesise the app, which it doesn't need.
    cdk.run("bootstrap", f"aws://{_ACCOUNT}/{REGION}", working_folder=folder)
    stacks = deploy_stacks(
        endpoint_url,
        folder,
        github_api_url=github_api_url,
        progress=progress,
        app_folder=app_folder,
        assets_folder=assets_folder,
        settings=settings,
    )
    file = folder / OUTPUTS
    previous = Outputs.load(file)
    token = previous.admin_token if previous else f"rl_{secrets.token_urlsafe(32)}"
    deployed = outputs.compose(
        stacks,
        endpoint_url=endpoint_url,
        github_api_url=github_api_url,
        webhook_secret=_exchange_secrets(endpoint_url, outputs.merge(stacks), token, _app(github_api_url)),
        admin_token=token,
    )
    if failure := problem(deployed):
        raise LocalError(f"the webhook {deployed.webhook_url} doesn't accept a ping: {failure}")
    deployed.save(file)
    return deployed


def deploy_stacks(
    endpoint_url: str,
    folder: Path,
    *,
    github_api_url: str,
    progress: Progress = print,
    app_folder: Path = ROOT,
    assets_folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Stacks:
    """Runs only `cdk deploy`, as an upgrade does: secrets are unchanged. Returns the outputs of each stack."""
    context = CONTEXT | {"github_api_url": github_api_url, **(settings or {})}
    cdk = _Cdk(endpoint_url, folder, progress, context=context)
    stacks_file = folder / "stacks.json"
    arguments = ("--all", "--require-approval", "never", "--outputs-file", str(stacks_file))
    assets = assets_folder or folder / "cdk.out"
    layers.reuse(assets)
    cdk.run("deploy", *arguments, working_folder=app_folder, assets_folder=assets)
    layers.keep(assets)
    stacks: Stacks = json.loads(stacks_file.read_text())
    return stacks


def problem(deployed: Outputs) -> str | None:
    """Send a ping to the webhook and return its error, if any. This also starts the function for the next delivery."""
    try:
        response = github_webhooks.deliver(
            deployed.webhook_url, deployed.webhook_secret, "ping", b'{"zen": "Keep it simple."}'
        )
    except OSError as error:
        return str(error)
    return None if response.status == 200 else f"{response.status}: {response.body.decode(errors='replace')}"


def fingerprint() -> str:
    """A hash of all sources of the deployment."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in sorted((ROOT / source).rglob("*")) or [ROOT / source]:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


class _Cdk:
    def __init__(self, endpoint_url: str, folder: Path, progress: Progress, *, context: dict[str, str]) -> None:
        self._context = [part for name, value in context.items() for part in ("-c", f"{name}={value}")]
        self._folder = folder
        self._log = folder / LOG
        self._progress = progress
        cache = ROOT / ".local" / "cache"
        environment = clean_environment(
            **CREDENTIALS,
            AWS_REGION=REGION,
            AWS_ENDPOINT_URL=endpoint_url,
            AWS_ENDPOINT_URL_S3=endpoint_url,
            CDK_HOME=str(cache / "cdk"),
            CDK_DISABLE_CLI_TELEMETRY="true",
            # Validation takes 9 seconds. `make synth`, a deployment to AWS and a test validate the templates.
            CDK_VALIDATION="false",
            JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(cache / "jsii"),
            JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION="20",
        )
        # cdk.json runs `python3`, which must be the one that has the CDK library.
        path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        self._environment = environment | {"PATH": path}

    def run(self, command: str, *arguments: str, working_folder: Path, assets_folder: Path | None = None) -> None:
        """Print a line for each finished stack; the rest of the output goes to the log."""
        options = ["--no-notices", "--output", str(assets_folder or self._folder / "cdk.out")]
        started = time.monotonic()
        with (
            self._log.open("a") as log,
            subprocess.Popen(
                [ROOT / "node_modules" / ".bin" / "cdk", command, *arguments, *options, *self._context],
                cwd=working_folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as child,
        ):
            assert child.stdout is not None
            for line in child.stdout:
                log.write(line)
                if _DEPLOYED in line:
                    done = line.split(_DEPLOYED)[1].strip()
                    self._progress(f"  cdk {command}: {done} ({time.monotonic() - started:.0f} s)")
        if child.returncode:
            raise LocalError(f"cdk {command} failed:\n{tail(self._log)}")


def _app(github_api_url: str) -> dict[str, str]:
    """The simulated GitHub's App, in the format of the App secret."""
    with urllib.request.urlopen(f"{github_api_url}/_simulation/app") as response:
        app = json.load(response)
    return {"app_id": str(app["id"]), "private_key": app["private_key"]}


def _exchange_secrets(endpoint_url: str, values: dict[str, str], admin_token: str, app: dict[str, str]) -> str:
    """Store the admin token and the GitHub App, and return the secret that signs webhooks."""
    client: SecretsManagerClient = boto3.client(
        "secretsmanager",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    digest = hashlib.sha256(admin_token.encode()).hexdigest()
    entry = {"name": "local-admin", "role": "operator", "sha256": digest, "installations": "*"}
    tokens = {"tokens": [entry]}
    client.put_secret_value(SecretId=values["ApiTokensSecretArn"], SecretString=json.dumps(tokens))
    client.put_secret_value(SecretId=values["GitHubAppSecretArn"], SecretString=json.dumps(app))
    active = json.loads(client.get_secret_value(SecretId=values["WebhookSecretArn"])["SecretString"])
    return str(next(iter(active.values())))
