#!/bin/bash
# Behaves as run.sh of actions/runner does with RUNNER_MANUALLY_TRAP_SIG. FAKE_ variables choose what happens to it,
# marker files in its folder show the test what has happened, and choose what the runner does next.
cd "$(dirname "$0")" || exit 1
set -m # as there: each child is in a process group of its own

stop() {
    touch interrupted
    [[ $FAKE_STUBBORN ]] && return
    [[ $worker ]] && kill -INT -- "-$worker"
    leaving=1
}
trap stop INT

printf '%s\n' "$0" "$@" >arguments
env >environment
if [[ $FAKE_ORPHAN ]]; then
    (until [[ -e release_orphan ]]; do sleep 0.05; done & echo $! >orphan)
fi
if [[ $FAKE_JOB ]]; then
    bin/Runner.Worker &
    worker=$!
fi
echo "Listening for Jobs"
touch listening

if [[ $worker ]]; then
    while kill -0 "$worker" 2>/dev/null; do wait "$worker"; done
else
    until [[ -e leave || $leaving ]]; do sleep 0.05; done
fi
[[ $FAKE_SIGNAL ]] && kill -s "$FAKE_SIGNAL" $$
exit "${FAKE_EXIT_CODE:-0}"
