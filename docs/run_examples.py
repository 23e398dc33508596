"""Runs the examples of the documentation as a reader would: the blocks marked `console` and `python` of Markdown files.

usage: run_examples.py FILE_OR_FOLDER...

The blocks of one file share a scratch directory. In a `console` block, lines that begin with `$ ` are commands, run by
a shell that stops at the first failure, and the others are output, of which a reader sees an excerpt: it is not
compared, but figures in it were measured. A `python` block is a program, and `>>>` examples in it are doctests. Blocks
with another mark are not run here; notebooks run while Sphinx builds the site.
"""

import doctest
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_console(text: str, folder: str) -> None:
    commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    outcore = pathlib.Path(os.environ["OUTCORE"])
    path = f"{outcore.parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    script = "set -euo pipefail\n" + "\n".join(commands)
    subprocess.run(["bash", "-c", script], cwd=folder, check=True, env={**os.environ, "PATH": path},
                   stdout=subprocess.DEVNULL)


def run_python(text: str, folder: str, name: str, names: dict) -> None:
    before = os.getcwd()
    os.chdir(folder)
    try:
        if ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            if runner.failures:
                raise SystemExit(f"{name}: {runner.failures} examples failed")
            names.update(test.globs)
        else:
            exec(compile(text, name, "exec"), names)
    finally:
        os.chdir(before)


def main() -> None:
    files = []
    for argument in map(pathlib.Path, sys.argv[1:]):
        files += sorted(argument.rglob("*.md")) if argument.is_dir() else [argument]
    count = 0
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            names: dict = {"__name__": "__main__"}
            for kind, text in BLOCK.findall(file.read_text()):
                if kind == "console":
                    run_console(text, folder)
                else:
                    run_python(text, folder, str(file), names)
                count += 1
    print(f"{count} examples of {len(files)} files ran")


if __name__ == "__main__":
    main()
