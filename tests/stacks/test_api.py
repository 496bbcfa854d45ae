"""The front door: one route, throttled and logged, with a queue behind it that loses nothing."""

import json

from tests.synthesis import Templates, of_type, synthesise


def test_github_posts_to_one_route(templates: Templates) -> None:
    (route,) = of_type(templates["api"], "AWS::ApiGatewayV2::Route").values()
    assert route["RouteKey"] == "POST /webhooks/github"


def test_the_stage_is_throttled_by_settings() -> None:
    api = synthesise(webhook_rate_limit="50", webhook_burst_limit=60)["api"]
    (stage,) = of_type(api, "AWS::ApiGatewayV2::Stage").values()
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 50, "ThrottlingBurstLimit": 60}


def test_access_is_logged_without_headers_or_query(templates: Templates) -> None:
    (stage,) = of_type(templates["api"], "AWS::ApiGatewayV2::Stage").values()
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert {"requestId", "status", "route", "latencyMs"} <= logged.keys()
    assert not any("header" in value.lower() or "query" in value.lower() for value in logged.values())


def test_logs_are_kept_as_long_as_set() -> None:
    api = synthesise(log_retention_days="7")["api"]
    assert {group["RetentionInDays"] for group in of_type(api, "AWS::Logs::LogGroup").values()} == {7}


def test_what_cannot_be_recorded_is_retried_and_then_kept_aside(templates: Templates) -> None:
    for name in ("api", "events"):
        queues = of_type(templates[name], "AWS::SQS::Queue")
        assert {queue["MessageRetentionPeriod"] for queue in queues.values()} == {14 * 86_400}
        mappings = of_type(templates[name], "AWS::Lambda::EventSourceMapping").values()
        assert {tuple(mapping["FunctionResponseTypes"]) for mapping in mappings} == {("ReportBatchItemFailures",)}
        retried = [queue for queue in queues.values() if "RedrivePolicy" in queue]
        assert {queue["RedrivePolicy"]["maxReceiveCount"] for queue in retried} == {5}
        assert len(retried) == len(mappings)


def test_webhook_secrets_are_generated_and_stay_in_secrets_manager(templates: Templates) -> None:
    secrets = of_type(templates["api"], "AWS::SecretsManager::Secret")
    (generated,) = [secret for secret in secrets.values() if "GenerateSecretString" in secret]
    assert generated["GenerateSecretString"]["GenerateStringKey"] == "current"
    assert "SecretString" not in generated
