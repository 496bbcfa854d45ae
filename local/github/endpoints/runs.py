"""Workflow runs, their attempts and jobs, and re-runs of failed jobs."""

from local.github.attempts import jobs_of, rerun_failed_jobs
from local.github.messages import Answer, Refusal, not_found
from local.github.paging import page_of
from local.github.records import Job, Run
from local.github.routing import Call, Needs, Routes
from local.github.shapes import runs as shapes

routes = Routes(Needs.TOKEN)
RUN = "/repos/{owner}/{repo}/actions/runs/{run_id}"
ATTEMPT = RUN + "/attempts/{attempt_number}"


@routes.add("GET", RUN)
def get_run(call: Call) -> Answer:
    run = known_run(call)
    return _attempt_of(call, run, run.run_attempt)


@routes.add("GET", ATTEMPT)
def get_attempt(call: Call) -> Answer:
    return _attempt_of(call, known_run(call), _attempt(call))


@routes.add("GET", RUN + "/jobs")
def list_jobs(call: Call) -> Answer:
    run, wanted = known_run(call), call.request.query.get("filter", "latest")
    if wanted not in ("latest", "all"):
        raise Refusal(422, "filter must be latest or all")
    return _jobs(call, run, jobs_of(call.state, run, run.run_attempt if wanted == "latest" else None))


@routes.add("GET", ATTEMPT + "/jobs")
def list_attempt_jobs(call: Call) -> Answer:
    run = known_run(call)
    return _jobs(call, run, jobs_of(call.state, run, _attempt(call)))


@routes.add("GET", "/repos/{owner}/{repo}/actions/jobs/{job_id}")
def get_job(call: Call) -> Answer:
    job = call.state.jobs.get(call.number("job_id"))
    run = call.state.runs[job.run_id] if job else None
    if job is None or run is None or run.repository.lower() != call.repository:
        raise not_found()
    return Answer(200, shapes.job(call.site, job, run))


@routes.add("POST", RUN + "/rerun-failed-jobs")
def rerun(call: Call) -> Answer:
    rerun_failed_jobs(call.state, known_run(call))
    return Answer(201, {})


def known_run(call: Call) -> Run:
    run = call.state.runs.get(call.number("run_id"))
    if run is None or run.repository.lower() != call.repository:
        raise not_found()
    return run


def _attempt(call: Call) -> int:
    attempt = call.number("attempt_number")
    if not 1 <= attempt <= known_run(call).run_attempt:
        raise not_found()
    return attempt


def _attempt_of(call: Call, run: Run, attempt: int) -> Answer:
    return Answer(200, shapes.run(call.site, run, attempt, jobs_of(call.state, run, attempt)))


def _jobs(call: Call, run: Run, jobs: list[Job]) -> Answer:
    page, headers = page_of(call.request, jobs)
    return Answer(200, {"total_count": len(jobs), "jobs": [shapes.job(call.site, job, run) for job in page]}, headers)
