"""The HTTP API and its retry queue: throttled, logged, and no accepted webhook is lost."""

import json

from tests.support.synthesis import Template, Templates, of_type, synthesise


def test_github_posts_to_one_route_and_everything_else_is_the_apis(templates: Templates) -> None:
    routes = of_type(templates["api"], "AWS::ApiGatewayV2::Route").values()
    assert {route["RouteKey"] for route in routes} == {
        "POST /webhooks/github",
        *("ANY /v1/{proxy+}", "ANY /admin/{proxy+}"),
        *("ANY /", "ANY /docs", "ANY /openapi.json", "ANY /assets/{proxy+}", "ANY /{proxy+}"),
    }


def test_the_api_is_named_after_its_stage(templates: Templates) -> None:
    """Otherwise the APIs of two stages have the same name in the console."""
    (api,) = of_type(templates["api"], "AWS::ApiGatewayV2::Api").values()
    assert api["Name"] == "runledger-prod"


def test_the_first_deployment_has_no_token(templates: Templates) -> None:
    secrets = of_type(templates["api"], "AWS::SecretsManager::Secret").values()
    (tokens,) = [secret for secret in secrets if "tokens" in secret["Description"]]
    generated = tokens["GenerateSecretString"]
    assert json.loads(generated["SecretStringTemplate"]) == {"tokens": []}
    assert generated["GenerateStringKey"] == "cursor_key"


def test_jwts_are_off_unless_the_settings_name_who_issues_them(templates: Templates) -> None:
    def variables(api: Template) -> dict[str, str]:
        (function,) = [
            each for each in of_type(api, "AWS::Lambda::Function").values() if each["Handler"] == "api.handler"
        ]
        found: dict[str, str] = function["Environment"]["Variables"]
        return found

    assert variables(templates["api"])["JWT_ISSUER"] == ""
    set_up = variables(synthesise(jwt_issuer="https://id.example.com", jwt_audience="runledger")["api"])
    assert (set_up["JWT_ISSUER"], set_up["JWT_AUDIENCE"]) == ("https://id.example.com", "runledger")


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
    (generated,) = [secret for secret in secrets.values() if "Webhook secrets" in secret["Description"]]
    assert generated["GenerateSecretString"]["GenerateStringKey"] == "current"
    assert "SecretString" not in generated
