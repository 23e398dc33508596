"""Whether an installed Outcore works: `python smoke.py`, by the Python of the environment that it is installed into.

Needs nothing but the package and NumPy, and takes seconds. `make release` runs it in clean environments.
"""

import csv
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

# The most processor time that `import outcore` may take, in seconds.
MOST_SECONDS = 0.15
EDGES = [("home", "about"), ("home", "news"), ("about", "home"), ("news", "home"), ("lone", "home")]


def main():
    command = pathlib.Path(sys.prefix, "bin", "outcore")
    with tempfile.TemporaryDirectory() as folder:
        seconds = import_seconds()
        graph_in_python(pathlib.Path(folder))
        graph_in_shell(command, pathlib.Path(folder))
    pages = installed_files(command)
    version = sys.version.split()[0]
    print(f"Python {version}: imported in {seconds:.3f} s, PageRank right, command and {pages} pages there")


def import_seconds():
    """The processor time of `import outcore`: the least of five, since a machine does other things, too."""
    code = "import sys, time; start = time.process_time(); import outcore; print(time.process_time() - start);"
    code += "heavy = {'numpy', 'scipy', 'numba', 'networkx', 'pandas'} & set(sys.modules); assert not heavy, heavy"
    least = min(float(output([sys.executable, "-c", code])) for _ in range(5))
    assert least < MOST_SECONDS, f"`import outcore` takes {least:.3f} s, which is more than {MOST_SECONDS}"
    return least


def graph_in_python(folder):
    """The ranks of a graph, compared with those that NumPy computes."""
    import numpy as np

    import outcore as oc

    oc.import_graph(EDGES, folder / "site.oc", directed=True, memory="64MiB")
    with oc.Graph(folder / "site.oc", memory="64MiB") as graph:
        ranks = oc.pagerank(graph, verify=True)
        found = dict(zip(ranks["vertex"], np.asarray(ranks["pagerank"])))
    names = sorted({name for edge in EDGES for name in edge})
    step = np.zeros((len(names), len(names)))
    for source, target in EDGES:
        step[names.index(target), names.index(source)] = 1
    step /= step.sum(axis=0)
    wanted = np.linalg.solve(np.eye(len(names)) - 0.85 * step, np.full(len(names), 0.15 / len(names)))
    assert np.allclose([found[name] for name in names], wanted, rtol=0, atol=1e-8), (found, wanted)


def graph_in_shell(command, folder):
    """The same graph by the command."""
    import outcore as oc

    version = importlib.metadata.version("outcore")
    assert output([command, "--version"]).split() == ["outcore", version] and oc.__version__ == version
    limits = ["--memory", "64MiB", "--quiet"]
    ranks = folder / "ranks.csv"
    output([command, "run", "pagerank", folder / "site.oc", "--output", ranks, *limits])
    with oc.Graph(folder / "site.oc", memory="64MiB") as graph, ranks.open() as file:
        written = {row["vertex"]: float(row["pagerank"]) for row in csv.DictReader(file)}
        assert written == oc.pagerank(graph).to_dict(), written


def installed_files(command):
    """How many manual pages are installed. Those and the completions must be what the command writes."""
    share = pathlib.Path(sys.prefix, "share")
    completions = {"bash": "bash-completion/completions/outcore", "zsh": "zsh/site-functions/_outcore"}
    completions["fish"] = "fish/vendor_completions.d/outcore.fish"
    for shell, place in completions.items():
        assert (share / place).read_text() == output([command, "completions", shell]), place
    with tempfile.TemporaryDirectory() as folder:
        output([command, "man", folder])
        written = {page.name: page.read_text() for page in pathlib.Path(folder).iterdir()}
    installed = {page.name: page.read_text() for page in (share / "man" / "man1").glob("outcore*.1")}
    assert installed == written and "outcore-run-pagerank.1" in installed, sorted(installed)
    return len(installed)


def output(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ends with {done.returncode}: {done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main()
