"""The phases of the move from S3 to the ledger, as docs/migration.md describes them. Pure."""

from enum import StrEnum


class StoragePhase(StrEnum):
    DUAL_WRITE = "dual_write"
    DYNAMODB_FIRST = "dynamodb_first"
    DYNAMODB_ONLY = "dynamodb_only"
    CLEANUP = "cleanup"

    @property
    def copies_webhooks(self) -> bool:
        """Whether intake also writes each webhook to S3. True in both phases, so that going back leaves no gap."""
        return self in (StoragePhase.DUAL_WRITE, StoragePhase.DYNAMODB_FIRST)

    @property
    def reads_runner_configs(self) -> bool:
        return self is StoragePhase.DYNAMODB_FIRST

    @property
    def uses_webhook_bucket(self) -> bool:
        return self is not StoragePhase.DYNAMODB_ONLY
