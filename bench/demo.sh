#!/usr/bin/env bash
# The main job on a real input under a memory limit: import, three algorithms with --verify, answers and I/O.
# usage: demo.sh OUTCORE PYTHON MEMORY GRAPH GENERATOR
set -euo pipefail
outcore=$1 python=$2 memory=$3 graph=$4 generator=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=$work/demo.oc

if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { say "\$ outcore $*"; "$outcore" "$@"; }

if [ -n "$graph" ]; then
    show import "$graph" "$image" --memory "$memory"
else
    # shellcheck disable=SC2086
    show generate $generator "$image" --memory "$memory"
fi
show info "$image"
source=$("$python" - "$image" "$memory" <<'END'
import sys
import outcore as oc
with oc.Graph(sys.argv[1], memory=sys.argv[2]) as graph:
    for first, _ in oc.pagerank(graph, tol=0, max_iter=1).top(1):
        print(first)
END
)
show run pagerank "$image" --memory "$memory" --tol 1e-9 --verify --stats "$work/pagerank.json"
if [ -n "$source" ]; then
    show run bfs --source="$source" "$image" --memory "$memory" --verify --stats "$work/bfs.json"
fi
show run components "$image" --memory "$memory" --verify --stats "$work/components.json"

say "I/O statistics"
"$python" - "$work" "$image" <<'END'
import json, pathlib, sys
work, image = map(pathlib.Path, sys.argv[1:])
size = sum(file.stat().st_size for file in image.rglob("*") if file.is_file())
print(f"{'':12}{'seconds':>9}{'passes':>9}{'MiB read':>10}{'requests':>10}{'peak MiB':>10}{'limit MiB':>11}{'image MiB':>11}")
for file in sorted(work.glob("*.json")):
    stats = json.loads(file.read_text())["stats"]
    mib = lambda key: stats[key] / 2**20
    print(f"{file.stem:12}{stats['seconds']:9.3f}{stats['passes']:9.3f}{mib('bytes_read'):10.1f}{stats['requests']:10}"
          f"{mib('memory_peak_bytes'):10.1f}{mib('memory_limit_bytes'):11.1f}{size / 2**20:11.1f}")
    if stats["memory_peak_bytes"] > stats["memory_limit_bytes"]:
        sys.exit(f"{file.stem} held more memory than its limit")
END
