"""The solvers in the shell: what they write, beside NumPy and SciPy, what they refuse, and what they say beforehand."""

import inspect
import json
import os
import re
import shutil
import signal
import subprocess

import numpy as np
import pandas
import pyarrow.parquet
import pytest
import scipy.sparse

import outcore as oc

OUTCORE = os.environ.get("OUTCORE") or shutil.which("outcore")
pytestmark = pytest.mark.skipif(OUTCORE is None, reason="no outcore command: set OUTCORE")
SYSTEMS = ["cg", "minres", "gmres", "bicgstab"]
FACTORS = ["eigsh", "eigs", "spectral-embedding", "svds", "randomized-svd", "nmf"]
SOLVERS = ["multiply", *FACTORS, "expm-multiply", *SYSTEMS]


def run(*arguments, code=0, **options):
    done = subprocess.run([OUTCORE, "run", *map(str, arguments)], capture_output=True, text=True, **options)
    assert done.returncode in (code if isinstance(code, tuple) else [code]), (done.returncode, done.stdout, done.stderr)
    return done


def sparse(rows, columns, seed=1, density=0.01):
    return scipy.sparse.random_array((rows, columns), density=density, rng=np.random.default_rng(seed)).tocsr()


def symmetric(size, seed=1):
    half = sparse(size, size, seed)
    return (half + half.T).tocsr()


def image(tmp_path, matrix, order="degree"):
    """An image whose order is not that of the ids."""
    path = tmp_path / "m.oc"
    oc.import_matrix(matrix, path, order=order, replace=True, memory="256MiB").close()
    return path


def read(path, id_name="vertex"):
    """The numbers of a table in the order of the ids."""
    pa = pytest.importorskip("pyarrow.parquet")
    table = pa.read_table(path)
    ids = table[id_name].to_numpy()
    names = [name for name in table.column_names if name != id_name]
    assert len(np.unique(ids)) == len(ids)
    return np.column_stack([table[name].to_numpy() for name in names])[np.argsort(ids)], np.sort(ids), names


def of_csv(path):
    """The same for a file of text."""
    table = columns(path)
    names = list(table.dtype.names[1:])
    return np.column_stack([table[name] for name in names])[np.argsort(table["vertex"])], None, names


def columns(path):
    return np.genfromtxt(path, delimiter=",", names=True)


def words(solver):
    return " ".join(run(solver, "--help").stdout.split())


def test_help_lists_solvers_with_the_defaults_of_python():
    listed = " ".join(run("--help").stdout.split())
    assert "eigsh Eigenvalues and eigenvectors of a symmetric matrix" in listed and "pagerank PageRank" in listed
    assert "Write the right singular vectors" in words("svds") and ".parquet" in words("svds")
    shell = {"max_iter": "--max-iter", "n_components": "--n-components", "alpha_W": "--alpha-w", "alpha_H": "--alpha-h"}
    compared = 0
    for solver in [*FACTORS, "expm-multiply"]:
        function = getattr(oc.linalg, solver.replace("-", "_"))
        for name, parameter in inspect.signature(function).parameters.items():
            option = shell.get(name, "--" + name.replace("_", "-"))
            if solver in ("spectral-embedding", "expm-multiply"):
                assert f"{option} <" in words(solver) or name in ("A", "B"), (solver, option)
            if parameter.default is True and not name.startswith("return_"):
                assert re.search(rf"{option} <BOOL>.*?\[default: true\]", words(solver)), (solver, option)
                compared += 1
            is_flag = isinstance(parameter.default, bool)
            if is_flag or parameter.default is None or parameter.default is inspect.Parameter.empty:
                continue
            said = re.search(rf"{option} <\w+>.*?\[default: ([^\]]*)\]", words(solver))
            assert said, (solver, option, words(solver))
            found = said[1] if isinstance(parameter.default, str) else float(said[1])
            assert found == parameter.default, (solver, option, found, parameter.default)
            compared += 1
    assert compared > 34
    assert "--rtol <X>" in words("cg") and "[default: 0.00001]" in words("cg")
    # What has no default in Python must be given.
    assert run("randomized-svd", "m.oc", code=2).stdout == "" and run("cg", "m.oc", code=2).stdout == ""


@pytest.mark.parametrize("order", ["degree", "input"])
@pytest.mark.parametrize("ending", [".parquet", ".npy", ".csv"])
def test_eigenpairs_are_numpys(tmp_path, order, ending):
    matrix = symmetric(700)
    path, output = image(tmp_path, matrix, order), tmp_path / f"pairs{ending}"
    found = run("eigsh", path, "--k", 12, "--which", "LA", "--output", output, "--values", tmp_path / "values.csv", "--verify")
    expected = np.linalg.eigvalsh(matrix.toarray())[-12:]
    values = columns(tmp_path / "values.csv")
    np.testing.assert_allclose(values["eigenvalue"], expected, atol=1e-11)
    assert values["residual"].max() < 1e-10
    if ending == ".parquet":
        vectors, ids, names = read(output)
        assert ids.tolist() == list(range(700)) and names == [f"v{i}" for i in range(12)]
    elif ending == ".npy":
        vectors = np.load(output)
    else:
        table = columns(output)
        vectors = np.column_stack([table[f"v{i}"] for i in range(12)])[np.argsort(table["vertex"])]
    assert vectors.shape == (700, 12) and vectors.dtype == np.float64
    np.testing.assert_allclose(matrix @ vectors, vectors * expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-12)
    with oc.SparseMatrix(path) as own:
        assert np.array_equal(oc.linalg.eigsh(own, 12, which="LA").eigenvectors, vectors)
    lines = found.stdout.splitlines()
    assert lines[0].split() == ["eigenvalue", "residual"] and lines[1].split()[:2] == ["v0", str(values["eigenvalue"][0])]
    assert "and 2 more" in found.stdout and "12 of 12 pairs converged" in found.stdout and "verified" in found.stdout
    assert "peak memory" in lines[-1]


