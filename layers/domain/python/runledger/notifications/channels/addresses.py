"""Which IP addresses a message may be sent to: public ones only. Pure.

A receiver is chosen by a user of the API. Without this check, a subscription could make the sender call services that
only this account can reach, for example the endpoint that hands out the function's credentials.

`ipaddress.is_global` isn't used: what it returns for several of these ranges depends on the version of Python.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# The IANA registry of special-purpose addresses, except those that are reachable like any other.
NOT_PUBLIC_V4 = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and the metadata of some clouds
        "127.0.0.0/8",
        "168.63.129.16/32",  # the platform of Azure
        "169.254.0.0/16",  # link-local: metadata of EC2, ECS and Lambda
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Only these are assigned as global unicast addresses. Loopback, link-local, unique local (which has EC2's metadata at
# fd00:ec2::254), site-local and multicast addresses are all outside.
GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(each)
    for each in (
        "2001::/23",  # protocols; Teredo contains an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which contains an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
)
# A gateway translates these to the IPv4 address in their last 32 bits.
NAT64 = IPv6Network("64:ff9b::/96")
ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the third quarter of an address that contains an IPv4 address
WORD = 0xFFFF_FFFF


def parse(text: str) -> Address | None:
    """None if the text isn't an address. The scope of an IPv6 address (`%eth0`) makes it local."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if (inner := _inner(address)) is not None:
        return is_public(inner)
    if (int(address) >> 32) & WORD in ISATAP:
        return False
    return address in GLOBAL_UNICAST_V6 and not any(address in network for network in NOT_PUBLIC_V6)


def is_loopback(address: Address) -> bool:
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (inner or address).is_loopback


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a packet to this address is sent to, if there is one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & WORD) if address in NAT64 else None
