"""The outputs of a local deployment, `.local/outputs.json`: all that a client needs to use it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local.aws.emulator import REGION
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    endpoint_url: str
    region: str
    webhook_url: str
    api_url: str
    admin_token: str
    webhook_secret: str
    event_bus: str
    tables: dict[str, str]
    github_api_url: str
    functions: dict[str, str]

    @classmethod
    def load(cls, file: Path) -> Outputs | None:
        return cls(**json.loads(file.read_text())) if file.exists() else None

    def save(self, file: Path) -> None:
        """Readable by its owner only: it contains the admin token and the webhook secret."""
        write_private(file, json.dumps(asdict(self), indent=2) + "\n")


def compose(
    stacks: Mapping[str, Mapping[str, str]],
    *,
    endpoint_url: str,
    github_api_url: str,
    webhook_secret: str,
    admin_token: str,
) -> Outputs:
    """Map the outputs of all stacks to the keys of `outputs.json`."""
    values = merge(stacks)
    # Path-style, because the host-style URL of an emulated API requires DNS.
    api_url = f"{endpoint_url}/_aws/execute-api/{values['ApiId']}"
    return Outputs(
        endpoint_url=endpoint_url,
        region=REGION,
        webhook_url=f"{api_url}/webhooks/github",
        api_url=api_url,
        admin_token=admin_token,
        webhook_secret=webhook_secret,
        event_bus=values["EventBusName"],
        tables=_named(values, "Table"),
        github_api_url=github_api_url,
        functions=_named(values, "Function"),
    )


def merge(stacks: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Merge the outputs of all stacks, without the exports that CDK adds."""
    values = {
        key: value for stack in stacks.values() for key, value in stack.items() if not key.startswith("ExportsOutput")
    }
    required = {"ApiId", "EventBusName", "WebhookSecretArn", "ApiTokensSecretArn", "GitHubAppSecretArn"}
    if missing := required - values.keys():
        raise LocalError(f"the stacks lack the outputs {', '.join(sorted(missing))}")
    return values


def write_private(file: Path, text: str) -> None:
    """Write a file with mode 0600 atomically: readers see the old text or the new one."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mode 0600, whatever the umask
    try:
        with os.fdopen(descriptor, "w") as new:
            new.write(text)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _named(values: Mapping[str, str], kind: str) -> dict[str, str]:
    """Return the outputs of one kind by name: WebhookIntakeFunction becomes webhook_intake."""
    return {_snake_case(key.removesuffix(kind)): value for key, value in values.items() if key.endswith(kind)}


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
