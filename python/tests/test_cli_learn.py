"""Statistics and models of arrays in the shell, beside NumPy and scikit-learn: what they find, write and refuse."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
STATISTICS = ["describe", "cov", "corr", "histogram", "quantiles"]
MODELS = ["pca", "svd", "kmeans", "gmm", "regression", "ridge", "logistic", "gaussian-nb"]


def run(*arguments, code=0, **options):
    done = subprocess.run([OUTCORE, "run", *map(str, arguments)], capture_output=True, text=True, **options)
    assert done.returncode in (code if isinstance(code, tuple) else [code]), (done.returncode, done.stdout, done.stderr)
    return done


def found(name, path, *arguments):
    """What a command found, as its JSON has it."""
    facts = json.loads(run(name, path, "--json", "--quiet", *arguments).stdout)["result"]
    return {key: np.array(value, float) if isinstance(value, list) and key != "columns" else value
            for key, value in facts.items()}  # fmt: skip


def read(path):
    """The numbers of a table, without its first column."""
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        return np.column_stack([table[name].to_numpy() for name in table.column_names[1:]])
    return np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)[:, 1:]


def advised(refused):
    """The limit that a refusal names."""
    return re.search(r"raise the limit to at least ([\d.]+ [KMG]iB)", refused.stderr)[1].replace(" ", "")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Rows around three centres, whose last column is the number of the centre; as a .npy file and as an image."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 6000)
    x = np.array([[0.0, 0, 0], [9, 0, 1e3], [0, 9, -1e3]])[y] + rng.normal(size=(6000, 3)) * [1, 2, 0.5]
    numbers = np.column_stack([x, y])
    folder = tmp_path_factory.mktemp("table")
    np.save(folder / "t.npy", numbers)
    oc.array.persist(folder / "t.oc", numbers, names=["a", "b", "c", "kind"])
    return folder, numbers


def test_help_lists_them_all():
    listed = " ".join(run("--help").stdout.split())
    assert "kmeans Clusters of rows by k-means" in listed and "[alias: gaussian-mixture]" in listed
    for name in STATISTICS + MODELS:
        words = " ".join(run(name, "--help").stdout.split())
        assert "--json" in words and ".parquet" in words, name


@pytest.mark.parametrize("ending", ["npy", "oc"])
def test_statistics_are_those_of_numpy(table, tmp_path, ending):
    folder, x = table
    path = folder / f"t.{ending}"
    described = found("describe", path)
    assert described["columns"] == (["a", "b", "c", "kind"] if ending == "oc" else ["x0", "x1", "x2", "x3"])
    for name, expected in {
        "min": x.min(0), "max": x.max(0), "mean": x.mean(0), "std": x.std(0, ddof=1), "l1": abs(x).sum(0),
        "l2": np.sqrt((x**2).sum(0)), "nonzeros": (x != 0).sum(0),
    }.items():  # fmt: skip
        np.testing.assert_allclose(described[name], expected, rtol=1e-10, err_msg=name)
    np.testing.assert_allclose(found("cov", path)["covariance"], np.cov(x.T), rtol=1e-9)
    np.testing.assert_allclose(found("cov", path, "--correction", 0)["covariance"], np.cov(x.T, ddof=0), rtol=1e-9)
    np.testing.assert_allclose(found("corrcoef", path)["correlation"], np.corrcoef(x.T), rtol=1e-9)
    for options, wanted in (((), None), (("--range", "-5,5"), (-5, 5))):
        counted = found("histogram", path, "--bins", 7, *options)
        edges = np.histogram_bin_edges(x, 7, wanted)
        np.testing.assert_allclose(counted["edges"], edges)
        assert (counted["counts"] == [np.histogram(column, edges)[0] for column in x.T]).all()
        assert (counted["outside"] + counted["counts"].sum(axis=1) == len(x)).all()
    for error, exact in ((1e-4, True), (0.05, False)):
        q = found("quantiles", path, "--probabilities", "0,0.1,0.5,1", "--error", error)
        assert (q["rank_error"] == 0) == exact and q["rank_error"] <= error * len(x)
        spread = q["rank_error"] / (len(x) - 1)
        low, high = (np.quantile(x, np.clip(q["probabilities"] + side, 0, 1), axis=0) for side in (-spread, spread))
        assert (q["quantiles"] >= low - 1e-9).all() and (q["quantiles"] <= high + 1e-9).all()


@pytest.mark.parametrize("ending", ["npy", "csv", "csv.gz", "parquet", "arrow"])
def test_tables_go_to_files(table, tmp_path, ending):
    folder, x = table
    output = tmp_path / f"out.{ending}"
    run("cov", folder / "t.oc", "--output", output)
    if ending == "arrow":
        feather = pytest.importorskip("pyarrow.feather")
        assert feather.read_table(output).column_names == ["column", "a", "b", "c", "kind"]
        return
    np.testing.assert_allclose(read(output), np.cov(x.T), rtol=1e-9)
    run("kmeans", folder / "t.oc", "--n-clusters", 3, "--output", output)
    assert np.bincount(read(output).astype(int).ravel()).sum() == len(x)


def test_results_have_the_same_bits_whatever_the_threads_and_the_limit(table, tmp_path):
    folder, _ = table
    for name, options in {"kmeans": ["--n-clusters", 3], "pca": [], "gmm": ["--n-components", 2, "--proba"]}.items():
        bits = []
        for threads, limit in ((1, "40MiB"), (2, "1GiB")):
            output = tmp_path / f"{name}-{threads}.npy"
            run(name, folder / "t.oc", *options, "--output", output, "--threads", threads, "--memory", limit)
            bits.append(output.read_bytes())
        assert bits[0] == bits[1], name


def test_projections_are_those_of_scikit_learn(table, tmp_path):
    decomposition = pytest.importorskip("sklearn.decomposition")
    folder, x = table
    output = tmp_path / "z.npy"
    for solver in ("covariance_eigh", "full"):
        model = decomposition.PCA(2).fit(x)
        facts = found("pca", folder / "t.npy", "--n-components", 2, "--svd-solver", solver, "--output", output)
        np.testing.assert_allclose(facts["explained_variance_ratio"], model.explained_variance_ratio_, rtol=1e-9)
        np.testing.assert_allclose(facts["mean"], model.mean_, rtol=1e-9)
        np.testing.assert_allclose(abs(facts["components"]), abs(model.components_), atol=1e-9)
        np.testing.assert_allclose(abs(np.load(output)), abs(model.transform(x)), atol=1e-6)
        model = decomposition.TruncatedSVD(3, algorithm="arpack").fit(x)
        facts = found("svd", folder / "t.npy", "--n-components", 3, "--algorithm", solver, "--output", output)
        np.testing.assert_allclose(facts["singular_values"], model.singular_values_, rtol=1e-9)
        np.testing.assert_allclose(abs(np.load(output)), abs(model.transform(x)), atol=1e-6)


def test_clusters_are_found(table, tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    folder, x = table
    output = tmp_path / "labels.npy"
    np.save(tmp_path / "x.npy", x[:, :3])
    facts = found("kmeans", tmp_path / "x.npy", "--n-clusters", 3, "--seed", 1, "--output", output)
    labels = np.load(output)
    assert labels.dtype == np.int64 and labels.shape == (6000,)
    assert metrics.adjusted_rand_score(x[:, 3], labels) > 0.99
    centres = facts["cluster_centers"]
    np.testing.assert_allclose(centres, [x[labels == k, :3].mean(0) for k in range(3)], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(facts["inertia"], ((x[:, :3] - centres[labels]) ** 2).sum(), rtol=1e-9)
    mixture = pytest.importorskip("sklearn.mixture")
    for kind in ("full", "tied", "diag", "spherical"):
        facts = found("gmm", tmp_path / "x.npy", "--n-components", 3, "--covariance-type", kind, "--proba",
                      "--max-iter", 500, "--output", output)  # fmt: skip
        model = mixture.GaussianMixture(3, covariance_type=kind)
        model.weights_, model.means_ = facts["weights"], facts["means"]
        model.covariances_, model.precisions_cholesky_ = facts["covariances"], facts["precisions_cholesky"]
        np.testing.assert_allclose(np.load(output), model.predict_proba(x[:, :3]), atol=1e-6)
        run("gmm", tmp_path / "x.npy", "--n-components", 3, "--covariance-type", kind, "--max-iter", 500, "--output",
            tmp_path / "labels.csv")  # fmt: skip
        assert (read(tmp_path / "labels.csv")[:, 0] == np.load(output).argmax(1)).all()


def test_targets_are_named_or_numbered(table, tmp_path):
    linear = pytest.importorskip("sklearn.linear_model")
    folder, x = table
    output = tmp_path / "y.npy"
    for place, name in enumerate(["a", "b", "c"]):
        others, y = np.delete(x, place, axis=1), x[:, place]
        for command, options, model in (
            ("regression", [], linear.LinearRegression()),
            ("regression", ["--fit-intercept", "false"], linear.LinearRegression(fit_intercept=False)),
            ("ridge", ["--alpha", 100], linear.Ridge(alpha=100, solver="cholesky")),
        ):
            model.fit(others, y)
            for target in (name, place + 1):
                facts = found(command, folder / "t.oc", "--target", target, "--output", output, *options)
                np.testing.assert_allclose(facts["coef"], model.coef_, rtol=1e-6, atol=1e-9)
                np.testing.assert_allclose(facts["intercept"], model.intercept_, rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(np.load(output), model.predict(others), rtol=1e-6, atol=1e-6)
                assert facts["columns"] == [own for own in ["a", "b", "c", "kind"] if own != name]


def test_columns_are_chosen(table, tmp_path):
    folder, x = table
    for path, names in ((folder / "t.oc", ["c", "a"]), (folder / "t.npy", ["x2", "x0"])):
        described = found("describe", path, "--columns", "3,1")
        assert described["columns"] == names
        np.testing.assert_allclose(described["mean"], x[:, [2, 0]].mean(0))
    np.testing.assert_allclose(found("cov", folder / "t.oc", "--columns", "b,c,kind")["covariance"], np.cov(x[:, 1:].T))
    for columns in ("a,b", "a,kind,b"):
        facts = found("regression", folder / "t.oc", "--columns", columns, "--target", 4)
        assert facts["columns"] == ["a", "b"]
        np.testing.assert_allclose(facts["coef"], np.linalg.lstsq(x[:, :2] - x[:, :2].mean(0), x[:, 3])[0], rtol=1e-6)
    for columns, words in (("a,d", "--columns d: expected a column of the data"), ("a,1", "--columns 1: expected every column")):
        assert words in " ".join(run("describe", folder / "t.oc", "--columns", columns, code=2).stderr.split())
    assert "beside the target" in run("ridge", folder / "t.oc", "--columns", "a", "--target", "a", code=2).stderr


def test_classes_are_predicted(table, tmp_path):
    linear, bayes = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.naive_bayes")
    folder, x = table
    # Classes with gaps, and two of them.
    for kinds, name in (([-1, 4, 5], "three"), ([2, 7, 7], "two")):
        y = np.array(kinds)[x[:, 3].astype(int)]
        np.save(tmp_path / f"{name}.npy", np.column_stack([y, x[:, :2]]))
        for command, model in (
            ("logistic", linear.LogisticRegression(tol=1e-10, max_iter=1000)),
            ("gaussian-nb", bayes.GaussianNB()),
        ):
            model.fit(x[:, :2], y)
            output = tmp_path / "y.npy"
            facts = found(command, tmp_path / f"{name}.npy", "--target", 1, "--output", output)
            assert (facts["classes"] == model.classes_).all()
            assert (np.load(output) == model.predict(x[:, :2])).mean() > 0.999
            run(command, tmp_path / f"{name}.npy", "--target", 1, "--proba", "--output", output)
            np.testing.assert_allclose(np.load(output), model.predict_proba(x[:, :2]), atol=1e-4)


def test_vectors_and_other_types(tmp_path):
    for kind in ("bool", "int8", "uint64", "float32"):
        x = (np.arange(1000) % 2).astype(kind)
        np.save(tmp_path / "v.npy", x)
        np.testing.assert_allclose(found("describe", tmp_path / "v.npy")["mean"], [0.5])
        assert found("quantiles", tmp_path / "v.npy")["quantiles"].tolist() == [[0], [0], [0.5], [1], [1]]
    np.save(tmp_path / "one.npy", np.ones((1, 2)))
    assert np.isnan(found("describe", tmp_path / "one.npy")["std"]).all()
    assert found("histogram", tmp_path / "one.npy", "--bins", 2)["edges"].tolist() == [0.5, 1.0, 1.5]


def test_what_it_says_and_what_it_cost(table, tmp_path):
    folder, _ = table
    said = run("describe", folder / "t.oc")
    assert said.stdout.startswith("6000 rows\n") and "kind" in said.stdout and " passes, " in said.stdout
    stats = json.loads(run("cov", folder / "t.npy", "--stats", "-").stdout)["stats"]
    assert stats["passes"] == pytest.approx(1, abs=0.2) and stats["bytes_read"] >= 6000 * 32
    explained = run("kmeans", folder / "t.npy", "--output", tmp_path / "a.npy", "--explain").stdout
    assert [line.split()[0] for line in explained.splitlines()] == ["array", "memory", "output", "passes", "reads"]
    assert not (tmp_path / "a.npy").exists()
    for name in STATISTICS + MODELS:
        target = ["--target", "kind"] if name in ("regression", "ridge", "logistic", "gaussian-nb") else []
        assert "pass" in run(name, folder / "t.oc", "--explain", *target).stdout, name


def test_what_does_not_converge_has_an_exit_code(table, tmp_path):
    folder, _ = table
    output = tmp_path / "l.npy"
    for name, options in {"kmeans": [], "gmm": ["--n-components", 4], "logistic": ["--target", "kind"]}.items():
        command = [name, folder / "t.oc", "--max-iter", 1, "--tol", 0, "--output", output, *options]
        assert "raise --max-iter" in run(*command, code=4).stderr and not output.exists()
        run(*command, "--allow-unconverged")
        output.unlink()


def test_the_memory_of_the_output_is_made_sure_of_before_the_fit(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(60000, 24)))
    output, model = tmp_path / "y.npy", tmp_path / "model.json"
    arguments = ["gmm", tmp_path / "x.npy", "--n-components", 24, "--covariance-type", "diag", "--proba"]
    arguments += ["--threads", 2, "--max-iter", 1, "--allow-unconverged", "--output", output, "--stats", model]
    for explain in (["--explain"], []):
        refused = run(*arguments, "--memory", "35MiB", *explain, code=9)
        assert "gmm needs" in refused.stderr and bool(refused.stdout) == bool(explain), refused
    assert not output.exists() and not model.exists()
    run(*arguments, "--memory", advised(refused))
    assert output.exists() and model.exists()


def test_what_cannot_be_is_refused(table, tmp_path):
    folder, x = table
    path = folder / "t.oc"

    def refused(words, *arguments, code=(2, 5, 6, 9)):
        done = run(*arguments, code=code)
        assert words in " ".join(done.stderr.split()), done.stderr

    for target in ("nope", 0, 5):
        absent = f"--target {target}: expected a column of the data, found no such column; the columns are a, b, c, kind"
        refused(absent, "regression", path, "--target", target)
    refused("the following required arguments", "logistic", path, code=2)
    refused("expected classes as whole numbers", "gaussian-nb", path, "--target", "a")
    refused("1 to 6000 clusters", "kmeans", path, "--n-clusters", 6001)
    refused("1 to 4 components", "svd", path, "--n-components", 5)
    refused("expected probabilities from 0 to 1", "quantiles", path, "--probabilities", "0.5,2")
    refused("expected an error from 1e-6", "quantiles", path, "--error", 0)
    refused("expected range as two", "histogram", path, "--range", "2,1")
    refused("expected a number, found", "histogram", path, "--range", "1,x", code=2)
    refused("expected an output file that ends in one of", "cov", path, "--output", tmp_path / "a.txt")
    refused("expected different files", "cov", path, "--output", tmp_path / "a.csv", "--stats", tmp_path / "a.csv")
    refused("absent", "cov", path, "--output", tmp_path / "absent" / "a.csv")
    refused("missing.npy", "describe", tmp_path / "missing.npy")
    refused("needs", "cov", path, "--memory", "1MiB")
    bad = x[:, :2].copy()
    bad[4000, 1] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    refused("found NaN or an infinity in column `x1`", "pca", tmp_path / "bad.npy", "--output", tmp_path / "z.npy")
    oc.array.persist(tmp_path / "bad.oc", np.column_stack([x[:, 0], bad]), names=["target", "b", "c\u202etxt"])
    for command in ("kmeans", "gmm", "pca"):
        refused(r"an infinity in column `c\u{202e}txt`, rows ", command, tmp_path / "bad.oc")
    refused(r"an infinity in column `c\u{202e}txt`, rows ", "ridge", tmp_path / "bad.oc", "--target", "target")
    refused("an infinity in the target, rows ", "ridge", tmp_path / "bad.oc", "--target", 3)
    refused("expected finite elements", "histogram", tmp_path / "bad.npy")
    # JSON has no infinity.
    assert np.isnan(found("describe", tmp_path / "bad.npy")["max"]).tolist() == [False, True]
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    refused("expected an array with rows", "describe", tmp_path / "none.npy")
    np.save(tmp_path / "complex.npy", np.zeros(3, complex))
    refused("real numbers", "describe", tmp_path / "complex.npy")
    oc.import_graph((np.array([0, 1]), np.array([1, 2])), tmp_path / "g.oc")
    refused("g.oc", "describe", tmp_path / "g.oc")
    assert not list(tmp_path.glob("z.npy*"))


def test_a_name_of_two_columns_is_no_target(tmp_path):
    oc.array.persist(tmp_path / "t.oc", np.arange(30.0).reshape(10, 3), names=["a", "b", "a"])
    error = run("regression", tmp_path / "t.oc", "--target", "a", code=2).stderr
    assert "--target a: expected a column of the data, found the columns 1 and 3, which have that name; give the number of one" in error, error
    assert found("regression", tmp_path / "t.oc", "--target", 3)["columns"] == ["a", "b"]


def test_columns_of_one_name_are_refused_before_the_work(tmp_path):
    for names, twice in ((["a", "a", "b"], "a"), (["a", "column", "b"], "column")):
        oc.array.persist(tmp_path / "t.oc", np.arange(30.0).reshape(10, 3), names=names, replace=True)
        done = run("cov", tmp_path / "t.oc", "--output", tmp_path / "c.csv", code=2)
        assert f"expected columns of different names, found two called `{twice}`" in done.stderr and not done.stdout
        run("corr", tmp_path / "t.oc", "--output", tmp_path / "c.npy")
        assert read(tmp_path / "c.npy").shape == (3, 3)


def test_whole_numbers_that_are_shown_rounded_are_told(tmp_path):
    path, wide = tmp_path / "t.oc", 2**53 + 1
    for numbers, is_told in (([1, wide], True), ([-wide, 1], True), ([1, 2**53 - 1], False), ([1.0, wide], False)):
        table = np.array([np.arange(2), numbers]).T
        oc.array.persist(path, table, names=["small", "wide"], replace=True)
        for command in ("describe", "quantiles"):
            told = run(command, path).stderr
            note = "Whole numbers beyond 2^53 are shown rounded to float64, in column `wide` first"
            assert (note in told) == is_told, (command, numbers, told)


def test_an_array_is_not_replaced_by_what_is_found_in_it(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.arange(30.0).reshape(10, 3))
    for option in ("--output", "--stats"):
        error = run("kmeans", path, "--n-clusters", 2, option, path, code=2).stderr
        assert "expected different files for the array and" in error, error
    assert np.load(path).shape == (10, 3)


@pytest.mark.parametrize("command", [
    ["kmeans", "--n-clusters", 500, "--max-iter", 2, "--allow-unconverged"],
    ["gmm", "--n-components", 20, "--max-iter", 2, "--allow-unconverged"],
    ["pca"], ["pca", "--svd-solver", "full", "--n-components", 30], ["svd", "--n-components", 9], ["corr"],
    ["regression", "--target", 1],
], ids=lambda command: " ".join(map(str, command[:3])))  # fmt: skip
@pytest.mark.parametrize("threads", [1, 8])
def test_a_limit_that_a_refusal_names_is_enough(command, threads, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(2).normal(size=(3000, 120)))
    output, model = tmp_path / "y.parquet", tmp_path / "model.json"
    arguments = [command[0], tmp_path / "x.npy", *command[1:], "--threads", threads, "--output", output]
    refused = subprocess.run(
        [OUTCORE, "run", *map(str, arguments), "--memory", "24MiB"], capture_output=True, text=True
    )  # fmt: skip
    if refused.returncode:
        assert not output.exists()
        run(*arguments, "--stats", model, "--memory", advised(refused))
    assert output.exists()


def test_results_as_json_are_within_the_limit(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(3).normal(size=(1300, 1200)))
    arguments = ["cov", tmp_path / "x.npy", "--threads", 1, "--stats", tmp_path / "c.json"]
    limit = advised(run(*arguments, "--memory", "32MiB", code=9))
    code, most = peak(*arguments, "--memory", limit)
    assert code == 0 and most <= float(limit.removesuffix("MiB")) * 2**20, (limit, most)
    found = np.array(json.loads((tmp_path / "c.json").read_text())["result"]["covariance"])
    np.testing.assert_allclose(found, np.cov(np.load(tmp_path / "x.npy").T), atol=1e-12)


@pytest.mark.parametrize("name", ["describe", "kmeans", "cov"])
@pytest.mark.parametrize("explain", [[], ["--explain"]])
def test_a_file_of_many_columns_is_refused_within_the_limit(name, explain, tmp_path):
    with open(tmp_path / "wide.npy", "wb") as file:
        shape = (1000, 1_000_000)
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
        file.truncate(file.tell() + 8 * shape[0] * shape[1])
    code, most = peak(name, tmp_path / "wide.npy", "--memory", "64MiB", *explain)
    assert code == 9 and most < 64 << 20, most


MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10)
"""


