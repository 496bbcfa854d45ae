"""One request to an address that was checked, within a total time and size, whatever the receiver does."""

import socket
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread

import pytest
from runledger.notifications.channels.connection import MOST_RESPONSE_BYTES, Http, NoResponse, NotPublic, Response
from runledger.notifications.channels.urls import Target

from tests.notifications.channels.authority import Authority
from tests.notifications.channels.receivers import (
    Behaviour,
    Receiver,
    drips,
    hangs_up,
    receiving,
    refusing,
    repeats,
    responds,
    sends,
    stays_silent,
    then_drips,
)
from tests.notifications.channels.scene import IMPATIENT, PATIENT, resolving

Client = Callable[..., Http]
# A test that takes this long has met no limit: the receivers give up after 10 seconds.
SOON = 5
NAME = "hooks.example"


def at(receiver: Receiver, *, host: str | None = None, scheme: str | None = None) -> Target:
    return Target(scheme=scheme or receiver.scheme, host=host or receiver.host, port=receiver.port, path="/hook?a=1")


def post(http: Http, target: Target, *, body: bytes = b'{"a":1}') -> Response:
    started = time.monotonic()
    try:
        return http.post(target, body, {"X-Test": "yes"})
    finally:
        assert time.monotonic() - started < SOON


def test_a_request_reaches_its_receiver_and_the_response_comes_back(http: Client) -> None:
    with receiving(responds(201, body=b"thanks", X_Id="7")) as receiver:
        response = post(http(), at(receiver))
    assert (response.status, response.body, response.headers["x-id"]) == (201, b"thanks", "7")
    (request,) = receiver.requests
    assert (request.line, request.body) == ("POST /hook?a=1 HTTP/1.1", b'{"a":1}')
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["x-test"] == "yes"
    assert request.headers["content-length"] == "7"


def test_the_certificate_is_checked_for_the_name_and_not_for_the_address(http: Client, authority: Authority) -> None:
    with receiving(responds(200), tls=authority.server(NAME)) as receiver:
        found = resolving(hooks_example=["127.0.0.1"], other_example=["127.0.0.1"])
        assert post(http(resolve=found), at(receiver, host=NAME)).status == 200
        assert receiver.requests[0].headers["host"] == f"{NAME}:{receiver.port}"
        with pytest.raises(NoResponse, match="certificate"):
            post(http(resolve=found), at(receiver, host="other.example"))
        with pytest.raises(NoResponse, match="certificate"):
            post(http(resolve=found), at(receiver))
    assert len(receiver.requests) == 1


def test_a_certificate_of_an_unknown_authority_is_rejected(authority: Authority) -> None:
    with (
        receiving(responds(200), tls=authority.server("127.0.0.1")) as receiver,
        pytest.raises(NoResponse, match="certificate"),
    ):
        post(Http(allow_loopback=True, **PATIENT), at(receiver))
    assert receiver.requests == []


def test_an_expired_certificate_is_rejected(http: Client, authority: Authority) -> None:
    with (
        receiving(responds(200), tls=authority.server("127.0.0.1", expired=True)) as receiver,
        pytest.raises(NoResponse, match="expired"),
    ):
        post(http(), at(receiver))
    assert receiver.requests == []


def test_a_receiver_without_tls_gets_nothing(http: Client) -> None:
    with receiving(responds(200)) as receiver, pytest.raises(NoResponse):
        post(http(**IMPATIENT), at(receiver, scheme="https"))
    assert b"{" not in b"".join(each.body for each in receiver.requests)


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["::1"], ["10.0.0.1"], ["169.254.169.254"], ["fd00:ec2::254"], ["::ffff:169.254.169.254"]),
        *(["fe80::1%1"], ["64:ff9b::a9fe:a9fe"], ["0.0.0.0"], ["nonsense"], []),  # noqa: S104
        # One public address doesn't make the others public.
        *(["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]),
    ],
)
def test_a_name_that_resolves_to_an_address_that_is_not_public_is_rejected_before_a_connection(
    http: Client, addresses: Sequence[str]
) -> None:
    with receiving(responds(200)) as receiver, pytest.raises(NotPublic) as caught:
        post(http(allow_loopback=False, resolve=resolving(hooks_example=addresses)), at(receiver, host=NAME))
    assert receiver.connections == 0
    assert not any(address in str(caught.value) for address in addresses)


