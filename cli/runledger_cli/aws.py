"""AWS, for the commands that call it rather than the API.

They use boto3, because credentials come from profiles, single sign-on, roles and containers, and signing requests by
hand would support only some of them. boto3 is imported only when it is needed: every other command works without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runledger_cli.errors import CommandError, Unreachable, UsageError

SIGN_IN = "sign in to AWS, or set AWS_PROFILE"
CHECK_ENDPOINT = "check AWS_ENDPOINT_URL"
CHECK_ADDRESS = "check the network, AWS_REGION and AWS_ENDPOINT_URL"
# By the name of an exception of botocore, or by the code of an error that AWS returns.
REMEDIES = {
    "NoRegionError": "set AWS_REGION, or `region` in your AWS profile",
    "InvalidRegionError": "check AWS_REGION, or `region` in your AWS profile",
    "ProfileNotFound": "check AWS_PROFILE",
    **dict.fromkeys(("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"), SIGN_IN),
    **dict.fromkeys(("TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError"), SIGN_IN),
    **dict.fromkeys(("ExpiredToken", "ExpiredTokenException", "RequestExpired"), SIGN_IN),
    **dict.fromkeys(("InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId"), SIGN_IN),
    **dict.fromkeys(("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError"), CHECK_ADDRESS),
    **dict.fromkeys(("ConnectionClosedError", "SSLError", "ProxyConnectionError"), CHECK_ADDRESS),
    "ResponseParserError": CHECK_ENDPOINT,
}


class Aws:
    def __init__(self, environment: Mapping[str, str]) -> None:
        try:
            import boto3  # noqa: PLC0415
            from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
            from botocore.parsers import ResponseParserError  # noqa: PLC0415
        except ImportError as error:
            raise UsageError(
                "this command needs boto3: run it in a checkout after `make install`, or `pipx inject runledger boto3`"
            ) from error
        self._failures: tuple[type[Exception], ...] = (BotoCoreError, ClientError, ResponseParserError)
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        with self.failures_reported():
            self._session: Any = boto3.session.Session(region_name=region)

    @property
    def region(self) -> str:
        return str(self._session.region_name)

    def client(self, service: str, **options: Any) -> Any:
        with self.failures_reported():
            try:
                return self._session.client(service, **options)
            except ValueError as error:
                if isinstance(error, self._failures):
                    raise
                raise Unreachable(f"AWS: {error}: {CHECK_ENDPOINT}") from error

    def output(self, stage: str, name: str) -> str:
        """An output of the API's stack."""
        stack = f"runledger-{stage}-api"
        with self.failures_reported():
            try:
                (found,) = self.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
            except self._failures as failure:
                if "does not exist" not in str(failure):
                    raise
                raise CommandError(
                    f"there is no stack {stack} in {self.region}: check AWS_REGION and --stage"
                ) from failure
        for output in found.get("Outputs", []):
            if output["OutputKey"] == name:
                return str(output["OutputValue"])
        raise CommandError(
            f"the stack {stack} has no output {name}: the deployment may be incomplete; run `cdk deploy --all` again"
        )

    @contextmanager
    def failures_reported(self) -> Iterator[None]:
        """Reports an error of AWS on one line, with exit code 3."""
        try:
            yield
        except self._failures as failure:
            raise Unreachable(explained(failure)) from failure


def explained(failure: Exception) -> str:
    """What failed and, if it is known, what to do."""
    response = getattr(failure, "response", None) or {}  # botocore's connection errors have one, which is None
    code = response.get("Error", {}).get("Code")
    remedy = REMEDIES.get(code) or REMEDIES.get(type(failure).__name__)
    reason = " ".join(str(failure).split())
    return f"AWS: {reason.rstrip('.')}: {remedy}" if remedy else f"AWS: {reason}"
