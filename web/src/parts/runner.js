/* Runners are instances or ECS tasks, and an orphan is suspected for a reason. */

const REASONS = {
  job_completed: "Its job is done, and the machine still runs",
  no_job: "It has no job, and the machine still runs",
  contested: "Two installations claim this machine, so it is never stopped",
  instance_gone: "The machine is gone; only the ledger's record is left",
  instance_stopped: "The machine is stopped; only the ledger's record is left",
};

/** Of a task's long name its last part tells it from others. */
export function shortRunner(id) {
  return String(id).startsWith("arn:") ? `task ${String(id).split("/").pop()}` : String(id);
}

export function why(orphan) {
  return REASONS[orphan.reason] ?? orphan.reason;
}
