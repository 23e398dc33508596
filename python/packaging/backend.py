"""Builds the wheel with maturin, and puts the command `outcore` into it: `pip install` gives both, from one
compilation.

maturin makes the extension module of the package `outcore-python`; this builds `outcore-cli` beside it, in the same
target folder, where the engine and its dependencies are compiled once for both (see `crates/outcore/Cargo.toml`). The
command then writes its completions and manual pages, which the wheel installs under `share`.

`OUTCORE_PROFILE` names the profile of `Cargo.toml` that both are built with, if not `release`: `make test` installs
`checked`. `CARGO_BUILD_TARGET` builds for another processor. `OUTCORE_RUSTC_ARGS` is given to rustc for the module and the command
alone, so that a linker can be chosen (`release.py`) without compiling what they are linked from again.
"""

import io
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tarfile
from contextlib import contextmanager

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_sdist  # noqa: F401
from maturin import get_requires_for_build_wheel, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What lies here is installed into the environment (see `data` in pyproject.toml): executables, and other files.
DATA = ROOT / "python" / "outcore.data"
SHARE = DATA / "data" / "share"
PROFILE = os.environ.get("OUTCORE_PROFILE", "release")
# Where shells look for completions, below `share`.
COMPLETIONS = {
    "bash": "bash-completion/completions/outcore",
    "zsh": "zsh/site-functions/_outcore",
    "fish": "fish/vendor_completions.d/outcore.fish",
}
(DATA / "scripts").mkdir(parents=True, exist_ok=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_command()
    with _maturin_args():
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_command()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    name = maturin.build_sdist(sdist_directory, config_settings)
    path = pathlib.Path(sdist_directory) / name
    with tarfile.open(path) as packed:
        files = {member.name: packed.extractfile(member).read() for member in packed if member.isfile()}
    # maturin packs what the module depends on, and makes that the workspace: the command's crate is missing from both.
    top = name.removesuffix(".tar.gz")
    workspace = files[f"{top}/Cargo.toml"].decode().replace('"crates/outcore"', '"crates/outcore", "crates/cli"', 1)
    files[f"{top}/Cargo.toml"] = workspace.encode()
    for file in filter(pathlib.Path.is_file, (ROOT / "crates" / "cli").rglob("*")):
        files[f"{top}/{file.relative_to(ROOT).as_posix()}"] = file.read_bytes()
    with tarfile.open(path, "w:gz") as packed:
        for name_in_top, content in sorted(files.items()):
            member = tarfile.TarInfo(name_in_top)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return name


def _build_command():
    cargo = ["cargo", "rustc", "--profile", PROFILE, "--locked", "--package", "outcore-cli", "--bin", "outcore"]
    cargo += ["--message-format", "json-render-diagnostics", "--", *shlex.split(os.environ.get("OUTCORE_RUSTC_ARGS", ""))]
    built = subprocess.run(cargo, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = map(json.loads, built.splitlines())
    command = next(message["executable"] for message in messages if message.get("executable"))
    shutil.copy2(command, DATA / "scripts" / "outcore")
    _write_share(command)


def _write_share(command):
    """Completions and manual pages, by the command. One for another processor does not run: then those stay that the
    command for this one wrote, which `release.py` builds first."""
    try:
        pages = {
            place: subprocess.run([command, "completions", shell], check=True, stdout=subprocess.PIPE).stdout
            for shell, place in COMPLETIONS.items()
        }
    except OSError:
        if not SHARE.exists():
            raise
        return
    shutil.rmtree(SHARE, ignore_errors=True)
    for place, script in pages.items():
        path = SHARE / place
        path.parent.mkdir(parents=True)
        path.write_bytes(script)
    manual = SHARE / "man" / "man1"
    manual.mkdir(parents=True)
    subprocess.run([command, "man", manual], check=True)


@contextmanager
def _maturin_args():
    """maturin builds in the same profile, and is given `OUTCORE_RUSTC_ARGS`, too."""
    before = os.environ.get("MATURIN_PEP517_ARGS")
    arguments = f"{before or ''} --profile {PROFILE}"
    if more := os.environ.get("OUTCORE_RUSTC_ARGS"):
        arguments += f" -- {more}"
    os.environ["MATURIN_PEP517_ARGS"] = arguments
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("MATURIN_PEP517_ARGS", None)
        else:
            os.environ["MATURIN_PEP517_ARGS"] = before
