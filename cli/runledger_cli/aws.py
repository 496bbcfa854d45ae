"""AWS, for the commands that call it rather than the API.

They use boto3, because credentials come from profiles, single sign-on, roles and containers, and signing requests by
hand would support only some of them. boto3 is imported only when it is needed: every other command works without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from runledger_cli.errors import CommandError, Unreachable, UsageError


class Aws:
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
        self.failures: tuple[type[Exception], ...] = (BotoCoreError, ClientError)
        self._remedies: dict[type[Exception], str] = {
            NoRegionError: "set AWS_REGION, or `region` in your AWS profile",
            NoCredentialsError: "sign in to AWS, or set AWS_PROFILE",
        }
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        try:
            self._session: Any = boto3.session.Session(region_name=region)
        except self.failures as failure:
            self.give_up(failure)

    @property
    def region(self) -> str:
        return str(self._session.region_name)

    def client(self, service: str, **options: Any) -> Any:
        try:
            return self._session.client(service, **options)
        except self.failures as failure:
            self.give_up(failure)

    def output(self, stage: str, name: str) -> str:
        """An output of the API's stack."""
        stack = f"runledger-{stage}-api"
        try:
            (found,) = self.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        except self.failures as failure:
            if "does not exist" in str(failure):
                raise CommandError(
                    f"there is no stack {stack} in {self.region}: check AWS_REGION and --stage"
                ) from failure
            self.give_up(failure)
        for output in found.get("Outputs", []):
            if output["OutputKey"] == name:
                return str(output["OutputValue"])
        raise CommandError(
            f"the stack {stack} has no output {name}: the deployment may be incomplete; run `cdk deploy --all` again"
        )

    def give_up(self, failure: Exception) -> NoReturn:
        remedy = self._remedies.get(type(failure))
        reason = f"{str(failure).rstrip('.')}: {remedy}" if remedy else failure
        raise Unreachable(f"AWS: {reason}") from failure
