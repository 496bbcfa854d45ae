"""Options that `migrate` and `verify` share."""

from __future__ import annotations

import argparse

DEFAULT_RATE = 100
FASTEST = 10_000


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="s3://BUCKET, s3://BUCKET/PREFIX or a folder")
    parser.add_argument("--stage", default="prod", help="the stage of the deployment (default: %(default)s)")
    parser.add_argument("--pattern", help="the key pattern of the webhooks (default: the deployment's pattern)")
    parser.add_argument(
        "--rate",
        type=_rate,
        default=DEFAULT_RATE,
        metavar="N",
        help="read at most N objects per second (default: %(default)s)",
    )
    parser.add_argument(
        "--map-installation",
        action="append",
        default=[],
        type=_mapping,
        metavar="OLD=NEW",
        help="treat jobs of installation OLD as jobs of NEW; may be repeated",
    )


def _rate(text: str) -> int:
    if text.isdecimal() and 0 < int(text) <= FASTEST:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number from 1 to {FASTEST}")


def _mapping(text: str) -> tuple[int, int]:
    old, _, new = text.partition("=")
    if old.isdecimal() and new.isdecimal():
        return int(old), int(new)
    raise argparse.ArgumentTypeError(f"{text!r} isn't OLD=NEW with the ids of two installations")
