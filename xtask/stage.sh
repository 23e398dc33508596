#!/usr/bin/env bash
# Runs a command, and says every minute how long it has been at it and what it printed last.
# usage: stage.sh WHAT COMMAND...
set -uo pipefail
what=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
minutes() { echo "$((SECONDS / 60)) min $((SECONDS % 60)) s"; }

echo "== $what"
{ while sleep 60; do echo "== $what: $(minutes), at: $(tail -n 1 "$log" | cut -c 1-90)"; done; } &
beat=$!
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
kill "$beat" 2>/dev/null
wait "$beat" 2>/dev/null
if [ "$status" -ne 0 ]; then
    echo "== $what: FAILED after $(minutes)"
    exit "$status"
fi
echo "== $what: done in $(minutes)"
