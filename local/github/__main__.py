"""Runs the simulated GitHub until SIGTERM or Ctrl-C: `python -m local.github --port 4570`."""

import argparse
import signal
from pathlib import Path
from threading import Event

from local.github import SimulatedGitHub


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.github", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="loopback port to listen on; 0 selects a free one")
    parser.add_argument("--key-file", type=Path, help="file that keeps the App's private key between starts")
    arguments = parser.parse_args()
    stop = Event()
    for received_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(received_signal, lambda *_: stop.set())
    with SimulatedGitHub(arguments.port, key_file=arguments.key_file) as github:
        print(f"Simulated GitHub at {github.url}", flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