def test_complex_eigenpairs_are_numpys(tmp_path):
    matrix = sparse(400, 400, density=0.02)
    path = image(tmp_path, matrix)
    for ending in (".parquet", ".npy"):
        output = tmp_path / f"pairs{ending}"
        run("eigs", path, "--k", 7, "--which", "LR", "--output", output, "--values", tmp_path / "values.csv", "--verify")
        table = columns(tmp_path / "values.csv")
        values = table["eigenvalue_real"] + 1j * table["eigenvalue_imag"]
        if ending == ".npy":
            vectors = np.load(output)
        else:
            parts, _, names = read(output)
            assert names[:2] == ["v0_real", "v0_imag"]
            vectors = parts[:, ::2] + 1j * parts[:, 1::2]
        assert vectors.dtype == np.complex128 and vectors.shape == (400, 7)
        assert np.abs(values.imag).max() > 0.1
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1)
    expected = np.linalg.eigvals(matrix.toarray())
    np.testing.assert_allclose(np.sort(values.real), np.sort(np.sort(expected.real)[-7:]), atol=1e-9)


def test_hermitian_eigenpairs_are_numpys(tmp_path):
    half = sparse(400, 400, density=0.02) + 1j * sparse(400, 400, seed=2, density=0.02)
    matrix = (half + half.conj().T).tocsr()
    path = image(tmp_path, matrix)
    expected = np.linalg.eigvalsh(matrix.toarray())
    for ending in (".parquet", ".csv", ".npy"):
        output, values = tmp_path / f"pairs{ending}", tmp_path / "values.csv"
        said = run("eigsh", path, "--k", 7, "--which", "SA", "--output", output, "--values", values, "--verify").stdout
        assert "7 of 7 pairs converged" in said
        values = columns(values)["eigenvalue"]
        np.testing.assert_allclose(values, expected[:7], atol=1e-11)
        if ending == ".npy":
            vectors = np.load(output)
            assert vectors.dtype == np.complex128
        else:
            parts, _, names = read(output) if ending == ".parquet" else of_csv(output)
            assert names[:3] == ["v0_real", "v0_imag", "v1_real"]
            vectors = parts[:, ::2] + 1j * parts[:, 1::2]
        np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-11)
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(7), atol=1e-12)
    said = run("eigsh", path, "--k", 7, "--explain", "--output", tmp_path / "v.npy").stdout
    assert "one per step of 2 vectors" in said
    refused = run("eigsh", path, "--block", 8, "--explain", code=2).stderr
    assert "expected a block of 1, 2 or 4 complex columns, found 8" in refused
    kept = ("--k", 7, "--ncv", 20, "--checkpoint", tmp_path / "kept")
    assert "no result was written" in run("eigsh", path, *kept, "--maxiter", 1, code=4).stderr
    run("eigsh", path, *kept, "--output", tmp_path / "v.npy", "--verify")
    run("eigsh", path, *kept[:4], "--output", tmp_path / "w.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "w.npy").read_bytes()


@pytest.mark.parametrize("shape", [(500, 320), (320, 500), (5, 3), (1, 1)])
@pytest.mark.parametrize("solver", ["svds", "randomized-svd"])
def test_singular_values_are_numpys(tmp_path, solver, shape):
    matrix = sparse(*shape, density=0.03 if shape[0] > 5 else 0.9)
    path, k = image(tmp_path, matrix), min(6, *shape)
    files = ("--output", tmp_path / "u.parquet", "--right", tmp_path / "v.parquet", "--values", tmp_path / "s.csv")
    names = ("vertex", "vertex") if shape[0] == shape[1] else ("row", "column")
    # As many passes as it takes to come near.
    options = () if solver == "svds" else ("--passes", 60)
    run(solver, path, "--k", k, *options, *files, "--verify")
    expected = np.linalg.svd(matrix.toarray(), compute_uv=False)[:k]
    values = np.atleast_1d(columns(tmp_path / "s.csv")["singular_value"])
    np.testing.assert_allclose(values, expected, atol=1e-11 if solver == "svds" else 1e-3)
    (u, rows, _), (v, column_ids, _) = read(tmp_path / "u.parquet", names[0]), read(tmp_path / "v.parquet", names[1])
    assert rows.tolist() == list(range(shape[0])) and column_ids.tolist() == list(range(shape[1]))
    np.testing.assert_allclose(u.T @ u, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(v.T @ v, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(matrix.T @ u, v * values, atol=1e-10)
    run(solver, path, "--k", k, *options, "--output", tmp_path / "u.npy", "--right", tmp_path / "v.npy")
    assert np.array_equal(np.load(tmp_path / "u.npy"), u) and np.array_equal(np.load(tmp_path / "v.npy"), v)


def test_principal_components_are_numpys(tmp_path):
    matrix = sparse(300, 40, density=0.2)
    path = image(tmp_path, matrix)
    run("randomized-svd", path, "--k", 3, "--center", "--passes", 40, "--right", tmp_path / "v.npy", "--values", tmp_path / "s.csv", "--verify")
    dense = matrix.toarray()
    _, s, vh = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(columns(tmp_path / "s.csv")["singular_value"], s[:3], rtol=1e-6)
    assert np.abs(np.abs((np.load(tmp_path / "v.npy").T @ vh[:3].T).diagonal()) - 1).max() < 1e-4


@pytest.mark.parametrize("method", ["hals", "mu"])
def test_factors_are_those_of_python(tmp_path, method):
    matrix = sparse(200, 120, density=0.05)
    path = image(tmp_path, matrix)
    files = ("--output", tmp_path / "w.parquet", "--right", tmp_path / "h.parquet", "--values", tmp_path / "loss.csv")
    said = run("nmf", path, "--k", 5, "--solver", method, "--max-iter", 30, *files, "--verify").stdout
    w, h = read(tmp_path / "w.parquet", "row")[0], read(tmp_path / "h.parquet", "column")[0].T
    with oc.SparseMatrix(path) as own:
        expected = oc.linalg.nmf(own, 5, solver=method, max_iter=30)
    assert np.array_equal(w, expected[0]) and np.array_equal(h, expected[1])
    loss = np.linalg.norm(matrix.toarray() - w @ h) ** 2
    np.testing.assert_allclose(columns(tmp_path / "loss.csv")["loss"][-1], loss)
    assert f"{expected.iterations} iterations" in said and f"error {np.sqrt(loss):.6f}"[:12] in said


@pytest.mark.parametrize("solver", SYSTEMS)
def test_solutions_solve(tmp_path, solver):
    matrix = symmetric(300) + 30 * scipy.sparse.eye_array(300)
    path, b = image(tmp_path, matrix), np.random.default_rng(3).random(300)
    np.save(tmp_path / "b.npy", b)
    np.save(tmp_path / "x0.npy", b.reshape(-1, 1).astype(">f4"))
    for more in ((), ("--preconditioner", "jacobi"), ("--x0", tmp_path / "x0.npy")):
        said = run(solver, path, "--rhs", tmp_path / "b.npy", "--rtol", 1e-10, *more, "--output", tmp_path / "x.npy", "--values", tmp_path / "r.csv", "--verify").stdout
        x = np.load(tmp_path / "x.npy")
        assert x.shape == (300,) and "stopped by residual" in said
        residual = np.linalg.norm(b - matrix @ x)
        assert residual <= 1e-10 * np.linalg.norm(b)
        np.testing.assert_allclose(np.atleast_1d(columns(tmp_path / "r.csv")["residual"])[-1], residual, atol=1e-13)
    run(solver, path, "--rhs", tmp_path / "b.npy", "--output", tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet")[2] == ["x"]


@pytest.mark.parametrize("semiring", ["plus-times", "min-plus", "or-and", "max-times", "plus-first"])
@pytest.mark.parametrize("transpose", [False, True])
def test_products_are_those_of_python(tmp_path, semiring, transpose):
    matrix = sparse(90, 60, density=0.1) - sparse(90, 60, seed=2, density=0.1)
    path, random = image(tmp_path, matrix), np.random.default_rng(4)
    factor = random.standard_normal((90 if transpose else 60, 35))
    factor[3:7] = [[np.inf], [-0.0], [1e300], [0.0]]
    np.save(tmp_path / "x.npy", np.asfortranarray(factor))
    flags = ("--transpose",) if transpose else ()
    with oc.SparseMatrix(path) as own:
        expected = own.multiply(factor, semiring=semiring, transposed=transpose)
    for ending in (".npy", ".parquet"):
        output = tmp_path / f"y{ending}"
        run("multiply", path, "--by", tmp_path / "x.npy", "--semiring", semiring, *flags, "--output", output, "--verify")
        found = np.load(output) if ending == ".npy" else read(output, "column" if transpose else "row")[0]
        assert np.array_equal(found, expected, equal_nan=True)
    if semiring == "plus-times":
        product = (matrix.T if transpose else matrix).toarray() @ np.nan_to_num(factor, posinf=1)
        np.save(tmp_path / "x.npy", np.nan_to_num(factor, posinf=1))
        run("multiply", path, "--by", tmp_path / "x.npy", *flags, "--output", output.with_suffix(".npy"))
        np.testing.assert_allclose(np.load(output.with_suffix(".npy")), product, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["?", "i1", "u2", ">i4", "u8", "f4", ">f8", "c8", ">c16"])
def test_factors_of_all_types_are_read(tmp_path, kind):
    matrix = sparse(50, 50, density=0.1)
    path = image(tmp_path, matrix)
    for shape in ((50,), (50, 1), (50, 3)):
        factor = (np.random.default_rng(5).random(shape) * 100).astype(kind)
        if factor.dtype.kind == "c":
            factor += (1j * np.arange(50).reshape(50, *(1,) * (len(shape) - 1))).astype(kind)
        np.save(tmp_path / "x.npy", factor)
        run("multiply", path, "--by", tmp_path / "x.npy", "--output", tmp_path / "y.npy", "--verify")
        found = np.load(tmp_path / "y.npy")
        assert found.shape == shape and found.dtype == (np.complex128 if factor.dtype.kind == "c" else np.float64)
        np.testing.assert_allclose(found, matrix @ factor.astype(found.dtype), rtol=1e-12)


def test_complex_matrices_are_multiplied_and_otherwise_refused(tmp_path):
    matrix = sparse(80, 80, density=0.1) + 1j * sparse(80, 80, seed=2, density=0.1)
    path, factor = image(tmp_path, matrix), np.random.default_rng(6).random((80, 20))
    for given in (factor, factor + 1j * factor[::-1]):
        np.save(tmp_path / "x.npy", given)
        run("multiply", path, "--by", tmp_path / "x.npy", "--output", tmp_path / "y.npy", "--verify")
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), matrix @ given, rtol=1e-11)
        run("multiply", path, "--transpose", "--by", tmp_path / "x.npy", "--output", tmp_path / "y.parquet", "--verify")
        parts, _, names = read(tmp_path / "y.parquet")
        assert names[:2] == ["v0_real", "v0_imag"]
        np.testing.assert_allclose(parts[:, ::2] + 1j * parts[:, 1::2], matrix.T @ given, rtol=1e-11)
    refused = run("multiply", path, "--by", tmp_path / "x.npy", "--semiring", "min-plus", code=2)
    assert "complex" in refused.stderr
    np.save(tmp_path / "b.npy", np.ones(80))
    assert "expected a Hermitian matrix" in run("eigsh", path, "--k", 2, code=2).stderr
    options = {"spectral-embedding": (), "nmf": (), "expm-multiply": ("--by", tmp_path / "b.npy")}
    for solver in SOLVERS[2:]:
        more = ("--rhs", tmp_path / "b.npy") if solver in SYSTEMS else options.get(solver, ("--k", 2))
        assert "expected real values" in run(solver, path, *more, "--explain", code=2).stderr, solver


def test_ids_may_be_texts_and_entries_may_have_no_values(tmp_path):
    names = [f"n, {i * 7 % 50:02}" for i in range(50)]
    sources, targets = np.array(names), np.array(names[1:] + names[:1])
    oc.import_graph((sources, targets, np.full(50, 3.0)), tmp_path / "ring.oc", directed=False, order="degree")
    run("eigsh", tmp_path / "ring.oc", "--k", 1, "--which", "LA", "--output", tmp_path / "v.parquet", "--values", tmp_path / "w.csv", "--verify")
    pa = pytest.importorskip("pyarrow.parquet")
    table = pa.read_table(tmp_path / "v.parquet")
    assert sorted(table["vertex"].to_pylist()) == sorted(names)
    np.testing.assert_allclose(np.abs(table["v0"].to_numpy()), 50**-0.5)
    np.testing.assert_allclose(columns(tmp_path / "w.csv")["eigenvalue"], 6)
    run("eigsh", tmp_path / "ring.oc", "--k", 1, "--unweighted", "--values", tmp_path / "w.csv")
    np.testing.assert_allclose(np.abs(columns(tmp_path / "w.csv")["eigenvalue"]), 2)
    # Plain arrays are in the order of the ids, whatever they are.
    np.save(tmp_path / "x.npy", np.arange(50.0))
    run("multiply", tmp_path / "ring.oc", "--by", tmp_path / "x.npy", "--output", tmp_path / "y.npy", "--verify")
    with oc.SparseMatrix(tmp_path / "ring.oc") as own:
        assert np.array_equal(np.load(tmp_path / "y.npy"), own @ np.arange(50.0))


def test_what_does_not_converge_has_an_exit_code(tmp_path):
    ring = scipy.sparse.diags_array([np.ones(1999), np.ones(1999)], offsets=[-1, 1])
    path = image(tmp_path, ring)
    np.save(tmp_path / "b.npy", np.ones(2000))
    cases = [
        ("eigsh", ("--k", 8, "--ncv", 20, "--maxiter", 1), "--maxiter or --ncv or --tol"),
        ("eigs", ("--k", 8, "--ncv", 20, "--maxiter", 1), "--maxiter or --ncv or --tol"),
        ("svds", ("--k", 8, "--ncv", 20, "--maxiter", 1), "--maxiter or --ncv or --tol"),
        ("minres", ("--rhs", tmp_path / "b.npy", "--maxiter", 2), "--maxiter or --rtol"),
        ("gmres", ("--rhs", tmp_path / "b.npy", "--maxiter", 1, "--restart", 3), "--maxiter or --rtol"),
        ("bicgstab", ("--rhs", tmp_path / "b.npy", "--maxiter", 2), "--maxiter or --rtol"),
    ]
    for solver, options, advice in cases:
        files = ("--output", tmp_path / "out.npy", "--values", tmp_path / "values.csv", "--stats", tmp_path / "stats.json")
        refused = run(solver, path, *options, *files, "--verify", code=4)
        assert "expected" in refused.stderr and f"raise {advice}; or take" in refused.stderr, refused.stderr
        assert not (tmp_path / "out.npy").exists() and not (tmp_path / "values.csv").exists()
        assert json.loads((tmp_path / "stats.json").read_text())["stats"]["passes"] > 0
        run(solver, path, *options, *files, "--verify", "--allow-unconverged")
        assert np.load(tmp_path / "out.npy").shape[0] == 2000
        for name in ("out.npy", "values.csv", "stats.json"):
            (tmp_path / name).unlink()
    # Factors after the last iteration are factors.
    assert "stopped by max_iter" in run("nmf", path, "--k", 2, "--max-iter", 1, "--tol", 0).stdout


def test_plans_are_said_and_nothing_is_done(tmp_path):
    path = image(tmp_path, symmetric(600))
    np.save(tmp_path / "x.npy", np.ones((600, 40)))
    np.save(tmp_path / "b.npy", np.ones(600))
    given = dict.fromkeys(("multiply", "expm-multiply"), ("--by", tmp_path / "x.npy")) | {"randomized-svd": ("--k", 2)}
    given |= dict.fromkeys(SYSTEMS, ("--rhs", tmp_path / "b.npy"))
    for solver in SOLVERS:
        output = tmp_path / "out.parquet"
        said = run(solver, path, *given.get(solver, ()), "--explain", "--verify", "--output", output).stdout
        heads = [line.split()[0] for line in said.splitlines()]
        expected = ["memory", "matrix", "output", "verify", "multiply", "passes", "reads"]
        expected += ["files"] if solver == "multiply" else []
        assert [head for head in heads if head != "vectors"] == expected
        assert "600 x 600" in said and "600 rows of" in said and not output.exists(), said
    said = run("multiply", path, "--by", tmp_path / "x.npy", "--explain").stdout
    assert "multiply 32 columns per pass" in said and re.search(r"passes\s+2\n", said), said
    # As Python says it; a table comes from a temporary file.
    with oc.SparseMatrix(path) as own:
        plan = own.explain_multiply(tmp_path / "x.npy", out=tmp_path / "y.npy")
    said = run("multiply", path, "--by", tmp_path / "x.npy", "--explain", "--output", tmp_path / "y.npy").stdout
    assert (plan.factor_bytes, plan.product_bytes) == (2 * 192_000, 192_000)
    assert re.search(r"files +375 KiB read of the factor, 188 KiB written .*, 197 KiB written to temporary files in", said), said
    said = run("multiply", path, "--by", tmp_path / "x.npy", "--explain").stdout
    assert re.search(r"0 bytes written to the product's file, \S+ KiB written to temporary files in", said), said
    assert "passes   6, by turns" in run("randomized-svd", path, "--k", 2, "--center", "--explain").stdout


def test_what_cannot_be_is_refused_before_the_work(tmp_path):
    wide, square = tmp_path / "wide.oc", image(tmp_path, symmetric(60))
    oc.import_matrix(sparse(40, 70, density=0.1), wide, memory="256MiB").close()
    save = lambda name, array: np.save(tmp_path / name, array) or tmp_path / f"{name}.npy"
    good, long, many = save("good", np.ones(60)), save("long", np.ones(61)), save("many", np.ones((60, 2)))
    infinite, cube = save("infinite", np.full(60, np.inf)), save("cube", np.ones((60, 1, 1)))
    complex_, texts = save("complex", np.ones(60, complex)), save("texts", np.array(["a"] * 60))
    fields = save("fields", np.ones(60, dtype=[("a", "f8")]))
    (tmp_path / "short.npy").write_bytes(good.read_bytes()[:-1])
    (tmp_path / "bare.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "empty.npy").touch()
    kept = tmp_path / "kept"
    cases = [
        (("eigsh", wide), "expected a square matrix"),
        (("eigs", wide), "expected a square matrix"),
        (("cg", wide, "--rhs", good), "expected a square matrix"),
        (("eigsh", square, "--k", 0), "expected k from 1 to 60"),
        (("eigsh", square, "--k", 61), "expected k from 1 to 60"),
        (("eigsh", square, "--tol", "nan"), "expected tol from 0 to 1"),
        (("eigsh", square, "--block", 3), "1, 2, 4 or 8"),
        (("eigsh", square, "--ncv", 7), "expected ncv of at least 12"),
        (("svds", wide, "--k", 41), "expected k from 1 to 40"),
        (("randomized-svd", wide, "--k", 3, "--passes", 3), "an even number of passes"),
        (("nmf", wide, "--k", 65), "expected n_components from 1 to 64"),
        (("cg", square, "--rhs", long), "expected a vector of 60 numbers for rhs, found 61 x 1"),
        (("cg", square, "--rhs", many), "found 60 x 2"),
        (("cg", square, "--rhs", complex_), "expected real numbers, found complex ones"),
        (("cg", square, "--rhs", good, "--x0", long), "for x0, found 61 x 1"),
        (("cg", square, "--rhs", good, "--rtol", -1), "expected rtol of 0 or more"),
        (("multiply", square, "--by", long), "expected 60 rows"),
        (("multiply", wide, "--by", good), "expected 70 rows"),
        (("multiply", wide, "--transpose", "--by", good), "expected 40 rows"),
        (("multiply", square, "--by", cube), "found an array of shape (60, 1, 1)"),
        (("multiply", square, "--by", texts), "found the type '<U1'"),
        (("multiply", square, "--by", fields), "found the type [('a', '<f8')]"),
        (("multiply", square, "--by", tmp_path / "none.npy"), "none.npy"),
        (("multiply", square, "--by", tmp_path / "short.npy"), "bytes for 60 x 1 elements"),
        (("multiply", square, "--by", tmp_path / "bare.npy"), "expected a .npy file"),
        *((("multiply", square, "--by", tmp_path / f"{name}.npy"), "expected a .npy file") for name in ("text", "empty")),
        (("eigsh", square, "--output", tmp_path / "out.txt"), ".parquet"),
        (("eigsh", square, "--output", tmp_path / "none" / "out.npy"), "none"),
        (("eigsh", square, "--output", tmp_path / "a.csv", "--values", tmp_path / "a.csv"), "for --output and --values"),
        (("cg", square, "--rhs", good, "--output", good), "for --rhs and --output"),
        (("multiply", square, "--by", good, "--output", good), "for --by and --output"),
        (("eigsh", square, "--checkpoint", kept, "--stats", kept / "state"), "expected a file outside of --checkpoint"),
        (("eigsh", square, "--checkpoint", tmp_path / "n.npy", "--output", tmp_path / "n.npy"), "outside of --checkpoint"),
    ]
    kept.mkdir()
    for arguments, message in cases:
        for more in ((), ("--explain",)):
            refused = run(*arguments, *more, code=(2, 5, 6))
            assert message in refused.stderr and (refused.stdout == "" or more), (arguments, refused.stderr)
    assert "expected finite numbers in b" in run("cg", square, "--rhs", infinite, code=2).stderr
    for arguments in (("eigsh", square, "--which", "XM"), ("eigsh", square, "--right", "v.npy"), ("nmf", square, "--allow-unconverged")):
        assert run(*arguments, code=2).stdout == ""


def test_an_index_of_pandas_is_no_vector(tmp_path):
    path = image(tmp_path, sparse(60, 60))
    frame = pandas.DataFrame({"v0": np.ones(60)}, index=np.arange(60)[::-1])
    for i, (table, name) in enumerate(((frame, "__index_level_0__"), (frame.rename_axis("row"), "row"))):
        file = tmp_path / f"{i}.parquet"
        table.to_parquet(file)
        refused = run("multiply", path, "--by", file, "--output", tmp_path / "o.npy", code=5)
        assert f"found the column `{name}` behind others" in refused.stderr and "index=False" in refused.stderr
        table.to_parquet(file, index=False)
        run("multiply", path, "--by", file, "--output", tmp_path / "o.npy")
        assert np.load(tmp_path / "o.npy").shape == (60,)


def test_tables_of_many_columns_are_refused_where_memory_has_no_room(tmp_path):
    """Encoders and readers of Parquet take some memory per column, whatever the limit: who writes the result says so."""
    path = image(tmp_path, sparse(60, 60))
    np.save(tmp_path / "wide.npy", np.ones((60, 3000)))
    table = tmp_path / "o.parquet"
    multiply = lambda by, output, memory, code=0: run(
        "multiply", path, "--by", by, "--output", output, "--memory", memory, "--quiet", code=code
    )
    refused = multiply(tmp_path / "wide.npy", table, "64MiB", 9).stderr
    assert "what writes the result needs" in refused and not table.exists(), refused
    multiply(tmp_path / "wide.npy", tmp_path / "o.npy", "64MiB")
    multiply(tmp_path / "wide.npy", tmp_path / "o.csv", "64MiB")
    multiply(tmp_path / "wide.npy", table, "384MiB")
    bare = tmp_path / "bare.parquet"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(table).drop_columns("vertex"), bare)
    assert "decoding a row group needs" in multiply(bare, tmp_path / "p.npy", "48MiB", 9).stderr
    multiply(bare, tmp_path / "p.npy", "512MiB")
    assert np.load(tmp_path / "p.npy").shape == (60, 3000)


def test_asymmetric_and_negative_matrices_are_refused(tmp_path):
    path = image(tmp_path, sparse(300, 300))
    np.save(tmp_path / "b.npy", np.ones(300))
    for more in (("eigsh",), ("cg", "--rhs", tmp_path / "b.npy"), ("minres", "--rhs", tmp_path / "b.npy")):
        assert "expected a symmetric matrix" in run(more[0], path, *more[1:], code=2).stderr
    path = image(tmp_path, -sparse(30, 30, density=0.2))
    assert "not negative" in run("nmf", path, code=2).stderr


def test_matrices_of_zeros_and_of_one_number(tmp_path):
    for matrix in (scipy.sparse.csr_array((1, 1)), scipy.sparse.csr_array([[-2.0]]), scipy.sparse.csr_array((300, 300))):
        path, size = image(tmp_path, matrix), matrix.shape[0]
        for solver in ("eigsh", "eigs", "svds", "randomized-svd"):
            run(solver, path, "--k", 1, "--output", tmp_path / "v.npy", "--values", tmp_path / "w.csv", "--verify")
            assert np.load(tmp_path / "v.npy").shape == (size, 1)
            first = columns(tmp_path / "w.csv")
            value = first[first.dtype.names[0]]
            assert value == (matrix.toarray()[0, 0] if solver in ("eigsh", "eigs") else abs(matrix.toarray()[0, 0]))
        np.save(tmp_path / "b.npy", np.zeros(size))
        run("minres", path, "--rhs", tmp_path / "b.npy", "--output", tmp_path / "x.npy", "--verify")
        assert not np.load(tmp_path / "x.npy").any()


def test_results_larger_than_the_limit_are_written_with_the_same_bits(tmp_path):
    size = 400_000
    sizes = (25_000 * 0.9 ** np.arange(24)).astype(int)
    # Stars, whose eigenvalues stand apart.
    centers = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    leaves = np.setdiff1d(np.arange(size), centers)
    path = tmp_path / "stars.oc"
    oc.import_graph((np.resize(np.repeat(centers, sizes), len(leaves)), leaves), path, directed=False, order="degree")
    vectors = []
    # 64 MB of vectors.
    for memory, ending in (("54MiB", ".parquet"), ("1GiB", ".parquet"), ("54MiB", ".npy")):
        output = tmp_path / f"v{ending}"
        said = run("eigsh", path, "--k", 20, "--which", "LA", "--tol", 1e-6, "--ncv", 60, "--memory", memory, "--output", output, "--verify").stdout
        vectors.append(np.load(output) if ending == ".npy" else read(output)[0])
        peak, unit = said.split("peak memory ")[1].split()[:2]
        assert memory != "54MiB" or unit == "MiB" and float(peak) <= 54, said
    assert np.array_equal(vectors[0], vectors[1]) and np.array_equal(vectors[0], vectors[2])
    said = run("eigsh", path, "--k", 12, "--memory", "54MiB", "--temporary", tmp_path, "--explain").stdout
    assert f"a temporary file in {tmp_path}" in said, said
    assert "in memory\n" in run("eigsh", path, "--k", 12, "--memory", "4GiB", "--explain").stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["stars.oc", "v.npy", "v.parquet"]


def test_too_little_memory_is_refused_before_the_work(tmp_path):
    path = tmp_path / "path.oc"
    oc.import_graph((np.arange(2_000_000), np.arange(1, 2_000_001)), path, directed=False)
    np.save(tmp_path / "b.npy", np.ones(2_000_001))
    for arguments in (("eigsh",), ("cg", "--rhs", tmp_path / "b.npy"), ("multiply", "--by", tmp_path / "b.npy")):
        refused = run(arguments[0], path, *arguments[1:], "--memory", "24MiB", "--output", tmp_path / "x.npy", code=9)
        assert "limit" in refused.stderr, refused.stderr
        assert not (tmp_path / "x.npy").exists()


def test_interrupted_solvers_leave_nothing_behind(tmp_path):
    path = tmp_path / "path.oc"
    oc.import_graph((np.arange(500_000), np.arange(1, 500_001)), path, directed=False)
    command = [OUTCORE, "run", "eigsh", path, "--which", "SA", "--output", tmp_path / "v.npy", "--memory", "64MiB"]
    command += ["--progress", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "start" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode == 130 and "stopped" in said, said
    assert [file.name for file in tmp_path.iterdir()] == ["path.oc"]


def test_a_run_is_kept_and_goes_on(tmp_path):
    path, kept = image(tmp_path, symmetric(900)), tmp_path / "kept"
    options = ("--k", 5, "--ncv", 20, "--checkpoint", kept)
    assert "no result was written" in run("eigsh", path, *options, "--maxiter", 1, code=4).stderr
    assert (kept / "state").exists()
    run("eigsh", path, *options, "--output", tmp_path / "v.npy")
    run("eigsh", path, *options[:4], "--output", tmp_path / "w.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "w.npy").read_bytes()
    refused = run("svds", path, *options, code=2).stderr
    assert "expected a checkpoint of this run (svds, k 5" in refused and "(eigsh, k 5" in refused
    assert "--checkpoint" not in words("cg") and "--checkpoint" in words("nmf")


def test_statistics_and_silence(tmp_path):
    path = image(tmp_path, symmetric(60))
    done = run("eigsh", path, "--k", 2, "--stats", "-")
    assert json.loads(done.stdout)["stats"]["passes"] > 0 and "2 of 2 pairs" in done.stderr
    quiet = run("eigsh", path, "--k", 2, "--quiet", "--output", tmp_path / "v.npy")
    assert quiet.stdout == quiet.stderr == "" and np.load(tmp_path / "v.npy").shape == (60, 2)


def peak_mib(said):
    peak, unit = said.split("peak memory ")[1].split()[:2]
    return float(peak) * {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[unit]


@pytest.mark.parametrize(
    "shape, semiring, transpose, ending, limit",
    [
        ((110_000, 120_000), "plus-times", False, ".npy", 40),
        ((120_000, 110_000), "max-times", True, ".npy", 40),
        ((160_000, 150_000), "min-plus", True, ".parquet", 56),
        ((150_000, 150_000), "plus-times", False, ".arrow", 56),
    ],
)
def test_factor_and_product_may_be_eight_times_the_limit(tmp_path, shape, semiring, transpose, ending, limit):
    columns = 400
    random = np.random.default_rng(8)
    entries = np.concatenate([random.integers(0, size, 400_000) for size in shape]).reshape(2, -1)
    matrix = scipy.sparse.coo_array((random.standard_normal(400_000), tuple(entries)), shape=shape)
    path, factor = image(tmp_path, matrix), tmp_path / "x.npy"
    rows, inner = shape[::-1] if transpose else shape
    np.save(factor, random.standard_normal((inner, columns)))
    assert min(rows, inner) * columns * 8 >= 8 * limit * 2**20
    options = ("--semiring", semiring, *(("--transpose",) if transpose else ()), "--temporary", tmp_path)
    files = ("--by", factor, "--output", tmp_path / f"y{ending}")
    said = run("multiply", path, *files, *options, "--memory", f"{limit}MiB", "--threads", 2, "--verify").stdout
    assert "verified" in said and peak_mib(said) <= limit, said
    with oc.SparseMatrix(path, memory="2GiB") as own:
        expected = own.multiply(np.load(factor, mmap_mode="r"), semiring=semiring, transposed=transpose)
    if ending == ".npy":
        found = np.load(tmp_path / "y.npy", mmap_mode="r")
        assert np.array_equal(found, expected)
    else:
        name = "parquet" if ending == ".parquet" else "feather"
        table = pytest.importorskip(f"pyarrow.{name}").read_table(tmp_path / f"y{ending}")
        ids = table.column(0).to_numpy()
        assert np.array_equal(np.sort(ids), np.arange(rows))
        for column in range(0, columns, 37):
            assert np.array_equal(table[f"v{column}"].to_numpy(), expected[ids, column])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.oc", "x.npy", f"y{ending}"]


def test_tables_of_many_columns_keep_to_the_limit(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    size, columns = 40_000, 150
    path, factor = image(tmp_path, sparse(size, size, density=6e-5)), np.random.default_rng(4).random((size, columns))
    table = pytest.importorskip("pyarrow").table({f"x{i}": factor[:, i] for i in range(columns)})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=7000, use_dictionary=False)
    products = []
    for limit in (50, 400):
        said = run("multiply", path, "--by", tmp_path / "x.parquet", "--output", tmp_path / "y.npy", "--memory", f"{limit}MiB").stdout
        assert peak_mib(said) <= limit, said
        products.append(np.load(tmp_path / "y.npy"))
    with oc.SparseMatrix(path) as own:
        assert np.array_equal(products[0], own @ factor) and np.array_equal(products[1], products[0])


def test_a_table_under_real_numbers_is_refused(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = image(tmp_path, sparse(5, 5, density=0.5))
    table = pytest.importorskip("pyarrow").table({"vertex": np.arange(5.0), "x": np.ones(5)})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert "expected ids in column `vertex`, found Float64" in run("multiply", path, "--by", tmp_path / "x.parquet", code=5).stderr


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("order", ["degree", "input"])
def test_results_are_inputs(tmp_path, ending, order):
    for shape in ((90, 90), (70, 90)):
        matrix = sparse(*shape, density=0.1)
        path, factor = image(tmp_path, matrix, order), np.random.default_rng(9).standard_normal((90, 5))
        for given in (factor, factor + 1j * factor[::-1], factor[:, 0]):
            np.save(tmp_path / "x.npy", given)
            first, second = tmp_path / f"first{ending}", tmp_path / "second.npy"
            run("multiply", path, "--by", tmp_path / "x.npy", "--output", first)
            run("multiply", path, "--by", first, "--transpose", "--output", second, "--verify")
            np.testing.assert_allclose(np.load(second), matrix.T @ (matrix @ given), atol=1e-13)
            run("multiply", path, "--by", tmp_path / "x.npy", "--output", tmp_path / "first.npy")
            run("multiply", path, "--by", tmp_path / "first.npy", "--transpose", "--output", tmp_path / "third.npy")
            assert np.array_equal(np.load(second), np.load(tmp_path / "third.npy"))


def test_tables_of_users_are_inputs_or_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    matrix = symmetric(60) + 9 * scipy.sparse.eye_array(60)
    path, b = image(tmp_path, matrix), np.arange(60.0)
    columns = {"a": pa.array(b), "small": pa.array(np.arange(60) % 7, pa.int8()), "f4": pa.array(b / 4, pa.float32())}
    expected = matrix @ np.column_stack([b, np.arange(60) % 7, b / 4])
    for write, name in ((parquet.write_table, "x.parquet"), (feather.write_feather, "x.feather")):
        write(pa.table(columns), tmp_path / name)
        run("multiply", path, "--by", tmp_path / name, "--output", tmp_path / "y.npy", "--verify")
        np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-12)
    # Small row groups, and a right side that is a result.
    parquet.write_table(pa.table({"a": b}), tmp_path / "b.parquet", row_group_size=7)
    run("cg", path, "--rhs", tmp_path / "b.parquet", "--rtol", 1e-12, "--output", tmp_path / "x.parquet", "--verify")
    run("multiply", path, "--by", tmp_path / "x.parquet", "--output", tmp_path / "again.npy")
    np.testing.assert_allclose(np.load(tmp_path / "again.npy"), b, atol=1e-9)
    run("cg", path, "--rhs", tmp_path / "b.parquet", "--x0", tmp_path / "x.parquet", "--output", tmp_path / "x.npy")
    tables = {
        "found 59 x 1": pa.table({"a": b[:59]}),
        "a column or more to multiply a matrix of 60 x 60, found 0 x 0": parquet.read_table(tmp_path / "x.parquet").select(["vertex"]),
        "numbers in column `a`": pa.table({"a": [f"{i}" for i in range(60)]}),
        "a value in column `a`, found null in row 7": pa.table({"a": pa.array([None if i == 7 else i for i in range(60)])}),
        "the id": pa.table({"vertex": np.arange(60)[::-1], "a": b}),
        "60 rows": pa.table({"vertex": parquet.read_table(tmp_path / "x.parquet")["vertex"].to_pylist() + [7], "a": [*b, 1]}),
        "damaged or unsupported": None,
    }
    for message, table in tables.items():
        if table is None:
            (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
        else:
            parquet.write_table(table, tmp_path / "bad.parquet")
        refused = run("multiply", path, "--by", tmp_path / "bad.parquet", "--output", tmp_path / "no.npy", code=5).stderr
        assert message in refused and "bad.parquet" in refused, refused
    assert not (tmp_path / "no.npy").exists()


def test_ids_of_tables_may_be_texts(tmp_path):
    names = np.array([f"n{i * 7 % 50:02}" for i in range(50)])
    oc.import_graph((names, np.roll(names, 1)), tmp_path / "ring.oc", directed=False, order="degree")
    np.save(tmp_path / "x.npy", np.arange(50.0))
    run("multiply", tmp_path / "ring.oc", "--by", tmp_path / "x.npy", "--output", tmp_path / "y.parquet")
    run("multiply", tmp_path / "ring.oc", "--by", tmp_path / "y.parquet", "--output", tmp_path / "z.npy", "--verify")
    with oc.SparseMatrix(tmp_path / "ring.oc") as own:
        assert np.array_equal(np.load(tmp_path / "z.npy"), own @ (own @ np.arange(50.0)))


@pytest.mark.parametrize("order", ["degree", "input"])
@pytest.mark.parametrize("normalised", [True, False])
def test_embeddings_are_those_of_python_and_numpy(tmp_path, order, normalised):
    matrix = abs(symmetric(400, seed=3)) + scipy.sparse.diags_array(np.arange(400) % 3.0)
    matrix = (matrix + scipy.sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(400, 400))).tocsr()
    path = image(tmp_path, matrix, order)
    files = ("--output", tmp_path / "e.parquet", "--values", tmp_path / "w.csv")
    options = ("--n-components", 4, "--norm-laplacian", str(normalised).lower())
    said = run("spectral-embedding", path, *options, *files, "--verify").stdout
    assert "5 of 5 pairs converged" in said and "verified" in said
    with oc.SparseMatrix(path) as own:
        embedding, eigenvalues = oc.linalg.spectral_embedding(own, 4, norm_laplacian=normalised)
    found = read(tmp_path / "e.parquet")[0]
    assert np.array_equal(found, embedding)
    assert np.array_equal(columns(tmp_path / "w.csv")["eigenvalue"], eigenvalues)
    laplacian, scale = scipy.sparse.csgraph.laplacian(matrix, normed=normalised, return_diag=True)
    np.testing.assert_allclose(eigenvalues, np.linalg.eigvalsh(laplacian.toarray())[1:5], atol=1e-12)
    vectors = found * scale[:, None] if normalised else found
    np.testing.assert_allclose(laplacian @ vectors, vectors * eigenvalues, atol=1e-11)
    run("spectral-embedding", path, *options, "--drop-first", "false", "--output", tmp_path / "e.npy")
    assert np.load(tmp_path / "e.npy").shape == (400, 4)
    # A run that is kept goes on with the same bits.
    kept = ("--ncv", 20, "--checkpoint", tmp_path / "kept")
    run("spectral-embedding", path, *options, *kept, "--maxiter", 1, code=4)
    run("spectral-embedding", path, *options, *kept, "--output", tmp_path / "kept.npy")
    run("spectral-embedding", path, *options, *kept[:2], "--output", tmp_path / "e.npy")
    assert (tmp_path / "kept.npy").read_bytes() == (tmp_path / "e.npy").read_bytes()


def test_exponentials_are_those_of_python_and_scipy(tmp_path):
    matrix, random = sparse(150, 150, density=0.03) - scipy.sparse.eye_array(150), np.random.default_rng(7)
    path = image(tmp_path, matrix)
    for b in (random.standard_normal(150), random.standard_normal((150, 3)), random.random((150, 2)) + 1j):
        np.save(tmp_path / "b.npy", b)
        run("expm-multiply", path, "--by", tmp_path / "b.npy", "--t", -0.7, "--output", tmp_path / "y.npy", "--verify")
        found = np.load(tmp_path / "y.npy")
        np.testing.assert_allclose(found, scipy.sparse.linalg.expm_multiply(-0.7 * matrix, b), atol=1e-11)
        with oc.SparseMatrix(path) as own:
            assert np.array_equal(found, oc.linalg.expm_multiply(own, b, -0.7))
            several = oc.linalg.expm_multiply(own, b, start=-1, stop=2, num=4)
        times = ("--start", -1, "--stop", 2, "--num", 4, "--values", tmp_path / "t.csv")
        run("expm-multiply", path, "--by", tmp_path / "b.npy", *times, "--output", tmp_path / "y.npy", "--verify")
        side_by_side = np.moveaxis(several.reshape(4, 150, -1), 0, 1).reshape(150, -1)
        assert np.array_equal(np.load(tmp_path / "y.npy"), side_by_side)
        assert columns(tmp_path / "t.csv")["t"].tolist() == [-1, 0, 1, 2]
        run("expm-multiply", path, "--by", tmp_path / "b.npy", *times, "--output", tmp_path / "y.parquet")
        table, _, names = read(tmp_path / "y.parquet")
        assert names[:2] == (["t0_v0_real", "t0_v0_imag"] if np.iscomplexobj(b) else ["t0_v0", "t1_v0" if b.ndim == 1 else "t0_v1"])
        assert np.array_equal(table if not np.iscomplexobj(b) else table.view(complex), side_by_side)
    cases = [
        (("--t", "nan"), "expected finite times t"),
        (("--start", 1), "expected both start and stop"),
        (("--start", 1, "--stop", 2, "--num", 0), "expected num from 1 to"),
    ]
    for options, message in cases:
        assert message in run("expm-multiply", path, "--by", tmp_path / "b.npy", *options, code=2).stderr
    np.save(tmp_path / "b.npy", np.ones(149))
    assert "found 149 x 1" in run("expm-multiply", path, "--by", tmp_path / "b.npy", code=5).stderr


def test_plans_count_every_product(tmp_path):
    np.save(tmp_path / "b.npy", np.ones(600))
    given = symmetric(600)
    path = image(tmp_path, given)
    for solver, each in (("cg", "one per iteration"), ("gmres", "end of every cycle"), ("bicgstab", "two per iteration")):
        said = run(solver, path, "--rhs", tmp_path / "b.npy", "--explain").stdout
        assert each in said, said


def test_files_that_are_no_arrays_are_refused_by_their_first_letters(tmp_path):
    path = image(tmp_path, symmetric(600))
    (tmp_path / "b3.py").write_text("import numpy as np\n")
    refused = run("gmres", path, "--rhs", tmp_path / "b3.py", "--output", tmp_path / "x.npy", code=5)
    assert 'found "import"' in refused.stderr, refused.stderr
    np.save(tmp_path / "half.npy", np.ones(600, dtype=np.float16))
    with pytest.raises(oc.InputError, match="float32 or float64; in products also complex64 or complex128, found the type"):
        oc.array.open(tmp_path / "half.npy")
    # An array is no matrix, and no command makes one of it.
    refused = run("bicgstab", tmp_path / "half.npy", "--rhs", tmp_path / "half.npy", "--output", tmp_path / "x.npy", code=6)
    assert "outcore import" not in refused.stderr and "Matrix Market" in refused.stderr, refused.stderr


def test_values_in_npy_files_have_fields(tmp_path):
    run("eigsh", image(tmp_path, symmetric(600)), "--k", 2, "--values", tmp_path / "v.npy", "--output", tmp_path / "w.npy")
    assert np.load(tmp_path / "v.npy").dtype.names == ("eigenvalue", "residual")
    assert np.load(tmp_path / "w.npy").dtype.names is None
