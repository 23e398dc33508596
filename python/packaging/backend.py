"""Builds the wheel with maturin, and adds the command `outcore` to it: `pip install` gives both, with one engine.

maturin makes the extension module of the package `outcore-python`, which exports the command's entry, too. The wheel's
`outcore` is a small C program (`launcher.c`) that loads the module and calls that entry. It then writes the completions
and manual pages, which the wheel installs under `share`.

`OUTCORE_PROFILE` names the profile of `Cargo.toml` that the module is built with, if not `release`: `make test`
installs `checked`. `OUTCORE_RUSTC_ARGS` is given to rustc for the module alone, so that a linker can be chosen
(`release.py`) without compiling what it is linked from again; `OUTCORE_CC` compiles the launcher. `CARGO_BUILD_TARGET`
builds for another processor.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from contextlib import contextmanager

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHER = pathlib.Path(__file__).with_name("launcher.c")
# Completions and manual pages as a command for this processor wrote them last, for wheels for other processors.
SHARE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "share"
PROFILE = os.environ.get("OUTCORE_PROFILE", "release")
# Where shells look for completions, below `share`.
COMPLETIONS = {
    "bash": "bash-completion/completions/outcore",
    "zsh": "zsh/site-functions/_outcore",
    "fish": "fish/vendor_completions.d/outcore.fish",
}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _maturin_args():
        name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    _add_command(pathlib.Path(wheel_directory, name))
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _maturin_args():
        name = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    (module,) = (ROOT / "python" / "outcore").glob("_outcore*.so")
    _add_command(pathlib.Path(wheel_directory, name), module)
    return name


def _add_command(wheel, module=None):
    """Puts the launcher, completions and manual pages into a wheel. `module` is that of an editable install; otherwise
    it is in the wheel."""
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder:
        launcher = pathlib.Path(folder, "bin", "outcore")
        launcher.parent.mkdir()
        options = [f'-DVERSION="{version}"']
        if module:
            options.append(f'-DMODULE="{module}"')
        else:
            with zipfile.ZipFile(wheel) as packed:
                module = packed.extract("outcore/_outcore.abi3.so", folder)
        names = "".join(f"INTERPRETER({name})\n" for name in _interpreter_names(module))
        pathlib.Path(folder, "python.h").write_text(names)
        compiler = os.environ.get("OUTCORE_CC") or os.environ.get("CC") or "cc"
        output = ["-O1", "-s", "-rdynamic", f"-I{folder}", "-o", launcher, LAUNCHER, "-ldl"]
        subprocess.run([compiler, *options, *output], check=True)
        _write_share(launcher)
        data = f"outcore-{version}.data"
        added = {f"{data}/scripts/outcore": launcher}
        pages = filter(pathlib.Path.is_file, sorted(SHARE.rglob("*")))
        added |= {f"{data}/data/share/{page.relative_to(SHARE).as_posix()}": page for page in pages}
        _add_files(wheel, added)


def _interpreter_names(module):
    """The symbols of Python that a module refers to."""
    table = subprocess.run(["readelf", "--dyn-syms", "--wide", module], check=True, stdout=subprocess.PIPE, text=True)
    names = set(re.findall(r"\bUND\s+(_?Py\w+)", table.stdout))
    assert names, f"expected symbols of Python that {module} refers to, found none"
    return sorted(names)


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


def _add_files(wheel, added):
    """Adds files to a wheel, by name, and to its list of files."""
    changed = wheel.with_suffix(".changed")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            if item.filename.endswith(".dist-info/RECORD"):
                record, lines = item, old.read(item).decode().splitlines()
            else:
                new.writestr(item, old.read(item), compresslevel=9)
        for name, path in added.items():
            content = path.read_bytes()
            item = zipfile.ZipInfo(name)  # of 1980, so that equal sources give equal wheels
            item.external_attr = path.stat().st_mode << 16  # pip looks for plain files that are executable
            item.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(item, content, compresslevel=9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}")
        new.writestr(record, "\n".join(sorted(lines)) + "\n")
    changed.replace(wheel)


@contextmanager
def _maturin_args():
    """maturin builds in the profile, and is given `OUTCORE_RUSTC_ARGS`."""
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
