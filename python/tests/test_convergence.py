"""Iterations that end or do not, in the shell: numbers that cannot be, advice, and exit codes."""

import json

from test_cli import image, outcore, pytestmark

__all__ = ["image", "pytestmark"]


def test_numbers_that_cannot_be_are_named(image):
    for given, code, said in (
        (("--tol", "1e-400"), 2, "expected 0 or a number from 4.9e-324 to 1.7e308, whatever its sign, found 1e-400"),
        (("--tol", "-1e-9"), 2, "expected a tolerance of at least 0, found -1e-9"),
        (("--alpha", "1e308"), 2, "expected alpha between 0 and 1, found 1e308"),
        (("--max-iter", "-3"), 2, "expected a whole number from 0 to 2^32-1, found -3"),
    ):
        refused = outcore("run", "pagerank", image, *given, check=False)
        assert refused.returncode == code and said in refused.stderr, refused


def test_what_does_not_converge_is_told_what_helps(image, tmp_path):
    (tmp_path / "path.txt").write_text("1 2\n2 3\n")
    outcore("import", tmp_path / "path.txt", tmp_path / "path.oc", "--undirected")
    for graph, given, said in (
        (tmp_path / "path.oc", ("--alpha", 1), "take an --alpha below 1"),
        (image, ("--max-iter", 3), "raise --max-iter or --tol"),
        (image, ("--method", "delta", "--alpha", "1e-9", "--tol", "1e-14"), "or take the --method 'power'"),
    ):
        unconverged = outcore("run", "pagerank", graph, *given, check=False)
        assert unconverged.returncode == 4 and said in unconverged.stderr, unconverged


def test_ranks_that_did_not_converge_have_an_exit_code_and_are_written_on_demand(image, tmp_path):
    for algorithm in (["pagerank"], ["personalized-pagerank", "--seeds", "1"]):
        output, stats_file = tmp_path / "ranks.csv", tmp_path / "stats.json"
        run = ["run", *algorithm, image, "--output", output, "--stats", stats_file, "--max-iter", 3]
        unconverged = outcore(*run, "--verify", check=False)
        assert unconverged.returncode == 4 and "--allow-unconverged" in unconverged.stderr
        assert "did not converge after 3 iterations" in unconverged.stdout and not output.exists()
        assert json.loads(stats_file.read_text())["stats"]["stopped_by"] == "iterations"
        assert "did not converge after 3 iterations" in outcore(*run, "--allow-unconverged").stdout
        assert len(output.read_text().splitlines()) == 4097
        output.unlink()
        # So many iterations, whatever they converge to, are what was asked for.
        outcore(*run, "--tol", 0)
        output.unlink()
        for rule, tolerance in (("residual", "1e-8"), ("networkx", "1e-6")):
            text = outcore("run", *algorithm, image, "--stop", rule, "--tol", tolerance, "--stats", stats_file).stdout
            assert f"stopped by the rule {rule}" in text
            assert json.loads(stats_file.read_text())["stats"]["stopped_by"] == rule