def test_an_address_in_the_url_is_checked_too(http: Client) -> None:
    with receiving(responds(200)) as receiver, pytest.raises(NotPublic):
        post(http(allow_loopback=False), at(receiver))
    assert receiver.connections == 0


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "fd00:ec2::254"])
def test_the_setting_for_tests_opens_loopback_only(http: Client, address: str) -> None:
    target = Target(scheme="http", host=NAME, port=80, path="/")
    with pytest.raises(NotPublic):
        post(http(resolve=resolving(hooks_example=[address])), target)


def test_a_name_that_changes_after_the_check_leads_to_the_checked_address(http: Client) -> None:
    """The resolver of an attacker responds with an allowed address first, and with the one to reach from then on."""
    with receiving(responds(200)) as checked, receiving(responds(200), address="127.0.0.2") as attacked:
        addresses = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])
        resolved: list[str] = []

        def resolve(host: str, _port: int) -> Sequence[str]:
            resolved.append(host)
            return next(addresses)

        post(http(resolve=resolve), at(checked, host=NAME))
    assert (checked.connections, attacked.connections, resolved) == (1, 0, [NAME])


def test_a_name_that_turns_private_after_its_first_use_is_rejected(http: Client) -> None:
    addresses = iter([["127.0.0.1"], ["10.0.0.1"]])
    client = http(resolve=lambda _host, _port: next(addresses))
    with receiving(responds(200)) as receiver:
        assert post(client, at(receiver, host=NAME)).status == 200
        with pytest.raises(NotPublic):
            post(client, at(receiver, host=NAME))
    assert receiver.connections == 1


def test_the_next_address_is_used_if_the_first_is_down(http: Client) -> None:
    with refusing() as port, receiving(responds(200), address="127.0.0.2", port=port) as receiver:
        found = resolving(hooks_example=["127.0.0.1", "127.0.0.2"])
        assert post(http(resolve=found), at(receiver, host=NAME)).status == 200


def test_a_name_that_is_not_found_has_no_response(http: Client) -> None:
    with pytest.raises(NoResponse, match="can't be resolved"):
        post(http(resolve=resolving()), Target(scheme="https", host=NAME, port=443, path="/"))


def test_a_resolver_that_hangs_is_given_up(http: Client) -> None:
    forever = Event()
    with pytest.raises(NoResponse, match="seconds"):
        post(
            http(**IMPATIENT, resolve=lambda _host, _port: forever.wait(SOON) and []),
            Target(scheme="https", host=NAME, port=443, path="/"),
        )
    forever.set()


def test_a_receiver_that_is_down_has_no_response(http: Client) -> None:
    with refusing() as port, pytest.raises(NoResponse, match="refused"):
        post(http(), Target(scheme="http", host="127.0.0.1", port=port, path="/"))


def test_a_redirect_is_not_followed(http: Client) -> None:
    with receiving(responds(200)) as other, receiving(responds(307, Location=other.url)) as receiver:
        assert post(http(), at(receiver)).status == 307
    assert (receiver.connections, other.connections) == (1, 0)


