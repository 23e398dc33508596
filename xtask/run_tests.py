"""Runs the tests in Rust, two programs at a time, the slow ones first: one alone leaves processors idle.

A program `all` has the tests of many files, each a module of it: every module runs in a process of its own, like a
program.

usage: run_tests.py "SLOW SLOW ..." COMMAND...   where the command is `cargo test` with options, without `--no-run`
"""

import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple


class Part(NamedTuple):
    """The tests of one file: a whole program, or a module of one."""

    crate: str
    name: str
    command: list[str]
    folder: str


def parts(command: list[str]) -> list[Part]:
    """The tests by file, from the programs that cargo builds if need be."""
    built = subprocess.run([*command, "--no-run", "--message-format=json"], stdout=subprocess.PIPE, check=True)
    result = []
    for message in map(json.loads, built.stdout.splitlines()):
        if message.get("executable") and message["profile"]["test"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            program, name = message["executable"], message["target"]["name"]
            if name == "all":
                result += [Part(folder.name, *module, str(folder)) for module in modules(program, folder)]
            else:
                result.append(Part(folder.name, name, [program], str(folder)))
    return result


def modules(program: str, folder: pathlib.Path) -> list[tuple[str, list[str]]]:
    """The modules of a program, and the command that runs the tests of each."""
    listed = subprocess.run([program, "--list", "--format=terse"], cwd=folder, stdout=subprocess.PIPE, check=True)
    tests = [line.removesuffix(": test") for line in listed.stdout.decode().splitlines() if line.endswith(": test")]
    by_module: dict[str, list[str]] = {}
    for test in tests:
        by_module.setdefault(test.partition("::")[0], []).append(test)
    return [(module, [program, "--exact", *names]) for module, names in by_module.items()]


def run(part: Part) -> bool:
    started = time.monotonic()
    # Half of the processors each: tests that start workers of their own take no notice.
    environment = os.environ | {"RUST_TEST_THREADS": str(max(1, (os.cpu_count() or 1) // 2))}
    environment |= {"CARGO_MANIFEST_DIR": part.folder}
    done = subprocess.run(part.command, cwd=part.folder, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    result = next((line for line in reversed(lines) if line.startswith("test result")), "no result")
    print(f"{part.crate}/{part.name}: {result}, {time.monotonic() - started:.0f} s", flush=True)
    if done.returncode != 0:
        code = f"{part.crate}/{part.name}: exit code {done.returncode}"
        print(done.stdout, done.stderr, code, sep="\n", flush=True)
    return done.returncode == 0


def main(slow: str, *command: str) -> int:
    order = {name: place for place, name in enumerate(slow.split())}
    tests = sorted(parts(list(command)), key=lambda part: (order.get(part.name, len(order)), part.crate, part.name))
    with ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(run, tests))
    failed = [f"{part.crate}/{part.name}" for part, has_passed in zip(tests, passed, strict=True) if not has_passed]
    print(f"{len(tests)} parts, {'all passed' if not failed else 'failed: ' + ', '.join(failed)}")
    return 1 if failed or not tests else 0


sys.exit(main(*sys.argv[1:]))
