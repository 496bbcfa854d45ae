"""What a local deployment offers, as `.local/outputs.json`: nothing else is needed to drive the system from outside."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from local.emulator import REGION
from local.private_files import write_private
from local.processes import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
        """It holds the admin token and the webhook secret, so only the owner may read it."""
        write_private(file, json.dumps(asdict(self), indent=2) + "\n")


def compose(
    stacks: Mapping[str, Mapping[str, str]],
    *,
    endpoint_url: str,
    github_api_url: str,
    webhook_secret: str,
    admin_token: str,
) -> Outputs:
    """Turn the outputs of every stack into the names that people and tests use."""
    values = merge(stacks)
    # Path-style, because the host-style address of an emulated API needs a name server.
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
    """Return the outputs of all stacks as one, without the exports that CDK adds for its own use."""
    values = {
        key: value for stack in stacks.values() for key, value in stack.items() if not key.startswith("ExportsOutput")
    }
    wanted = {"ApiId", "EventBusName", "WebhookSecretArn", "ApiTokensSecretArn", "GitHubAppSecretArn"}
    if missing := wanted - values.keys():
        raise LocalError(f"the stacks have no output {', '.join(sorted(missing))}")
    return values


def _named(values: Mapping[str, str], kind: str) -> dict[str, str]:
    """Return every output of one kind by its file name: WebhookIntakeFunction is webhook_intake."""
    return {_snake_case(key.removesuffix(kind)): value for key, value in values.items() if key.endswith(kind)}


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
