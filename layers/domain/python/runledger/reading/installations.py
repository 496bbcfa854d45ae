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
    return (
        InstallationReport(
            installation_id=installation_id(message),
            status=STATUS_AFTER[action],
            changed_at=_changed_at(installation) or delivery.received_at,
            reported_at=delivery.received_at,
            org_name=payload.text(payload.optional_section(installation, "account"), "login"),
            repository_selection=payload.text(installation, "repository_selection"),
        ),
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
