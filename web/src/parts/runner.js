/* Short runner names, and why a runner is a suspected orphan. */

const REASONS = {
  job_completed: "Its job has finished, but the machine is still running",
  no_job: "It has no job, but the machine is still running",
  never_registered: "Its machine runs, but has never registered with GitHub; its job is still queued",
  unknown_job: "GitHub reports it as busy with a job that the ledger doesn't have, so it isn't terminated",
  contested: "Two installations claim this machine, so it is never terminated",
  instance_gone: "The machine no longer exists; only its record remains",
  instance_stopped: "The machine is stopped; only its record remains",
};

/** The last part of a task's ARN identifies it. */
export function shortRunner(id) {
  return String(id).startsWith("arn:") ? `task ${String(id).split("/").pop()}` : String(id);
}

export function why(orphan) {
  return REASONS[orphan.reason] ?? orphan.reason;
}
