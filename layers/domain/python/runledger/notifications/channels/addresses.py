"""Which IP addresses a message may be sent to: public ones only. Pure.

API users choose the receiver. Without this check, a subscription could make the sender call services that only this
account can reach, for example the endpoint that returns the function's credentials.

`ipaddress.is_global` isn't used, because its result for several of these ranges depends on the Python version.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# IANA's registry of special-purpose addresses, without those that are globally reachable.
NOT_PUBLIC_V4 = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and the metadata services of some clouds
        "127.0.0.0/8",
        "168.63.129.16/32",  # the Azure platform
        "169.254.0.0/16",  # link-local: the metadata services of EC2, ECS and Lambda
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# The only global unicast range. Loopback, link-local, unique local (including EC2's metadata at fd00:ec2::254),
# site-local and multicast addresses are all outside of it.
GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = tuple(
    IPv6Network(each)
    for each in (
        "2001::/23",  # protocol assignments; Teredo addresses contain an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4 addresses, which contain an IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
)
# A gateway translates these to the IPv4 address in their last 32 bits.
NAT64 = IPv6Network("64:ff9b::/96")
ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the third quarter of an address that contains an IPv4 address
WORD = 0xFFFF_FFFF


def parse(text: str) -> Address | None:
    """None if the text isn't an address."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.scope_id is not None:  # an address with a scope, such as `fe80::1%eth0`, is local
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
    """The IPv4 address that receives packets for this address, if there is one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & WORD) if address in NAT64 else None
