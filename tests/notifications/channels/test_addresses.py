"""Messages go to public addresses only, in whatever notation a private one is written."""

from ipaddress import ip_address

import pytest
from runledger.model.errors import Malformed
from runledger.notifications.channels import addresses, urls

PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "140.82.112.3", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0"),
    *("2606:4700:4700::1111", "2a00:1450:4001:82b::200e", "::ffff:8.8.8.8", "64:ff9b::808:808"),
)
NOT_PUBLIC = {
    "this host": "0.0.0.0",  # noqa: S104
    "this network": "0.1.2.3",
    "private A": "10.0.0.1",
    "private B": "172.16.0.1",
    "private B, its end": "172.31.255.255",
    "private C": "192.168.1.1",
    "carrier-grade NAT": "100.64.0.1",
    "metadata of Alibaba": "100.100.100.200",
    "loopback": "127.0.0.1",
    "another loopback": "127.255.0.3",
    "metadata of EC2": "169.254.169.254",
    "credentials of ECS": "169.254.170.2",
    "the runtime API of Lambda": "169.254.100.1",
    "the platform of Azure": "168.63.129.16",
    "metadata of Oracle": "192.0.0.192",
    "documentation": "203.0.113.9",
    "benchmarks": "198.19.0.1",
    "multicast": "224.0.0.1",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "unspecified v6": "::",
    "loopback v6": "::1",
    "link-local v6": "fe80::1",
    "link-local v6 with a scope": "fe80::1%1",
    "global v6 with a scope": "2606:4700:4700::1111%1",
    "site-local v6": "fec0::1",
    "unique local v6": "fd12:3456::1",
    "metadata of EC2 in v6": "fd00:ec2::254",
    "multicast v6": "ff02::1",
    "documentation v6": "2001:db8::1",
    "new documentation v6": "3fff::1",
    "discard only": "100::1",
    "mapped loopback": "::ffff:127.0.0.1",
    "mapped metadata": "::ffff:169.254.169.254",
    "mapped private": "::ffff:a00:1",
    "compatible loopback": "::127.0.0.1",
    "NAT64 of metadata": "64:ff9b::a9fe:a9fe",
    "NAT64 of private": "64:ff9b::10.0.0.1",
    "local NAT64": "64:ff9b:1::a00:1",
    "translated": "::ffff:0:7f00:1",
    "6to4 of loopback": "2002:7f00:1::1",
    "6to4 of metadata": "2002:a9fe:a9fe::1",
    "Teredo": "2001:0:a9fe:a9fe::1",
    "ISATAP of private": "2606:4700::5efe:10.0.0.1",
    "ORCHID": "2001:20::1",
    "segment routing": "5f00::1",
}


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_allowed(text: str) -> None:
    assert addresses.is_public(ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC.values(), ids=NOT_PUBLIC.keys())
def test_an_address_that_is_not_public_is_rejected(text: str) -> None:
    assert not addresses.is_public(ip_address(text))


@pytest.mark.parametrize("text", [each for each in NOT_PUBLIC.values() if "%" not in each])
def test_a_url_with_an_address_that_is_not_public_is_rejected(text: str) -> None:
    with pytest.raises(Malformed):
        urls.target(f"https://{f'[{text}]' if ':' in text else text}/", field="url")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://hooks.example/",
            "ftp://hooks.example/",
            "file:///etc/passwd",
            "gopher://hooks.example/",
            "//x.example",
        ),
        *("https://", "https:///path", "hooks.example", "", "https://hooks.example:0/", "https://hooks.example:99999/"),
        *("https://user@hooks.example/", "https://user:secret@hooks.example/", "https://hooks.example/#part"),
        *("https://hooks.example@169.254.169.254/", "https://hooks.example\\@169.254.169.254/"),
        # Other notations of 127.0.0.1 that the system's resolver accepts.
        *("https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://0x7f.1/"),
        *(
            "https://localhost/",
            "https://LOCALHOST./",
            "https://x.localhost/",
            "https://[::1]/",
            "https://[fe80::1%25eth0]/",
        ),
        *("https://hooks.example/a b", "https://hooks.example/\r\nHost: evil", "https://hooks.example/\x00"),
        *(
            "https://h\u00f6\u00f6ks.example/",
            "https://\uff11\uff12\uff17.0.0.1/",
            "https://hooks..example/",
            "https://-hooks.example/",
        ),
        "https://hooks.example/" + "a" * 2000,
    ],
)
def test_a_url_that_cannot_be_a_public_https_receiver_is_rejected(url: str) -> None:
    with pytest.raises(Malformed) as caught:
        urls.target(url, field="url")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        ("https://Hooks.Example", "https://hooks.example/"),
        ("HTTPS://hooks.example.:443/x?y=1&z=%20", "https://hooks.example/x?y=1&z=%20"),
        ("https://hooks.example:8443/x", "https://hooks.example:8443/x"),
        ("https://[2606:4700:4700::1111]/x", "https://[2606:4700:4700::1111]/x"),
        ("https://xn--hks-sna2a.example/", "https://xn--hks-sna2a.example/"),
    ],
)
def test_a_url_is_normalised(url: str, normalised: str) -> None:
    assert urls.target(url, field="url").url == normalised
    assert urls.target(normalised, field="url").url == normalised


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/", "http://localhost:8000/", "http://[::1]:8000/"])
def test_loopback_needs_the_setting_for_tests(url: str) -> None:
    with pytest.raises(Malformed):
        urls.target(url, field="url")
    assert urls.target(url, field="url", allow_loopback=True).url == url


@pytest.mark.parametrize("url", ["http://hooks.example/", "http://10.0.0.1/", "https://169.254.169.254/"])
def test_the_setting_for_tests_allows_loopback_and_nothing_else(url: str) -> None:
    with pytest.raises(Malformed):
        urls.target(url, field="url", allow_loopback=True)
