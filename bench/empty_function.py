"""An empty function behind its own HTTP API: the baseline, which measures the emulator itself."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

from runledger.model.reports import WEBHOOK_PATH

from local.aws import clients as aws
from local.github import webhooks as github_webhooks
from local.processes import LocalError

if TYPE_CHECKING:
    from local.aws.outputs import Outputs

NAME = "bench-empty"
# Logs a line, because the emulator waits 50 ms for the log of a function that writes none.
CODE = "def handler(event, context):\n    print('{}')\n    return {'statusCode': 202, 'body': '{}'}\n"
TRUST = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
ACCEPTED = 202


def deploy(outputs: Outputs) -> str:
    """Return the URL for webhooks."""
    gateway = aws.client(outputs, "apigatewayv2")
    api = gateway.create_api(Name=NAME, ProtocolType="HTTP")["ApiId"]
    integration = gateway.create_integration(
        ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=_function(outputs), PayloadFormatVersion="2.0"
    )["IntegrationId"]
    gateway.create_route(ApiId=api, RouteKey=f"POST {WEBHOOK_PATH}", Target=f"integrations/{integration}")
    gateway.create_stage(ApiId=api, StageName="$default", AutoDeploy=True)
    url = f"{outputs.endpoint_url}/_aws/execute-api/{api}{WEBHOOK_PATH}"
    response = github_webhooks.deliver(url, outputs.webhook_secret, "ping", b"{}")
    if response.status != ACCEPTED:
        raise LocalError(f"the empty function returned {response.status}: {response.body!r}")
    return url


def _function(outputs: Outputs) -> str:
    functions, roles = aws.client(outputs, "lambda"), aws.client(outputs, "iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("empty.py", CODE)
    function = functions.create_function(
        FunctionName=NAME,
        Runtime="python3.13",
        Role=roles.create_role(RoleName=NAME, AssumeRolePolicyDocument=trust)["Role"]["Arn"],
        Handler="empty.handler",
        Code={"ZipFile": code.getvalue()},
        MemorySize=512,
    )
    functions.add_permission(
        FunctionName=NAME,
        StatementId="gateway",
        Action="lambda:InvokeFunction",
        Principal="apigateway.amazonaws.com",
    )
    return str(function["FunctionArn"])
