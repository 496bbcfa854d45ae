"""Checks an existing deployment: whether webhooks arrive, GitHub responds, and every alarm topic has a subscriber."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runledger.model.errors import GitHubRefusal, UnavailableError
from runledger.tables import schema
from runledger_api.authentication import Role
from runledger_api.token_entries import read_entries
from runledger_github.app import GitHubApp

from preflight.results import Ok, Outcome, Problem, Skipped
from stacks.settings import Settings

PENDING = "PendingConfirmation"
NOT_DEPLOYED = Skipped("not deployed yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """`outputs` are the outputs of all stacks of the stage. They are absent as long as their stack doesn't exist.

    `topics` are the alarm topics by region: an alarm can only notify a topic in its own region.
    """

    session: Any
    settings: Settings
    outputs: Mapping[str, str]
    topics: Mapping[str, str]
    session_in: Callable[[str], Any]

    def webhook(self) -> Outcome:
        if "WorkflowJobsTable" not in self.outputs or "WebhookUrl" not in self.outputs:
            return NOT_DEPLOYED
        found = self.session.client("dynamodb").query(
            TableName=self.outputs["WorkflowJobsTable"],
            KeyConditionExpression="PK = :registry",
            ExpressionAttributeValues={":registry": {"S": schema.REGISTRY}},
            Select="COUNT",
        )
        if not found["Count"]:
            return Problem(
                "no job webhook has been recorded yet",
                "connect GitHub and run a workflow (docs/github-app.md); "
                f"the webhook URL is {self.outputs['WebhookUrl']}",
            )
        return Ok(f"recorded for {found['Count']} installation(s)")

    def app_key(self) -> Outcome:
        if "GitHubAppSecretArn" not in self.outputs:
            return NOT_DEPLOYED
        secret = self._secret("GitHubAppSecretArn")
        store = "store the App's id and private key (docs/github-app.md#2-store-the-apps-key)"
        if secret.strip() == "{}":
            return Skipped("there is no GitHub App, so nothing is polled, re-run or cleaned up", store)
        try:
            app = GitHubApp.from_secret(secret, api_url=self.settings.github_api_url)
            installations = list(app.installations())
        except GitHubRefusal as refusal:
            return Problem(f"GitHub doesn't accept it ({refusal})", store)
        except UnavailableError as error:
            return Problem(f"GitHub didn't respond ({error})", "check `github_api_url`, and try again")
        if not installations:
            return Problem("GitHub accepts it, but the App isn't installed", "docs/github-app.md#3-install-the-app")
        return Ok(f"GitHub accepts it; the App has {len(installations)} installation(s)")

    def alarms(self) -> Outcome:
        if not self.topics:
            return NOT_DEPLOYED
        number = 0
        for region, topic in self.topics.items():
            pages = self.session_in(region).client("sns").get_paginator("list_subscriptions_by_topic")
            found = [each for page in pages.paginate(TopicArn=topic) for each in page["Subscriptions"]]
            confirmed = [each for each in found if each["SubscriptionArn"] != PENDING]
            number += len(confirmed)
            if found and not confirmed:
                return Problem(
                    f"{found[0]['Endpoint']} hasn't confirmed its subscription in {region}",
                    "follow the link in the email from AWS",
                )
            if not found:
                return Problem(
                    f"the alarms in {region} have no subscriber",
                    f"set `alarm_email`, or run `aws sns subscribe --topic-arn {topic} --region {region} "
                    "--protocol email --notification-endpoint ADDRESS`",
                )
        return Ok(f"{number} subscriber(s)")

    def operator(self) -> Outcome:
        if "ApiTokensSecretArn" not in self.outputs:
            return NOT_DEPLOYED
        create = f"`runledger token create NAME --role operator --installations all --stage {self.settings.stage}`"
        try:
            listed = json.loads(self._secret("ApiTokensSecretArn"))["tokens"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return Problem("the secret isn't a JSON object with a list `tokens`: no token works", "see docs/api.md")
        entries = read_entries(listed, roles=set(Role), log_error=lambda *_, **__: None)
        names = [each.name for each in entries if each.role == Role.OPERATOR]
        if not names:
            if self.settings.jwt_issuer:
                return Skipped("no token has the role operator, but JWTs from `jwt_issuer` may have it")
            return Problem("no token has the role operator", create)
        return Ok(", ".join(names))

    def _secret(self, output: str) -> str:
        found = self.session.client("secretsmanager").get_secret_value(SecretId=self.outputs[output])
        return str(found["SecretString"])
