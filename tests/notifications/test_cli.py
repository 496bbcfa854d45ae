"""The commands of notifications on the real API: what they send is accepted, and what they print is what is stored."""

from pathlib import Path

from tests.api.client import Client
from tests.figures import cli
from tests.notifications.api_scene import SUBSCRIPTIONS, api, client, fail, ledger, secret, world

__all__ = ["api", "client", "ledger", "world"]

HOOK = ("--kind", "webhook", "--url", "https://a.example/h")
SLACK = "https://hooks.slack.com/services/T000/B000/not-a-real-token"


def test_the_cli_creates_changes_and_deletes_a_subscription(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text(f"{SLACK}\n")
    assert (
        cli.run(
            client,
            "subscriptions",
            "create",
            "Team",
            "--kind",
            "slack",
            "--type",
            "job.*",
            "--daily",
            "--hour",
            "7",
            "--secret-file",
            str(file),
        ).lines
        == []
    )
    (shown,) = cli.run(
        client,
        "subscriptions",
        "create",
        "Pager",
        *HOOK,
        "--type",
        "run.failed",
        "--repo",
        "acme/*",
        "--conclusion",
        "failure",
        "--at-most",
        "5",
    ).lines
    cli.run(
        client,
        "subscriptions",
        "create",
        "Topic",
        "--kind",
        "sns",
        "--target",
        "builds",
        "--weekly",
        "friday",
        "--reminder",
        "Tidy up",
    )
    made = {each["name"]: each for each in client.get(SUBSCRIPTIONS).body["items"]}
    assert (secret(made["Team"]), secret(made["Pager"])) == (SLACK, shown)
    listed = {row["NAME"]: row for row in cli.run(client, "subscriptions").table("SUBSCRIPTION")}
    assert listed["Team"]["SENDS"] == "job.*; digest daily at 07:00 UTC"
    assert listed["Pager"]["SENDS"] == "run.failed; of acme/*; with failure; at most 5 an hour"
    assert listed["Topic"]["SENDS"] == "reminder weekly on friday at 09:00 UTC"
    assert {row["HEALTH"] for row in listed.values()} == {"unknown"}
    cli.run(client, "subscriptions", "disable", "Team")
    health = {row["NAME"]: row["HEALTH"] for row in cli.run(client, "subscriptions").table("SUBSCRIPTION")}
    assert health == {"Team": "disabled", "Pager": "unknown", "Topic": "unknown"}
    (again,) = cli.run(client, "subscriptions", "rotate-secret", made["Pager"]["subscription_id"][:6]).lines
    assert (again, again != shown) == (secret(made["Pager"]), True)
    for name in ("Team", "Pager"):
        cli.run(client, "subscriptions", "delete", name, "--yes")
    assert [each["name"] for each in client.get(SUBSCRIPTIONS).body["items"]] == ["Topic"]


def test_messages_are_sent_listed_and_sent_again_with_the_cli(client: Client) -> None:
    cli.run(client, "subscriptions", "create", "Pager", *HOOK, "--type", "job.*")
    (sent,) = cli.run(
        client,
        "notify",
        "Down",
        "--title",
        "Maintenance",
        "--priority",
        "4",
        "--tag",
        "warning",
        "--url",
        "https://a.example",
        "--to",
        "Pager",
        "--id",
        "m1",
    ).lines
    status, message_id = sent.split()
    assert status == "queued"
    assert cli.run(client, "notify", "Down", "--to", "Pager", "--id", "m1").lines == [sent]
    cli.run(client, "subscriptions", "test", "Pager")
    fail(client, {"message_id": message_id})
    (failed,) = cli.run(
        client, "messages", "--status", "failed", "--type", "runledger.message", "--subscription", "Pager"
    ).table("MESSAGE")
    assert (failed["MESSAGE"], failed["SUBSCRIPTION"], failed["ERROR"]) == (
        message_id,
        "Pager",
        "The receiver returned 500",
    )
    (again,) = cli.run(client, "messages", "send-again", message_id).lines
    shown = cli.run(client, "messages", "show", again.split()[1])
    assert (shown.facts()["sent again from"], shown.facts()["status"]) == (message_id, "queued")
    assert '      "title": "Maintenance",' in shown.lines
    assert len(cli.run(client, "messages", "--all").table("MESSAGE")) == 3
