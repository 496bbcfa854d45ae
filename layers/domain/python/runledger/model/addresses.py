"""Loopback addresses, GitHub's hosts, and which URLs may carry tokens and keys. Pure."""

from ipaddress import ip_address
from urllib.parse import urlsplit

DATA_RESIDENCY = ".ghe.com"  # the end of host names of GitHub Enterprise Cloud with data residency


def is_encrypted_or_local(url: str) -> bool:
    """Whether the URL has a host, and is https, or http to a loopback address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def is_loopback(host: str) -> bool:
    """`runledger_cli.connection` has a copy, because the CLI is installed without this layer."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
