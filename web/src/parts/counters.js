/* The names of a pass's counters, in the words of its report. */

import { named } from "./badge.js";

const NAMES = {
  runs_asked: "Runs checked",
  long_running_jobs: "Long-running jobs",
  jobs_healed: "Jobs corrected",
  living_instances: "Running instances and tasks",
  stale_mappings: "Runners without a machine",
  orphans_detected: "Orphans suspected",
  postponed: "Deferred to the next pass",
};

export function counter(name) {
  return NAMES[name] ?? named(name);
}
