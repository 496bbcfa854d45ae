"""Reads installations of the App."""

from runledger.model import payload
from runledger.model.errors import Malformed
from runledger.model.payload import Json
from runledger.model.reports import NO_INSTALLATION, InstallationReport, InstallationStatus
from runledger.webhooks.delivery import Delivery, installation_id

STATUS_AFTER = {
    "created": InstallationStatus.ACTIVE,
    "unsuspend": InstallationStatus.ACTIVE,
    "new_permissions_accepted": InstallationStatus.ACTIVE,
    "added": InstallationStatus.ACTIVE,
    "removed": InstallationStatus.ACTIVE,
    "suspend": InstallationStatus.SUSPENDED,
    "deleted": InstallationStatus.DELETED,
}


def read_installation(message: Json, delivery: Delivery) -> tuple[InstallationReport, ...]:
    """Reads `installation`, and `installation_repositories`, which is only sent while the installation is active."""
    action = payload.action(message)
    if action not in STATUS_AFTER:
        return ()
    installation = payload.section(message, "installation")
    if installation_id(message) == NO_INSTALLATION:
        raise Malformed("installation.id", "must not be 0: a hook without an installation can't report one")
    status = STATUS_AFTER[action]
    # Required: with the time of receipt instead, a replay would be the latest change. The `updated_at` of a deleted
    # installation is the time of its last change before the deletion, so it isn't used.
    changed_at = payload.required_time(installation, "installation.updated_at")
    if status is InstallationStatus.DELETED:
        changed_at = delivery.received_at
    return (
        _report(
            installation,
            status,
            # At most the time of the report: a date in the future would override all later reports.
            changed_at=min(changed_at, delivery.received_at),
            reported_at=delivery.received_at,
        ),
    )


def read_target(message: Json, delivery: Delivery) -> tuple[InstallationReport, ...]:
    """Reads `installation_target`: the account was renamed. It is sent only while the installation is active."""
    account = payload.optional_section(message, "account")
    if payload.action(message) != "renamed" or payload.text(account, "login") is None:
        return ()
    if installation_id(message) == NO_INSTALLATION:
        raise Malformed("installation.id", "must not be 0: hooks without an installation have no account")
    # The event contains no change of the installation itself.
    changed_at = payload.required_time(account, "account.updated_at")
    return (
        _report(
            {"id": installation_id(message), "account": account},
            InstallationStatus.ACTIVE,
            changed_at=min(changed_at, delivery.received_at),
            reported_at=delivery.received_at,
        ),
    )


def listed_installation(installation: Json, *, at: str) -> InstallationReport:
    """Reads an installation from the REST API, which doesn't list deleted ones."""
    suspended = payload.text(installation, "suspended_at") is not None
    status = InstallationStatus.SUSPENDED if suspended else InstallationStatus.ACTIVE
    return _report(
        installation,
        status,
        changed_at=min(payload.required_time(installation, "installation.updated_at"), at),
        reported_at=at,
    )


def _report(installation: Json, status: InstallationStatus, *, changed_at: str, reported_at: str) -> InstallationReport:
    return InstallationReport(
        installation_id=payload.identifier(installation, "installation.id"),
        status=status,
        changed_at=changed_at,
        reported_at=reported_at,
        org_name=payload.text(payload.optional_section(installation, "account"), "login"),
        repository_selection=payload.text(installation, "repository_selection"),
    )
