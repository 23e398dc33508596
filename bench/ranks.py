"""How right the ranks of a default PageRank run are: `python3 bench/ranks.py outcore IMAGE ...`.

Each image is compared with a run at a tolerance of 1e-14. Printed are the sum of absolute errors, the greatest relative
error among the first thousand, and by how much, relative to it, a rank that comes later among these or after them is
greater than it should be: 0 if the order is right. Ends with code 1 if errors are above 1e-5, fewer than four digits
are right, or an order is wrong by more than 1e-6.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

FIRST = 1000


def ranks(outcore, image, *options):
    """The ranks of a run, and what it says of its convergence."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "ranks.parquet"
        command = [outcore, "run", "pagerank", image, "--output", output, "--memory", "1GiB", *options]
        said = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
        return parquet.read_table(output)["pagerank"].to_numpy(), re.search("converged after.*", said)[0]


def compare(exact, found):
    """The errors of ranks: in all, of the first ones, and of their order."""
    order = np.argsort(-found, kind="stable")
    in_order = exact[order]
    greatest_later = np.maximum.accumulate(in_order[::-1])[::-1]
    greatest_later = np.append(greatest_later[1:], 0)[:FIRST]
    inversion = max(0.0, float((greatest_later / in_order[:FIRST] - 1).max()))
    first = np.argsort(-exact, kind="stable")[:FIRST]
    return float(np.abs(found - exact).sum()), float((np.abs(found - exact) / exact)[first].max()), inversion


def main(outcore, *images):
    wrong = False
    for image in images:
        exact, _ = ranks(outcore, image, "--tol", "1e-14", "--max-iter", "1000")
        for method in ("power", "delta"):
            found, said = ranks(outcore, image, "--method", method)
            error, digits, inversion = compare(exact, found)
            wrong |= not (error < 1e-5 and digits < 1e-4 and inversion < 1e-6)
            print(f"{image}, {method}: {said}; errors {error:.1e} in all, {digits:.1e} at most, order {inversion:.1e}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
