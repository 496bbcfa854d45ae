"""The HTTP API: GitHub's webhooks come in here, are recorded at once, and are retried from a queue when that fails."""

import json

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from stacks import compliance
from stacks.function import LedgerFunction, log_group
from stacks.layer import domain_layer
from stacks.parts import queue_with_dead_letters, secret
from stacks.recorder import Recorder
from stacks.settings import Settings

WEBHOOK_PATH = "/webhooks/github"
# No headers and no query string: either may carry a secret.
ACCESS_LOG = {
    "requestId": "$context.requestId",
    "time": "$context.requestTimeEpoch",
    "ip": "$context.identity.sourceIp",
    "route": "$context.routeKey",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "latencyMs": "$context.responseLatency",
    "error": "$context.integrationErrorMessage",
}


class ApiStack(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, recorder: Recorder) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        self._settings = settings
        self._recorder = recorder
        self._layer = domain_layer(self, settings=settings)
        self._retries = queue_with_dead_letters(self, "WebhookRetries", settings=settings)
        self._webhook_secrets = secret(
            self,
            "WebhookSecrets",
            settings=settings,
            description="Webhook secrets of GitHub: a JSON object, name to secret. Every one of them is active.",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template="{}",  # noqa: S106
                generate_string_key="current",
                exclude_punctuation=True,
                password_length=48,
            ),
        )
        self._api_tokens = secret(
            self,
            "ApiTokens",
            settings=settings,
            description="Who may call the API: names, roles and SHA-256 of their tokens.",
            secret_string_value=cdk.SecretValue.unsafe_plain_text(json.dumps({"tokens": []})),
        )
        self._webhook_retry()
        self._http_api(self._webhook_intake())

    def _webhook_intake(self) -> LedgerFunction:
        intake = self._recorder.function(
            self,
            "webhook_intake",
            layers=[self._layer],
            # GitHub hangs up after 10 seconds.
            timeout=cdk.Duration.seconds(10),
            environment={
                "WEBHOOK_SECRETS": self._webhook_secrets,
                "WEBHOOK_RETRIES_QUEUE": self._retries.queue_url,
            },
        )
        intake.allow(self._webhook_secrets, "secretsmanager:GetSecretValue")
        intake.allow(self._retries.queue_arn, "sqs:SendMessage")
        return intake

    def _webhook_retry(self) -> None:
        retry = self._recorder.function(self, "webhook_retry", layers=[self._layer], timeout=cdk.Duration.minutes(1))
        retry.function.add_event_source(
            event_sources.SqsEventSource(self._retries, batch_size=10, report_batch_item_failures=True)
        )

    def _http_api(self, intake: LedgerFunction) -> None:
        api = apigateway.HttpApi(self, "HttpApi", create_default_stage=False, description="Runledger")
        routes = api.add_routes(
            path=WEBHOOK_PATH,
            methods=[apigateway.HttpMethod.POST],
            integration=HttpLambdaIntegration("WebhookIntegration", intake.function),
        )
        for route in routes:
            compliance.accept(
                route, "AwsSolutions-APIG4", "GitHub cannot sign in: the function verifies its signature on every call."
            )
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=self._settings.webhook_rate_limit, burst_limit=self._settings.webhook_burst_limit
            ),
        )
        access_logs: logs.LogGroup = log_group(self, "AccessLogs", settings=self._settings)
        deployed = stage.node.default_child
        assert isinstance(deployed, apigateway.CfnStage)
        deployed.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=access_logs.log_group_arn, format=json.dumps(ACCESS_LOG)
        )
        for name, value in {
            "ApiId": api.api_id,
            "ApiUrl": api.api_endpoint,
            "WebhookUrl": f"{api.api_endpoint}{WEBHOOK_PATH}",
            "WebhookSecretArn": self._webhook_secrets,
            "ApiTokensSecretArn": self._api_tokens,
            "WebhookRetriesQueueUrl": self._retries.queue_url,
        }.items():
            cdk.CfnOutput(self, name, value=value)
