"""Reads the tables, secrets and queues of a deployment, and holds messages up."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from local.aws import clients as aws
from local.aws.outputs import Outputs
from local.github import webhooks
from tests.support.beds import items

SECRETS = ("WebhookSecretArn", "ApiTokensSecretArn", "GitHubAppSecretArn")
OUT_OF_REACH = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"}


@dataclass(frozen=True, kw_only=True)
class Deployment:
    outputs: Outputs

    def tables(self) -> dict[str, dict[tuple[str, str], dict[str, Any]]]:
        with closing(self.client("dynamodb")) as dynamodb:
            return {
                name: {(each["PK"], each["SK"]): each for each in items(dynamodb, physical)}
                for name, physical in self.outputs.tables.items()
            }

    def recorded(self) -> set[tuple[str, str]]:
        """Job and delivery of every history event."""
        return {(line["PK"], line["delivery_id"]) for line in self.tables()["workflow_job_events"].values()}

    def secrets(self) -> dict[str, str]:
        with closing(self.client("cloudformation")) as stacks, closing(self.client("secretsmanager")) as secrets:
            outputs = [each for stack in stacks.describe_stacks()["Stacks"] for each in stack.get("Outputs", [])]
            arns = {each["OutputKey"]: each["OutputValue"] for each in outputs if each["OutputKey"] in SECRETS}
            return {name: secrets.get_secret_value(SecretId=arn)["SecretString"] for name, arn in arns.items()}

    def layers(self, function: str) -> list[str]:
        with closing(self.client("lambda")) as functions:
            found = functions.get_function_configuration(FunctionName=self.outputs.functions[function])
        return [layer["Arn"] for layer in found["Layers"]]

    def waiting(self, queue: str) -> int:
        with closing(self.client("sqs")) as queues:
            (url,) = [each for each in queues.list_queues()["QueueUrls"] if f"{queue}Queue" in each]
            names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
            found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    def read_queues(self, *functions: str, enabled: bool) -> None:
        with closing(self.client("lambda")) as lambdas:
            for function in functions:
                name = self.outputs.functions[function]
                for mapping in lambdas.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]:
                    lambdas.update_event_source_mapping(UUID=mapping["UUID"], Enabled=enabled)

    def restart(self, function: str) -> None:
        """Starts new processes of the function, which have cached nothing: a changed environment requires them."""
        name = self.outputs.functions[function]
        with closing(self.client("lambda")) as lambdas:
            found = lambdas.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
            restarted = str(int(found.get("RESTARTED", 0)) + 1)
            lambdas.update_function_configuration(
                FunctionName=name, Environment={"Variables": found | {"RESTARTED": restarted}}
            )

    @contextmanager
    def tables_out_of_reach(self, function: str) -> Iterator[None]:
        """The function can't connect to DynamoDB, so that what it receives waits in the retry queue."""
        name = self.outputs.functions[function]
        with closing(self.client("lambda")) as lambdas:
            found = lambdas.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
            lambdas.update_function_configuration(FunctionName=name, Environment={"Variables": found | OUT_OF_REACH})
            try:
                yield
            finally:
                lambdas.update_function_configuration(FunctionName=name, Environment={"Variables": found})

    def post(self, event: str, message: dict[str, Any], *, guid: str) -> str:
        """What intake made of it."""
        body = json.dumps(message).encode()
        headers = webhooks.headers(event, body, self.outputs.webhook_secret, delivery_id=guid)
        response = webhooks.post(self.outputs.webhook_url, body, headers)
        assert response.status == 202, response.body
        return str(json.loads(response.body)["result"])

    def client(self, service: str) -> Any:
        return aws.client(self.outputs, service)