def peak(*arguments):
    """The exit code of a run, and the most memory that it had, in bytes: a child has that of its parent at first, so a
    small one starts it."""
    command = [sys.executable, "-S", "-c", MEASURE, OUTCORE, "run", *map(str, arguments)]
    code, most = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()
    return int(code), int(most)


def test_wide_tables_of_several_row_groups_are_read_in_place(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(7)
    numbers = rng.normal(size=(50, 2000)).astype(np.float32)
    kinds = [pa.float32(), pa.float64(), pa.int8(), pa.uint16()]
    whole = np.abs(numbers * 20).astype(np.int8)
    columns = {
        f"c{place}": pa.array((numbers if place % 4 < 2 else whole)[:, place], kinds[place % 4]) for place in range(2000)
    }
    table = pa.table({"name": pa.array(["x"] * 50)} | columns | {"pair": pa.array([{"a": 1}] * 50)})
    pq.write_table(table, tmp_path / "wide.parquet", row_group_size=20)
    facts = found("describe", tmp_path / "wide.parquet")
    expected = np.where(np.arange(2000) % 4 < 2, numbers.mean(axis=0, dtype=float), whole.mean(axis=0, dtype=float))
    np.testing.assert_allclose(facts["mean"], expected, rtol=1e-6, atol=1e-9)
    some = found("describe", tmp_path / "wide.parquet", "--columns", "c1999,c2")
    np.testing.assert_allclose(some["mean"], expected[[1999, 2]], rtol=1e-6)


def test_images_that_are_many_times_their_numbers_have_a_note(tmp_path):
    np.save(tmp_path / "row.npy", np.ones((1, 20_000)))
    done = subprocess.run(
        [OUTCORE, "import", "--as", "array", tmp_path / "row.npy", tmp_path / "row.oc"], capture_output=True, text=True
    )
    assert done.returncode == 0 and "import the transpose" in done.stderr, done.stderr
    np.save(tmp_path / "column.npy", np.ones((20_000, 1)))
    done = subprocess.run(
        [OUTCORE, "import", "--as", "array", tmp_path / "column.npy", tmp_path / "c.oc"], capture_output=True, text=True
    )
    assert done.returncode == 0 and "note" not in done.stderr, done.stderr