def test_a_proxy_in_the_environment_is_not_used(http: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(responds(500)) as proxy, receiving(responds(200)) as receiver:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert post(http(), at(receiver)).status == 200
    assert proxy.connections == 0


STATUS_UNKNOWN: dict[str, Behaviour] = {
    "silent": stays_silent,
    "hangs up": hangs_up,
    "half a status": sends(b"HTTP/1."),
    "drips the status": drips(b"HTTP/1.1 200 " + b"O" * 500),
    "nonsense": sends(b"\x00\xff nonsense\r\n\r\n"),
    "another protocol": sends(b"220 mail.example ESMTP\r\n"),
    "an endless status line": repeats(b"HTTP/1.1 ", b"2" * 4096),
    "a status that is no number": sends(b"HTTP/1.1 OK 200\r\n\r\n"),
    "endless interim responses": repeats(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
}


@pytest.mark.parametrize("behaviour", STATUS_UNKNOWN.values(), ids=STATUS_UNKNOWN.keys())
def test_without_a_status_there_is_no_response_and_the_time_is_limited(http: Client, behaviour: Behaviour) -> None:
    with receiving(behaviour) as receiver, pytest.raises(NoResponse) as caught:
        post(http(**IMPATIENT), at(receiver))
    assert "nonsense" not in str(caught.value)


START = b"HTTP/1.1 200 OK\r\n"
STATUS_KNOWN: dict[str, Behaviour] = {
    "hangs up after the status": sends(START),
    "drips headers": drips(START + b"X-Slow: " + b"a" * 500),
    "endless headers": repeats(START, b"X-More: " + b"a" * 1000 + b"\r\n"),
    "an endless header": repeats(START + b"X-More: ", b"a" * 4096),
    "drips the body": then_drips(START + b"Content-Length: 500\r\n\r\n", b"a" * 400),
    "an endless body": repeats(START + b"\r\n", b"a" * 4096),
    "endless chunks": repeats(START + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\naaaaa\r\n" * 50),
    "chunks of nonsense": sends(START + b"Transfer-Encoding: chunked\r\n\r\nnonsense"),
    "half a body": sends(START + b"Content-Length: 500\r\n\r\nhalf"),
    "a negative length": sends(START + b"Content-Length: -5\r\n\r\nbody"),
    "two lengths": sends(START + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nbody"),
    "a compressed bomb": sends(START + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08"),
    "interim first": sends(b"HTTP/1.1 100 Continue\r\n\r\n" + START + b"Content-Length: 0\r\n\r\n"),
}


@pytest.mark.parametrize("behaviour", STATUS_KNOWN.values(), ids=STATUS_KNOWN.keys())
def test_a_status_counts_whatever_follows_it(http: Client, behaviour: Behaviour) -> None:
    """Otherwise a message that was accepted would be sent again."""
    with receiving(behaviour) as receiver:
        response = post(http(seconds=1.0), at(receiver))
    assert response.status == 200
    assert len(response.body) <= MOST_RESPONSE_BYTES


def test_after_the_status_the_receiver_has_little_time_left(http: Client) -> None:
    with receiving(STATUS_KNOWN["drips the body"]) as receiver:
        assert post(http(), at(receiver)).status == 200


def test_endless_interim_responses_are_given_up(http: Client) -> None:
    with receiving(STATUS_UNKNOWN["endless interim responses"]) as receiver, pytest.raises(NoResponse):
        post(http(), at(receiver))


def test_a_response_counts_although_the_receiver_has_not_read_everything(http: Client) -> None:
    """It hangs up with data that it hasn't read, so sending fails."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def respond() -> None:
            accepted, _ = listener.accept()
            with accepted:
                accepted.recv(1000)
                accepted.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

        thread = Thread(target=respond)
        thread.start()
        target = Target(scheme="http", host="127.0.0.1", port=listener.getsockname()[1], path="/")
        assert post(http(), target, body=b"a" * 30_000_000).status == 202
        thread.join()


def test_a_receiver_that_never_reads_does_not_keep_the_sender(http: Client) -> None:
    """Its buffers are full after a while, and then nothing more can be sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = Target(scheme="http", host="127.0.0.1", port=listener.getsockname()[1], path="/")
        with pytest.raises(NoResponse, match="seconds"):
            post(http(**IMPATIENT), target, body=b"a" * 30_000_000)
