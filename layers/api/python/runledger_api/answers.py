"""From what the domain knows to what a route says it answers."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from runledger import urls
from runledger.model import Job


def checked(value: object) -> Any:
    """Pydantic checks every answer against its route's annotation; to mypy it may be anything."""
    return value


def shown(job: Mapping[str, Any]) -> Any:
    address = urls.run_page(job.get("job_html_url"), job.get("run_id"))
    return {**job, **({"github_run_url": address} if address else {})}


def item_of(job: Job) -> dict[str, Any]:
    """As the table holds it: absent is absent."""
    values = {each.name: getattr(job, each.name) for each in fields(job)}
    return {name: value for name, value in values.items() if value is not None}
