"""Runs the command under emulated processors, and compares what it finds with what it finds here."""

import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# Processors of x86-64 as old as Linux distributions still support: the first has SSE3, the second SSE4.2, none has AVX.
CPUS = {"x86_64": ("qemu64", "Nehalem"), "aarch64": ("max",)}
# Where the C library of another processor lies: Debian's libc6-arm64-cross.
SYSROOTS = {"x86_64": "/usr/x86_64-linux-gnu", "aarch64": "/usr/aarch64-linux-gnu"}
LIMITS = ("--memory", "64MiB", "--threads", "2", "--quiet")
# Lists of both directions, weights, and enough entries for the decoders with vector instructions.
GRAPH = ("generate", "kronecker", "--scale", "10", "--edge-factor", "16", "--weights", "uniform")
RUNS = {
    "bfs": ("--source", "1"),
    "sssp": ("--source", "1"),
    "pagerank": (),
    "connected-components": (),
    "triangles": (),
    "core-number": (),
}
# Statistics over an array: the loops of crates/array.
STATISTICS = ("describe", "cov")
# Products of dense matrices round otherwise where a processor has instructions that multiply and add.
ROUNDED = {"cov.csv"}


def compare(native, command, processor):
    """Fails unless the command for a processor finds under emulation what the native one finds."""
    emulator = shutil.which(f"qemu-{processor}") or shutil.which(f"qemu-{processor}-static")
    if emulator is None:
        return print(f"SKIPPED emulation of {processor}: qemu-{processor} (Debian's qemu-user) is not here")
    prefix = [emulator]
    if processor != os.uname().machine:
        if not pathlib.Path(SYSROOTS[processor]).exists():
            return print(f"SKIPPED emulation of {processor}: {SYSROOTS[processor]} is not here")
        prefix += ["-L", SYSROOTS[processor]]
    wanted = results([native])
    for cpu in CPUS[processor]:
        found = results([*prefix, "-cpu", cpu, command])
        assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
        different = [name for name in wanted if not is_same(name, found[name], wanted[name])]
        assert not different, f"the command for {processor} on {cpu} finds other {', '.join(different)} than here"
        size = sum(map(len, found.values()))
        print(f"{processor} on {cpu}: {len(found)} files of results are the same, {size:,} bytes")


def is_same(name, found, wanted):
    """Whether a file has the same bytes, or the same numbers but for the last bits where they are rounded."""
    if name not in ROUNDED or found == wanted:
        return found == wanted
    pairs = [(a.split(","), b.split(",")) for a, b in zip(found.decode().split(), wanted.decode().split(), strict=True)]
    cells = [pair for a, b in pairs[1:] for pair in zip(a[1:], b[1:], strict=True)]
    return all(math.isclose(float(a), float(b), rel_tol=1e-12) for a, b in cells)


def results(command):
    """What the command finds, as the bytes of its files."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(command, *GRAPH, folder / "graph.oc", *LIMITS)
        run(command, "export", folder / "graph.oc", folder / "edges.csv", *LIMITS)
        for algorithm, options in RUNS.items():
            output = folder / f"{algorithm}.csv"
            run(command, "run", algorithm, folder / "graph.oc", *options, "--verify", "--output", output, *LIMITS)
        rows = "".join(f"{i * 37 % 1009 / 7},{i * 53 % 997 / 3},{i}\n" for i in range(4000))
        (folder / "table.csv").write_text("a,b,c\n" + rows)
        run(command, "import", folder / "table.csv", folder / "table.oc", "--as", "array", *LIMITS)
        for statistic in STATISTICS:
            run(command, "run", statistic, folder / "table.oc", "--output", folder / f"{statistic}.csv", *LIMITS)
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def run(command, *arguments):
    done = subprocess.run([*map(str, command), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(done.args)} ends with {done.returncode}: {done.stderr}"


def newest_glibc(program):
    """The newest version of the C library that a program asks for."""
    listed = subprocess.run(["readelf", "--version-info", program], check=True, capture_output=True, text=True).stdout
    return max((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", listed))
