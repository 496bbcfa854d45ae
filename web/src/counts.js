/* The number of jobs in each status, and of those that completed within 24 hours. */

import * as api from "./api.js";

// The API reads every job of a day to count them: 5,000 read units for 100,000 jobs.
const COMPLETED_MS = 300_000;
// By installation: the number of completed jobs, and when it was loaded. Views share it.
const completed = new Map();

/** Open jobs are counted each time, and completed ones every five minutes. */
export function loadCounts(installation) {
  return async (signal) => {
    const known = completed.get(installation);
    const isFresh = known && Date.now() - known.at < COMPLETED_MS;
    const counts = await api.get(api.of(installation, "counts"), isFresh ? { completed: false } : {}, signal);
    if (isFresh) return { ...counts, completed_24h: known.number };
    completed.set(installation, { at: Date.now(), number: counts.completed_24h });
    return counts;
  };
}
