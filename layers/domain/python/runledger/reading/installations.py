"""What GitHub says of the App's installations."""

from runledger import payload
from runledger.deliveries import Delivery, installation_id
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
    return (
        InstallationReport(
            installation_id=installation_id(message),
            status=STATUS_AFTER[action],
            # Required: with the time of receipt instead, a replay would be the latest change.
            changed_at=payload.required_time(installation, "installation.updated_at"),
            reported_at=delivery.received_at,
            org_name=payload.text(payload.optional_section(installation, "account"), "login"),
            repository_selection=payload.text(installation, "repository_selection"),
        ),
    )
