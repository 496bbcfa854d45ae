"""AWS Secrets Manager, for the one command that writes to AWS rather than asking the API.

It uses boto3, because credentials come from profiles, single sign-on, roles and containers, and signing requests by
hand would support only some of them. boto3 is imported only here and only when it is needed: every other command works
without it.

Two people may add a token at the same time. Secrets Manager has no conditional write, but it moves a label only from
the version that the caller names:

    read AWSCURRENT (version A) ── store version B, without AWSCURRENT ── move AWSCURRENT from A to B
                                                                                 │ refused: A is no longer current
    read again <─────────────────────────────────────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from runledger_cli.errors import CommandError, Unreachable, UsageError

OUTPUT = "ApiTokensSecretArn"
CURRENT = "AWSCURRENT"
PENDING = "RUNLEDGERPENDING"
TRIES = 5


class SecretsManager:
    def __init__(self, environment: Mapping[str, str]) -> None:
        try:
            import boto3  # noqa: PLC0415
            from botocore.exceptions import (  # noqa: PLC0415
                BotoCoreError,
                ClientError,
                NoCredentialsError,
                NoRegionError,
            )
        except ImportError as error:
            raise UsageError(
                "this command needs boto3: run it in a checkout after `make install`, or `pipx inject runledger boto3`"
            ) from error
        self._failures: tuple[type[Exception], ...] = (BotoCoreError, ClientError)
        self._remedies: dict[type[Exception], str] = {
            NoRegionError: "set AWS_REGION, or `region` in your AWS profile",
            NoCredentialsError: "sign in to AWS, or set AWS_PROFILE",
        }
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        try:
            self._session = boto3.session.Session(region_name=region)
            self._client: Any = self._session.client("secretsmanager")
        except self._failures as failure:
            self._give_up(failure)

    def of_stage(self, stage: str) -> str:
        """The ARN of the tokens' secret, from the outputs of the stack."""
        stack = f"runledger-{stage}-api"
        try:
            (found,) = self._session.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        except self._failures as failure:
            if "does not exist" in str(failure):
                raise CommandError(
                    f"there is no stack {stack} in {self._session.region_name}: check AWS_REGION and --stage"
                ) from failure
            self._give_up(failure)
        for output in found.get("Outputs", []):
            if output["OutputKey"] == OUTPUT:
                return str(output["OutputValue"])
        raise CommandError(f"the stack {stack} has no output {OUTPUT}: is it deployed completely?")

    def change(self, secret: str, change: Callable[[str], str]) -> None:
        """Store what `change` makes of the current value, unless another value was stored meanwhile."""
        for _ in range(TRIES):
            try:
                current = self._client.get_secret_value(SecretId=secret)
                added = self._client.put_secret_value(
                    SecretId=secret, SecretString=change(current["SecretString"]), VersionStages=[PENDING]
                )
                if self._move(secret, added["VersionId"], instead_of=current["VersionId"]):
                    return
            except self._failures as failure:
                self._give_up(failure)
        raise CommandError("the secret was changed by others again and again; nothing was stored: try again")

    def _move(self, secret: str, version: str, *, instead_of: str) -> bool:
        stages = self._client.update_secret_version_stage
        try:
            stages(SecretId=secret, VersionStage=CURRENT, MoveToVersionId=version, RemoveFromVersionId=instead_of)
        except self._client.exceptions.InvalidParameterException:
            return False
        return True

    def _give_up(self, failure: Exception) -> NoReturn:
        remedy = self._remedies.get(type(failure))
        reason = f"{str(failure).rstrip('.')}: {remedy}" if remedy else failure
        raise Unreachable(f"AWS: {reason}") from failure
