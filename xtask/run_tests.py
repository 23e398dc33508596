"""Runs the tests in Rust, two of their programs at a time, the slow ones first: one alone leaves processors idle.

usage: run_tests.py "SLOW SLOW ..." COMMAND...   where the command is `cargo test` with options, without `--no-run`
"""

import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def programs(command: list[str]) -> list[tuple[str, str, str]]:
    """The name, the program and the folder of each, which cargo builds if need be."""
    built = subprocess.run([*command, "--no-run", "--message-format=json"], stdout=subprocess.PIPE, check=True)
    found = []
    for message in map(json.loads, built.stdout.splitlines()):
        if message.get("executable") and message["profile"]["test"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            found.append((f"{folder.name}/{message['target']['name']}", message["executable"], str(folder)))
    return found


def run(program: tuple[str, str, str]) -> bool:
    name, path, folder = program
    started = time.monotonic()
    # Half of the processors each: tests that start workers of their own take no notice.
    environment = os.environ | {"RUST_TEST_THREADS": str(max(1, (os.cpu_count() or 1) // 2))}
    environment |= {"CARGO_MANIFEST_DIR": folder}
    done = subprocess.run([path], cwd=folder, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    result = next((line for line in reversed(lines) if line.startswith("test result")), "no result")
    print(f"{name}: {result}, {time.monotonic() - started:.0f} s", flush=True)
    if done.returncode != 0:
        print(done.stdout, done.stderr, f"{name}: exit code {done.returncode}", sep="\n", flush=True)
    return done.returncode == 0


def main(slow: str, *command: str) -> int:
    order = {name: place for place, name in enumerate(slow.split())}
    found = programs(list(command))
    found.sort(key=lambda program: (order.get(program[0].split("/")[1], len(order)), program[0]))
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, found))
    failed = [program[0] for program, outcome in zip(found, outcomes, strict=True) if not outcome]
    print(f"{len(found)} programs, {'all passed' if not failed else 'failed: ' + ', '.join(failed)}")
    return 1 if failed or not found else 0


sys.exit(main(*sys.argv[1:]))
