"""Workflow runs, their attempts and jobs, and re-runs of failed jobs."""

from local.github.attempts import jobs_of, rerun_failed_jobs
from local.github.messages import Refusal, Response, not_found
from local.github.paging import page_of
from local.github.records import Job, Run
from local.github.routing import Call, Needs, Routes
from local.github.shapes import runs as shapes

routes = Routes(Needs.TOKEN)
RUN = "/repos/{owner}/{repo}/actions/runs/{run_id}"
ATTEMPT = RUN + "/attempts/{attempt_number}"


@routes.add("GET", RUN)
def get_run(call: Call) -> Response:
    run = find_run(call)
    return _run_response(call, run, run.run_attempt)


@routes.add("GET", ATTEMPT)
def get_attempt(call: Call) -> Response:
    return _run_response(call, find_run(call), _attempt_number(call))


@routes.add("GET", RUN + "/jobs")
def list_jobs(call: Call) -> Response:
    run, job_filter = find_run(call), call.request.query.get("filter", "latest")
    if job_filter not in ("latest", "all"):
        raise Refusal(422, "filter must be latest or all")
    return _jobs_response(call, run, jobs_of(call.state, run, run.run_attempt if job_filter == "latest" else None))


@routes.add("GET", ATTEMPT + "/jobs")
def list_attempt_jobs(call: Call) -> Response:
    run = find_run(call)
    return _jobs_response(call, run, jobs_of(call.state, run, _attempt_number(call)))


@routes.add("GET", "/repos/{owner}/{repo}/actions/jobs/{job_id}")
def get_job(call: Call) -> Response:
    job = call.state.jobs.get(call.number("job_id"))
    run = call.state.runs[job.run_id] if job else None
    if job is None or run is None or run.repository.lower() != call.repository:
        raise not_found()
    return Response(200, shapes.job(call.site, job, run))


@routes.add("POST", RUN + "/rerun-failed-jobs")
def rerun(call: Call) -> Response:
    rerun_failed_jobs(call.state, find_run(call))
    return Response(201, {})


def find_run(call: Call) -> Run:
    run = call.state.runs.get(call.number("run_id"))
    if run is None or run.repository.lower() != call.repository:
        raise not_found()
    return run


def _attempt_number(call: Call) -> int:
    attempt = call.number("attempt_number")
    if not 1 <= attempt <= find_run(call).run_attempt:
        raise not_found()
    return attempt


def _run_response(call: Call, run: Run, attempt: int) -> Response:
    return Response(200, shapes.run(call.site, run, attempt, jobs_of(call.state, run, attempt)))


def _jobs_response(call: Call, run: Run, jobs: list[Job]) -> Response:
    page, headers = page_of(call.request, jobs)
    return Response(200, {"total_count": len(jobs), "jobs": [shapes.job(call.site, job, run) for job in page]}, headers)
