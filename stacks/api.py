"""The HTTP API. It receives GitHub's webhooks, with a retry queue, and serves the query and admin API."""

import json
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct
from runledger.migration.phases import StoragePhase
from runledger.model.reports import WEBHOOK_PATH
from runledger.webhooks import hosts

from stacks.constructs import compliance
from stacks.constructs.api_function import ApiFunction
from stacks.constructs.function import DEFAULT_BATCH, LedgerFunction, log_group
from stacks.constructs.layer import domain_layer
from stacks.constructs.queues import queue_with_dead_letters
from stacks.constructs.references import export
from stacks.constructs.releases import Releases
from stacks.constructs.retained import secret
from stacks.constructs.storage import WebhookArchive, allow_copies, copy_environment
from stacks.constructs.tree import dead_letter_queues, resource_of
from stacks.events import EventsStack
from stacks.monitoring.resource_alarms import watch
from stacks.names import access_log_name
from stacks.settings import Settings

API_PATHS = ("/v1/{proxy+}", "/admin/{proxy+}")
# These need no token. The last one matches all other paths, for which the function returns 404.
PAGE_PATHS = ("/", "/docs", "/openapi.json", "/assets/{proxy+}", "/{proxy+}")
# Without headers and the query string, because either may contain a secret.
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
    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, events: EventsStack) -> None:
        super().__init__(scope, construct_id, termination_protection=not settings.throw_away)
        self._settings = settings
        self._recorder = events.recorder
        self._layer = domain_layer(self, settings=settings)
        self._retries = queue_with_dead_letters(self, "WebhookRetries", settings=settings)
        self._webhook_secrets = secret(
            self,
            "WebhookSecrets",
            settings=settings,
            description="Webhook secrets of GitHub: a JSON object, name to secret or to a secret with its scope.",
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
            description="Who may call the API: names, roles and SHA-256 of their tokens; and the key of its cursors.",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template=json.dumps({"tokens": []}),
                generate_string_key="cursor_key",
                exclude_punctuation=True,
                password_length=48,
            ),
        )
        self._webhook_retry()
        intake = self._webhook_intake(events.releases)
        api = ApiFunction(
            self,
            settings=settings,
            layer=self._layer,
            tables=events.recorder.tables,
            reconciler=events.reconciler,
            github_requests=events.github_requests,
            dead_letters=dead_letter_queues(events, self),
            api_tokens=self._api_tokens,
            feed=events.feed,
            notifications=events.notifications,
            releases=events.releases,
        )
        self._http_api(intake, api)
        if settings.storage_phase is StoragePhase.CLEANUP:
            WebhookArchive(self, settings=settings, layer=self._layer)
        watch(self, settings=settings)

    def _webhook_intake(self, releases: Releases | None) -> LedgerFunction:
        intake = self._recorder.function(
            self,
            "webhook_intake",
            layers=[self._layer],
            # GitHub closes the connection after 10 seconds.
            timeout=cdk.Duration.seconds(10),
            snap_start=self._settings.snap_start,
            reserved_concurrency=self._settings.intake_reserved_concurrency or None,
            environment={
                "WEBHOOK_SECRETS": self._webhook_secrets,
                "WEBHOOK_RETRIES_QUEUE": self._retries.queue_url,
                "GITHUB_HOST": hosts.host_of(self._settings.github_api_url),
                **copy_environment(self._settings),
                **(releases.intake_environment() if releases else {}),
            },
        )
        allow_copies(intake, self._settings)
        if releases:
            releases.allow_intake(intake)
        intake.allow(self._webhook_secrets, "secretsmanager:GetSecretValue")
        intake.allow(self._retries.queue_arn, "sqs:SendMessage")
        return intake

    def _webhook_retry(self) -> None:
        retry = self._recorder.function(
            self,
            "webhook_retry",
            layers=[self._layer],
            timeout=cdk.Duration.minutes(1),
            environment=copy_environment(self._settings),
        )
        allow_copies(retry, self._settings)
        # The function writes copies to S3, so it gets one message at a time.
        batch_size = 1 if self._settings.storage_phase.copies_webhooks else DEFAULT_BATCH
        retry.consume(self._retries, batch_size=batch_size)

    def _http_api(self, intake: LedgerFunction, queries: LedgerFunction) -> None:
        api = apigateway.HttpApi(
            self,
            "HttpApi",
            api_name=self._settings.prefix,
            create_default_stage=False,
            description="Runledger",
        )
        export(api, api.api_id)
        webhooks = api.add_routes(
            path=WEBHOOK_PATH,
            methods=[apigateway.HttpMethod.POST],
            integration=HttpLambdaIntegration("WebhookIntegration", intake.live),
        )
        _accept(webhooks, "GitHub can't send a token, so the function verifies the signature of every delivery.")
        integration = HttpLambdaIntegration("ApiIntegration", queries.live)
        # Every method, so that the function returns the 405.
        requests, pages = (
            [
                route
                for path in paths
                for route in api.add_routes(path=path, methods=[apigateway.HttpMethod.ANY], integration=integration)
            ]
            for paths in (API_PATHS, PAGE_PATHS)
        )
        _accept([*requests, *pages], "The function requires a token or a JWT on every path that returns ledger data.")
        settings = self._settings
        stage = self._stage(
            api,
            [
                (webhooks, settings.webhook_rate_limit, settings.webhook_burst_limit),
                (requests, settings.api_rate_limit, settings.api_burst_limit),
                (pages, settings.page_rate_limit, settings.page_burst_limit),
            ],
        )
        access_logs: logs.LogGroup = log_group(
            self, "AccessLogs", name=access_log_name(self._settings.stage), settings=self._settings
        )
        resource_of(stage, apigateway.CfnStage).access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
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

    def _stage(
        self, api: apigateway.HttpApi, limits: Sequence[tuple[Sequence[apigateway.HttpRoute], int, int]]
    ) -> apigateway.HttpStage:
        """Each route has a separate limit, so that a flood of requests to one route doesn't throttle the others."""
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=api,
            stage_name="$default",
            auto_deploy=True,
            # The default, for a route without its own limit.
            throttle=apigateway.ThrottleSettings(
                rate_limit=self._settings.page_rate_limit, burst_limit=self._settings.page_burst_limit
            ),
        )
        deployed = resource_of(stage, apigateway.CfnStage)
        deployed.route_settings = {
            _key(route): {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": burst}
            for routes, rate, burst in limits
            for route in routes
        }
        # API Gateway rejects settings for a route that doesn't exist yet.
        for routes, _, _ in limits:
            for route in routes:
                deployed.node.add_dependency(route)
        return stage


def _key(route: apigateway.HttpRoute) -> str:
    return resource_of(route, apigateway.CfnRoute).route_key


def _accept(routes: Sequence[apigateway.HttpRoute], reason: str) -> None:
    for route in routes:
        compliance.accept(route, "AwsSolutions-APIG4", reason)
