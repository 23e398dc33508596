"""Builds the wheel with maturin, and puts the command `outcore` into it: `pip install` gives both, from one
compilation.

maturin makes the extension module of the package `outcore-python`; this builds `outcore-cli` beside it, in the same
target folder, where the engine and its dependencies are compiled once for both (see `crates/outcore/Cargo.toml`).
"""

import io
import json
import pathlib
import shutil
import subprocess
import tarfile

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_sdist  # noqa: F401
from maturin import get_requires_for_build_wheel, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What lies here becomes an executable of the environment (see `data` in pyproject.toml).
SCRIPTS = ROOT / "python" / "outcore.data" / "scripts"
SCRIPTS.mkdir(parents=True, exist_ok=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_command()
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
    cargo = ["cargo", "build", "--release", "--locked", "--package", "outcore-cli", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(cargo, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = map(json.loads, built.splitlines())
    command = next(message["executable"] for message in messages if message.get("executable"))
    shutil.copy2(command, SCRIPTS / "outcore")
