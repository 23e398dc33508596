"""What an installation consists of: completions, manual pages, metadata, and how long an import takes."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from test_cli import OUTCORE, outcore

import outcore as oc
from outcore import _outcore

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARE = pathlib.Path(sys.prefix, "share")
COMPLETIONS = {
    "bash": "bash-completion/completions/outcore",
    "zsh": "zsh/site-functions/_outcore",
    "fish": "fish/vendor_completions.d/outcore.fish",
}
needs_command = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")


def subcommands(*of):
    """The subcommands that the help lists, `help` aside."""
    listed = outcore(*of, "--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return set(re.findall(r"^  ([a-z0-9-]+)", listed, re.MULTILINE)) - {"help"}


@needs_command
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell", "elvish"])
def test_completions_have_every_subcommand_and_option(shell):
    script = outcore("completions", shell).stdout
    wanted = subcommands() | subcommands("run")
    assert {"import", "completions", "man"} <= wanted
    assert {algorithm["name"].replace("_", "-") for algorithm in _outcore.algorithms()} <= wanted
    missing = {name for name in wanted if not re.search(rf"\b{name}\b", script)}
    assert not missing, missing
    options = {option["name"].replace("_", "-") for algorithm in _outcore.algorithms() for option in algorithm["options"]}
    assert "alpha" in options
    absent = {name for name in options if not re.search(rf"\b{name}\b", script)}
    assert not absent, absent


@needs_command
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes(tmp_path):
    script = tmp_path / "outcore.bash"
    script.write_text(outcore("completions", "bash").stdout)
    ask = f'source {script}; COMP_WORDS=(outcore run pagera); COMP_CWORD=2; _outcore outcore pagera run; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
    assert done.stdout.split() == ["pagerank"], (done.stdout, done.stderr)


@needs_command
def test_a_shell_that_is_not_known_is_refused(tmp_path):
    refused = outcore("completions", "csh", check=False)
    assert refused.returncode == 2 and "bash" in refused.stderr
    nowhere = outcore("man", tmp_path / "none", check=False)
    assert nowhere.returncode == 6 and "none" in nowhere.stderr


@needs_command
def test_manual_pages_for_every_subcommand(tmp_path):
    outcore("man", tmp_path)
    wanted = {"outcore.1"} | {f"outcore-{name}.1" for name in subcommands()}
    wanted |= {f"outcore-run-{name}.1" for name in subcommands("run")}
    assert {page.name for page in tmp_path.iterdir()} == wanted
    for page in tmp_path.iterdir():
        assert ".SH NAME" in page.read_text() and ".SH SYNOPSIS" in page.read_text(), page
    text = (tmp_path / "outcore-run-pagerank.1").read_text()
    assert "alpha" in text and "max\\-iter" in text


@needs_command
def test_what_is_installed_is_what_the_command_writes(tmp_path):
    if not (SHARE / COMPLETIONS["bash"]).exists():
        pytest.skip("the package is not installed as a wheel")
    for shell, place in COMPLETIONS.items():
        assert (SHARE / place).read_text() == outcore("completions", shell).stdout, place
    outcore("man", tmp_path)
    installed = {page.name: page.read_text() for page in (SHARE / "man" / "man1").glob("outcore*.1")}
    assert installed == {page.name: page.read_text() for page in tmp_path.iterdir()}


def test_metadata():
    about = importlib.metadata.metadata("outcore")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(about.get_all("Provides-Extra")) == {"all", "frames", "ml", "networkx", "numba", "plot"}
    assert about["Requires-Python"] == ">=3.11" and about["Version"] == oc.__version__
    assert about["License-Expression"] == "Apache-2.0" and about.get_all("License-File") == ["LICENSE"]
    assert "The Outcore developers" in (about["Author"] or about["Author-email"])
    assert about["Keywords"].split(",") == declared["keywords"]
    assert about.get_all("Classifier") == declared["classifiers"]
    required = [need for need in importlib.metadata.requires("outcore") if "extra ==" not in need]
    assert [re.split(r"[^a-z]", need)[0] for need in required] == ["numpy"]


def test_all_is_all_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    others = ",".join(sorted(extras.keys() - {"all"}))
    assert extras["all"] == [f"outcore[{others}]"]


def test_networkx_finds_the_backend():
    found = importlib.metadata.entry_points(name="outcore")
    assert {entry.group for entry in found} == {"networkx.backends", "networkx.backend_info"}
    code = "import sys, _outcore_networkx as info; info.get_info(); assert 'outcore' not in sys.modules, sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_import_is_light():
    """What takes long is imported when it is used. Processor time, the least of five: other tests run beside this."""
    code = "import sys, time; start = time.process_time(); import outcore as oc; oc.pagerank, oc.Graph, oc.bfs;"
    code += "print(time.process_time() - start); heavy = {'numpy', 'scipy', 'numba', 'networkx'} & sys.modules.keys();"
    code += "assert not heavy, heavy"
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.15


def test_every_public_name_can_be_imported():
    code = "from outcore import *; import outcore; assert set(outcore.__all__) <= set(dir()), outcore"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {"import_graph", "vertex_program", "SparseMatrix", "array"} <= set(dir(oc))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        oc.nothing
