"""What GitHub says of the App's installations."""

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
    """Of `installation` and of `installation_repositories`, which is only sent while the installation is active."""
    action = payload.action(message)
    if action not in STATUS_AFTER:
        return ()
    installation = payload.section(message, "installation")
    if installation_id(message) == NO_INSTALLATION:
        raise Malformed("installation.id", "must not be 0: hooks without an installation have none that could change")
    status = STATUS_AFTER[action]
    # Required: with the time of receipt instead, a replay would be the latest change. Only of a deleted installation,
    # `updated_at` is its last change before that.
    changed_at = payload.required_time(installation, "installation.updated_at")
    if status is InstallationStatus.DELETED:
        changed_at = delivery.received_at
    return (
        _report(
            installation,
            status,
            # Nothing changes after it was reported: a date in the future would outlast all later reports.
            changed_at=min(changed_at, delivery.received_at),
            reported_at=delivery.received_at,
        ),
    )


def listed_installation(installation: Json, *, at: str) -> InstallationReport:
    """From an answer of the REST API, which knows no deleted ones."""
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
