"""Deploys the real CDK app to the emulated AWS, exactly as it would go to an account."""

from __future__ import annotations

import hashlib
import json
import secrets
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from local import github_hook, outputs
from local.emulator import CREDENTIALS, REGION
from local.outputs import Outputs
from local.processes import LocalError, clean_environment, tail

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

ROOT = Path(__file__).parent.parent
OUTPUTS = "outputs.json"
SOURCES = ("app.py", "cdk.json", "stacks", "functions", "layers", "requirements", "web")
RUNNER_TAGS = {"runledger:runner": "demo"}
CONTEXT = {
    "stage": "local",
    "throw_away": "true",
    "architecture": "host",
    "orphans": "enforce",
    "runner_tags": ",".join(f"{name}={value}" for name, value in RUNNER_TAGS.items()),
    "orphan_grace_minutes": "0",  # so that the second of two passes cleans what the first one suspects
}
_ACCOUNT = "000000000000"
_DEPLOYED = "\N{WHITE HEAVY CHECK MARK}  "

Progress = Callable[[str], None]


def deploy(endpoint_url: str, folder: Path, *, github_api_url: str, say: Progress = print) -> Outputs:
    """Bootstrap and deploy every stack, and write `outputs.json` into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cdk = _Cdk(endpoint_url, folder, say, context=CONTEXT | {"github_api_url": github_api_url})
    # Away from cdk.json, because it would synthesise the app only to ignore it.
    cdk.run("bootstrap", f"aws://{_ACCOUNT}/{REGION}", working_folder=folder)
    stacks_file = folder / "stacks.json"
    cdk.run("deploy", "--all", "--require-approval", "never", "--outputs-file", str(stacks_file))
    stacks = json.loads(stacks_file.read_text())
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
    if said := trouble(deployed):
        raise LocalError(f"{deployed.webhook_url} answers a ping with {said}")
    deployed.save(file)
    return deployed


def trouble(deployed: Outputs) -> str | None:
    """Tell what keeps a delivery from reaching the function; asking also starts it, so that the next one is fast."""
    try:
        answer = github_hook.deliver(
            deployed.webhook_url, deployed.webhook_secret, "ping", b'{"zen": "Keep it simple."}'
        )
    except OSError as error:
        return str(error)
    return None if answer.status == 200 else f"{answer.status}: {answer.body.decode(errors='replace')}"


def fingerprint() -> str:
    """Changes when a deployment would."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for file in sorted((ROOT / source).rglob("*")) or [ROOT / source]:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


class _Cdk:
    def __init__(self, endpoint_url: str, folder: Path, say: Progress, *, context: dict[str, str]) -> None:
        self._context = [part for name, value in context.items() for part in ("-c", f"{name}={value}")]
        self._folder = folder
        self._log = folder / "cdk.log"
        self._log.write_bytes(b"")
        self._say = say
        cache = ROOT / ".local" / "cache"
        self._environment = clean_environment(
            **CREDENTIALS,
            AWS_REGION=REGION,
            AWS_ENDPOINT_URL=endpoint_url,
            AWS_ENDPOINT_URL_S3=endpoint_url,
            CDK_HOME=str(cache / "cdk"),
            CDK_DISABLE_CLI_TELEMETRY="true",
            JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(cache / "jsii"),
            JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION="20",
        )

    def run(self, command: str, *arguments: str, working_folder: Path = ROOT) -> None:
        """Show a line for each stack that is done; everything else goes to the log."""
        options = ["--no-notices", "--output", str(self._folder / "cdk.out")]
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
                    self._say(f"  cdk {command}: {done} ({time.monotonic() - started:.0f} s)")
        if child.returncode:
            raise LocalError(f"cdk {command} failed:\n{tail(self._log)}")


def _app(github_api_url: str) -> dict[str, str]:
    """The simulated GitHub's App, as somebody would put it into the secret."""
    with urllib.request.urlopen(f"{github_api_url}/_simulation/app") as answer:
        app = json.load(answer)
    return {"app_id": str(app["id"]), "private_key": app["private_key"]}


def _exchange_secrets(endpoint_url: str, values: dict[str, str], admin_token: str, app: dict[str, str]) -> str:
    """Let the operator's token and the GitHub App in, and return the secret that webhooks are to be signed with."""
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
