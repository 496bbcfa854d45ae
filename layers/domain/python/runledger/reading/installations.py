"""What GitHub says of the App's installations."""

from runledger import payload, times
from runledger.deliveries import NO_INSTALLATION, Delivery, installation_id
from runledger.errors import Malformed
from runledger.payload import Json
from runledger.reports import InstallationReport, InstallationStatus

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
    # `updated_at` of a deleted installation is its last change before that.
    changed_at = None if status is InstallationStatus.DELETED else _changed_at(installation)
    return (
        _report(
            installation,
            status,
            # Nothing changes after it was reported: a date in the future would outlast all later reports.
            changed_at=min(changed_at or delivery.received_at, delivery.received_at),
            reported_at=delivery.received_at,
        ),
    )


def listed_installation(installation: Json, *, at: str) -> InstallationReport:
    """From an answer of the REST API, which knows no deleted ones."""
    suspended = payload.text(installation, "suspended_at") is not None
    status = InstallationStatus.SUSPENDED if suspended else InstallationStatus.ACTIVE
    return _report(installation, status, changed_at=min(_changed_at(installation) or at, at), reported_at=at)


def _report(installation: Json, status: InstallationStatus, *, changed_at: str, reported_at: str) -> InstallationReport:
    return InstallationReport(
        installation_id=payload.identifier(installation, "installation.id"),
        status=status,
        changed_at=changed_at,
        reported_at=reported_at,
        org_name=payload.text(payload.optional_section(installation, "account"), "login"),
        repository_selection=payload.text(installation, "repository_selection"),
    )


def _changed_at(installation: Json) -> str | None:
    """GitHub writes it as an instant or as seconds since 1970, depending on the event."""
    seconds = payload.whole(installation, "updated_at")
    try:
        return (
            times.from_epoch_ms(seconds * times.MS_PER_SECOND)
            if seconds
            else payload.instant(installation, "updated_at")
        )
    except (ValueError, OverflowError):
        return None
