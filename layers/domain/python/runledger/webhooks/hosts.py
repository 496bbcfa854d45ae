"""The GitHub host that a deployment serves. Ids of jobs and runs are unique within one host only.

An Enterprise Server names itself in a header of each delivery; github.com sends no such header. Headers aren't signed,
so this check only detects a wrong configuration. Signatures are the protection.
"""

from urllib.parse import urlsplit

from runledger.model.addresses import DATA_RESIDENCY, is_loopback
from runledger.model.errors import WrongHost

HEADER = "X-GitHub-Enterprise-Host"
GITHUB_COM = "github.com"
LONGEST_HOST = 253


def host_of(api_url: str) -> str:
    """The host of `https://HOST/api/v3` (Enterprise Server) or of `https://api.HOST`."""
    host = urlsplit(api_url).hostname or ""
    is_cloud = host == f"api.{GITHUB_COM}" or host.endswith(DATA_RESIDENCY)
    return host.removeprefix("api.") if is_cloud else host


def check(named: str | None, *, served: str) -> None:
    """`named` is the header's value. Raises WrongHost if the delivery isn't from the host that is served."""
    if not named:
        if not _may_be_unnamed(served):
            raise WrongHost(f"{HEADER} is missing, so this delivery is from {GITHUB_COM}. {_remedy(served)}")
    elif named.lower().partition(":")[0] != served:
        raise WrongHost(f"{HEADER} is {named[:LONGEST_HOST]}. {_remedy(served)}")


def _may_be_unnamed(served: str) -> bool:
    """The simulated GitHub, on a loopback address, sends what github.com sends."""
    return served == GITHUB_COM or served.endswith(DATA_RESIDENCY) or is_loopback(served)


def _remedy(served: str) -> str:
    return (
        f"This deployment serves {served}: correct the setting github_api_url, "
        "or deploy Runledger once for each GitHub host"
    )
