#!/bin/bash
# Notes how it was called: `config.sh remove` takes its token from the environment.
cd "$(dirname "$0")" || exit 1
echo "$* $ACTIONS_RUNNER_INPUT_TOKEN" >removal
until [[ -e finish_removal || ! $FAKE_SLOW_REMOVAL ]]; do sleep 0.05; done
exit "${FAKE_REMOVAL_EXIT_CODE:-0}"
