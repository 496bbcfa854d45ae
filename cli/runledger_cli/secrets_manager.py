"""AWS Secrets Manager, where `runledger token create` stores the hashes of tokens.

Two people may add a token at the same time. Secrets Manager has no conditional write, but it moves a label only from
the version that the caller names:

    read AWSCURRENT (version A) ── store version B, without AWSCURRENT ── move AWSCURRENT from A to B
                                                                                 │ refused: A is no longer current
    read again <─────────────────────────────────────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runledger_cli.aws import Aws
from runledger_cli.errors import CommandError

OUTPUT = "ApiTokensSecretArn"
CURRENT = "AWSCURRENT"
PENDING = "RUNLEDGERPENDING"
TRIES = 5


class SecretsManager:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._aws = Aws(environment)
        self._client = self._aws.client("secretsmanager")

    def of_stage(self, stage: str) -> str:
        """The ARN of the secret with the API tokens."""
        return self._aws.output(stage, OUTPUT)

    def change(self, secret: str, change: Callable[[str], str]) -> None:
        """Replaces the current value by `change(value)`, unless another value is stored in the meantime."""
        for _ in range(TRIES):
            with self._aws.failures_reported():
                current = self._client.get_secret_value(SecretId=secret)
                text = current.get("SecretString", "")  # absent if the secret is binary
                added = self._client.put_secret_value(
                    SecretId=secret, SecretString=change(text), VersionStages=[PENDING]
                )
                if self._move(secret, added["VersionId"], instead_of=current["VersionId"]):
                    return
        raise CommandError("other processes kept changing the secret, so nothing was stored: try again")

    def _move(self, secret: str, version: str, *, instead_of: str) -> bool:
        stages = self._client.update_secret_version_stage
        try:
            stages(SecretId=secret, VersionStage=CURRENT, MoveToVersionId=version, RemoveFromVersionId=instead_of)
        except self._client.exceptions.InvalidParameterException:
            return False
        return True
