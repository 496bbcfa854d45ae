"""`python -m local up|down|run`: runs Runledger on this machine; the Makefile has targets of the same names."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime

from local import ROOT
from local.aws import deployment, emulator
from local.aws.outputs import Outputs
from local.demo import workload as demo
from local.github import simulator
from local.processes import LocalError, Process, Server, free_port

FOLDER = ROOT / ".local"
OUTPUTS = FOLDER / deployment.OUTPUTS
DEPLOYED = FOLDER / "deployed"
EMULATOR = Server("emulated AWS", FOLDER / "aws")
GITHUB = Server("simulated GitHub", FOLDER / "github")


def up() -> Outputs:
    """Start what isn't running, and deploy if the sources have changed."""
    started = time.monotonic()
    aws = _emulator(_port())
    github = GITHUB.running() or simulator.start(GITHUB, free_port())
    fingerprint = f"{deployment.fingerprint()} {aws.pid} {github.port}"
    deployed = Outputs.load(OUTPUTS)
    if deployed and _last_deployed() == fingerprint and not deployment.problem(deployed):
        print("The deployment is up to date")
    else:
        print("Deploying with CDK (about 30 seconds)")
        DEPLOYED.unlink(missing_ok=True)
        deployed = deployment.deploy(aws.url, FOLDER, github_api_url=github.url)
        DEPLOYED.write_text(fingerprint)
    print(f"Runledger is up after {time.monotonic() - started:.0f} s")
    return deployed


def down() -> None:
    if not _stop(EMULATOR, GITHUB):
        print("Nothing is running")


def run() -> None:
    """Play the demo and wait. Ctrl-C stops the servers that this command started, not those of an earlier `up`."""
    started = [server for server in (EMULATOR, GITHUB) if not server.running()]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        deployed = up()
        demo.send(deployed, now=datetime.now(UTC))
        _describe(deployed)
        print("Press Ctrl-C to stop" if started else "Press Ctrl-C to leave it running; `make down` stops it")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    finally:
        _stop(*started)


def _port() -> int:
    given = os.environ.get("RUNLEDGER_PORT", "4566")
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise LocalError(f"RUNLEDGER_PORT is {given!r}: set it to a port number from 1 to 65535")
    return int(given)


def _emulator(port: int) -> Process:
    aws = EMULATOR.running()
    if not aws:
        print(f"Starting the emulated AWS on port {port}")
        return emulator.start(EMULATOR, port)
    if aws.port != port:
        raise LocalError(f"the emulated AWS is already running on port {aws.port}: stop it with `make down`")
    return aws


def _stop(*servers: Server) -> int:
    stopped = [server for server in servers if server.stop()]
    for server in stopped:
        print(f"Stopped the {server.name}")
    if EMULATOR in stopped:
        OUTPUTS.unlink(missing_ok=True)  # no longer valid
    return len(stopped)


def _last_deployed() -> str | None:
    return DEPLOYED.read_text() if DEPLOYED.exists() else None


def _describe(deployed: Outputs) -> None:
    print(f"  AWS         {deployed.endpoint_url} ({deployed.region}, any access key)")
    print(f"  webhook     {deployed.webhook_url}")
    print(f"  dashboard   {deployed.api_url}/")
    print(f"  GitHub      {deployed.github_api_url}")
    print(f"  all outputs {OUTPUTS.relative_to(ROOT)}")
    print("For `curl`, and to sign in on the dashboard with the token:")
    print(f"  export RUNLEDGER_API_URL={deployed.api_url}")
    print(f"  export RUNLEDGER_TOKEN={deployed.admin_token}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument("command", choices=["up", "down", "run"])
    command = parser.parse_args().command
    try:
        if command == "up":
            _describe(up())
        elif command == "down":
            down()
        else:
            run()
    except LocalError as error:
        sys.exit(f"runledger: {error}")
    except KeyboardInterrupt:
        sys.exit("runledger: interrupted")


if __name__ == "__main__":
    main()
