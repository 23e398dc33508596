"""Makes what a release consists of, in target/release-files, and tests it: `make release`.

    python3 release.py [STEP...]    # all of STEPS, in their order, if none is named

A step works on what those before it left in target/release-files. `docs/releasing.md` says what each makes.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile

import emulation
import sbom

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "python" / "packaging"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
FILES = TARGET / "release-files"
TOOLS = TARGET / "tools"
TOOL_PYTHON = TOOLS / "python" / "bin" / "python"
SHARE = TARGET / "share"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
# Debian 10, Red Hat 8, Ubuntu 20.04 and everything later have this C library.
GLIBC = (2, 28)
PROCESSORS = ("x86_64", "aarch64")
# PyPI takes 100 MB; this is what we want to stay below.
MOST_WHEEL_BYTES = 18_000_000
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")


def main(steps):
    if unknown := set(steps) - STEPS.keys():
        sys.exit(f"expected steps out of {', '.join(STEPS)}, found {', '.join(sorted(unknown))}")
    FILES.mkdir(parents=True, exist_ok=True)
    for step in steps or STEPS:
        print(f"== release: {step}", flush=True)
        STEPS[step]()
    for file in sorted(FILES.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file.name}")


def tools():
    """The programs that build, in target/tools."""
    if not TOOL_PYTHON.exists():
        venv.create(TOOLS / "python", with_pip=True)
    run([TOOL_PYTHON, "-m", "pip", "install", "--quiet", "--requirement", PACKAGING / "requirements.txt"])
    (TOOLS / "bin").mkdir(exist_ok=True)
    maturin = TOOL_PYTHON.parent / "maturin"
    for processor in PROCESSORS:
        # -g: the flag that makes zig keep symbols. Its sanitizer would need a library of its own.
        target = f"-g -fno-sanitize=all -target {processor}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        script(TOOLS / "bin" / f"cc-{triple(processor)}", f'exec {maturin} zig cc -- {target} "$@"')
    script(TOOLS / "bin" / "ar", f'exec {maturin} zig ar "$@"')


def wheels():
    """A wheel for each processor, that of this machine first: its command writes the completions and pages of all."""
    for processor in sorted(PROCESSORS, key=lambda processor: processor != host()):
        if is_installed(triple(processor)):
            check_wheel(build_wheel(ROOT, processor, FILES), processor)
        else:
            print(f"SKIPPED the wheel for {processor}: Rust's standard library for it is not installed;")
            print(f"        `rustup target add {triple(processor)}` installs it")


def commit():
    """The variable with which `outcore --version` says the commit; nothing where there is no repository, as in an
    archive of the sources, unless it is given."""
    given = os.environ.get("OUTCORE_COMMIT")
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    found = given or subprocess.run(asked, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return {"OUTCORE_COMMIT": found} if found else {}


def build_wheel(folder, processor, out, target=TARGET):
    """The wheel of the sources in a folder. What is linked is what `make build` compiled, if that was for this machine:
    only the linker is another one."""
    linker = TOOLS / "bin" / f"cc-{triple(processor)}"
    changed = {"CARGO_TARGET_DIR": target, "OUTCORE_CC": linker} | commit()
    changed["PATH"] = f"{TOOL_PYTHON.parent}:{os.environ['PATH']}"
    options = f"--compatibility manylinux_{GLIBC[0]}_{GLIBC[1]} --auditwheel check"
    if processor == host():
        changed["OUTCORE_RUSTC_ARGS"] = f"-C linker={linker}"
    else:
        name = triple(processor).replace("-", "_")
        changed |= {f"CC_{name}": linker, f"AR_{name}": TOOLS / "bin" / "ar", "CARGO_BUILD_TARGET": triple(processor)}
        changed[f"CARGO_TARGET_{name.upper()}_LINKER"] = linker
        # The headers of Python are not needed, only its oldest version.
        options += f" --target {triple(processor)} --interpreter python3.11"
    changed["MATURIN_PEP517_ARGS"] = options
    with tempfile.TemporaryDirectory() as made:
        build = [TOOL_PYTHON, "-m", "build", "--wheel", "--no-isolation", "--outdir", made, folder]
        run(build, env=os.environ | {name: str(value) for name, value in changed.items()})
        (wheel,) = pathlib.Path(made).iterdir()
        return pathlib.Path(shutil.copy2(wheel, out))


def check_wheel(wheel, processor):
    """Its name, its size, and what its two programs ask of the C library."""
    tag = f"cp311-abi3-manylinux_{GLIBC[0]}_{GLIBC[1]}_{processor}"
    assert wheel.name == f"outcore-{VERSION}-{tag}.whl", wheel.name
    size = wheel.stat().st_size
    assert size <= MOST_WHEEL_BYTES, f"{wheel.name} has {size:,} bytes, which is more than {MOST_WHEEL_BYTES:,}"
    with zipfile.ZipFile(wheel) as packed, tempfile.TemporaryDirectory() as folder:
        programs = [name for name in packed.namelist() if name.endswith((".abi3.so", ".data/scripts/outcore"))]
        assert len(programs) == 2, programs
        newest = max(emulation.newest_glibc(packed.extract(name, folder)) for name in programs)
    assert newest <= GLIBC, f"{wheel.name} asks for glibc {newest}, which is newer than {GLIBC}"
    print(f"{wheel.name}: {size:,} bytes, glibc {newest[0]}.{newest[1]} or newer")


def smoke():
    """The wheel of this machine in a clean environment of every Python that is here."""
    tested = [python for python in PYTHONS if smoke_test(built_wheel(host()), python)]
    assert tested, f"none of {', '.join(PYTHONS)} is here"


def smoke_test(wheel, python):
    """Whether there is such a Python. If so, the wheel works in a new environment of it."""
    found = shutil.which(python)
    if not found or subprocess.run([found, "-c", ""], capture_output=True).returncode != 0:
        print(f"SKIPPED {python}: it is not here")
        return False
    with tempfile.TemporaryDirectory() as folder:
        run([found, "-m", "venv", folder])
        run([f"{folder}/bin/python", "-m", "pip", "install", "--quiet", wheel])
        run([f"{folder}/bin/python", PACKAGING / "smoke.py"], cwd=folder)
    return True


def suite():
    """Python's tests and the documentation's examples, over the wheel that ships: `make test` runs checked builds."""
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/bin/python"
        run([sys.executable, "-m", "venv", folder])
        run([python, "-m", "pip", "install", "--quiet", built_wheel(host())])
        for requirements in (ROOT / "python" / "tests" / "requirements.txt", ROOT / "docs" / "requirements.txt"):
            run([python, "-m", "pip", "install", "--quiet", "--requirement", requirements])
        env = os.environ | {"OUTCORE": f"{folder}/bin/outcore"}
        run([python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "python/tests"], cwd=ROOT, env=env)
        run([python, "docs/run_examples.py", "README.md", "docs"], cwd=ROOT, env=env)


def emulate():
    """The commands of the wheels under emulation: a processor without AVX, and other processors."""
    native = unpacked_command(host())
    for processor in PROCESSORS:
        if built_wheel(processor).exists():
            emulation.compare(native, unpacked_command(processor), processor)
        else:
            print(f"SKIPPED emulation of {processor}: there is no wheel for it")


def source():
    """The source distribution, a wheel of it in a folder of its own, and that wheel, installed.

    Everything is compiled anew. In `target`, cargo would take crates of this repository for those of the distribution,
    whose files are older than any build."""
    run([TOOL_PYTHON, "-m", "build", "--sdist", "--no-isolation", "--outdir", FILES, ROOT], env=with_tools())
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(FILES / f"outcore-{VERSION}.tar.gz") as packed:
            packed.extractall(folder, filter="data")
        unpacked = pathlib.Path(folder, f"outcore-{VERSION}")
        for name in ("LICENSE", "CHANGELOG.md", "README.md", "Cargo.lock"):
            assert (unpacked / name).exists(), f"{name} is not in the source distribution"
        wheel = build_wheel(unpacked, host(), folder, pathlib.Path(folder, "target"))
        assert smoke_test(wheel, sys.executable)


def shell():
    """Completions and manual pages, for whoever packages the command alone."""
    with tarfile.open(FILES / f"outcore-{VERSION}-share.tar.gz", "w:gz") as packed:
        packed.add(SHARE, "share", filter=anonymous)


def bill():
    """The software bill of materials."""
    parts = sbom.bill(ROOT, triple(host()))
    (FILES / f"outcore-{VERSION}.cdx.json").write_text(json.dumps(parts, indent=1) + "\n")


def licences():
    """Licences, sources and duplicates of what we depend on, as deny.toml wants them; advisories if they can be had."""
    deny = shutil.which("cargo-deny") or TOOLS / "bin" / "cargo-deny"
    if not pathlib.Path(deny).exists():
        # A release of the tool that changes what it checks must not fail ours.
        run(["cargo", "install", "cargo-deny", "--version", "^0.20", "--locked", "--root", TOOLS])
    run([deny, "--locked", "check", "licenses", "bans", "sources"], cwd=ROOT)
    advisories = subprocess.run([deny, "--locked", "check", "advisories"], cwd=ROOT, capture_output=True, text=True)
    if "failed to fetch advisory database" in advisories.stderr:
        return print("SKIPPED advisories: their database cannot be fetched from here")
    print(advisories.stderr)
    assert advisories.returncode == 0, "there are advisories"


def sums():
    """SHA256SUMS, for `sha256sum --check`."""
    files = sorted(file for file in FILES.iterdir() if file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (FILES / "SHA256SUMS").write_text("".join(lines))


def clean():
    """Nothing of an earlier release stays."""
    shutil.rmtree(FILES)
    FILES.mkdir()


STEPS = {
    step.__name__: step for step in (clean, tools, licences, wheels, smoke, suite, emulate, source, shell, bill, sums)
}


def host():
    return os.uname().machine


def triple(processor):
    return f"{processor}-unknown-linux-gnu"


def is_installed(target):
    """Whether Rust can build for a target."""
    asked = ["rustc", "--print", "target-libdir", "--target", target]
    folder = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return any(pathlib.Path(folder).glob("libstd-*"))


def built_wheel(processor):
    return FILES / f"outcore-{VERSION}-cp311-abi3-manylinux_{GLIBC[0]}_{GLIBC[1]}_{processor}.whl"


def unpacked_command(processor):
    """The command of a wheel with its module, in target/release-commands, as `pip install --target` places them."""
    folder = TARGET / "release-commands" / processor
    command = folder / "bin" / "outcore"
    command.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(built_wheel(processor)) as packed:
        packed.extract("outcore/_outcore.abi3.so", folder)
        command.write_bytes(packed.read(f"outcore-{VERSION}.data/scripts/outcore"))
    command.chmod(0o755)
    return command


def anonymous(member):
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def script(path, line):
    """An executable script. One that says the same stays, so that cargo sees no change."""
    text = f"#!/bin/sh\n{line}\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        path.chmod(0o755)


def with_tools():
    return os.environ | {"PATH": f"{TOOL_PYTHON.parent}:{os.environ['PATH']}", "CARGO_TARGET_DIR": str(TARGET)}


def run(command, **options):
    subprocess.run(list(map(str, command)), check=True, **options)


if __name__ == "__main__":
    main(sys.argv[1:])
