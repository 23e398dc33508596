"""Files that are no arrays, damaged ones, and options and types that functions of lazy arrays do not take."""

import os
import zipfile

import numpy as np
import pytest

import outcore as oc

xp = oc.array


def test_pipes_and_devices_are_refused(scratch):
    os.mkfifo("pipe.npy")
    for path in ("/dev/zero", "/dev/null", "pipe.npy"):
        for read in (xp.open, xp.load_npz):
            with pytest.raises(oc.InputError, match=f"{path}: expected a file, found a pipe or a device"):
                read(path)


def test_damaged_archives_are_refused(scratch):
    np.savez("x.npz", cube=np.arange(24).reshape(2, 3, 4), row=np.arange(5))
    np.testing.assert_array_equal(xp.load_npz("x.npz")["cube"], np.arange(24).reshape(2, 3, 4))
    whole = (scratch / "x.npz").read_bytes()
    place = whole.index(np.arange(24).tobytes()) + 8
    (scratch / "x.npz").write_bytes(whole[:place] + b"\x07" + whole[place + 1 :])
    with pytest.raises(oc.InputError, match="found cube.npy: Bad CRC-32"):
        xp.load_npz("x.npz")
    (scratch / "x.npz").write_bytes(whole.replace(b"'shape': (5,), ", b"'shape': (999,)"))
    with pytest.raises(oc.InputError, match="found row.npy: its size is not that of an array of shape"):
        xp.load_npz("x.npz")


def test_damaged_members_are_found_by_passes(scratch):
    x = np.random.default_rng(2).normal(size=(300_000, 3))
    np.savez("x.npz", x=x, v=np.arange(700_000), f=np.asfortranarray(x))
    for name, expected in (("x", x), ("v", np.arange(700_000)), ("f", x)):
        np.testing.assert_allclose(xp.load_npz("x.npz")[name].sum(axis=0).compute(threads=2), expected.sum(axis=0))
    whole = bytearray((scratch / "x.npz").read_bytes())
    for name, place in (("x", whole.index(x[200_000:200_001].tobytes())), ("v", whole.index(np.arange(5, 30).tobytes()))):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (scratch / "x.npz").write_bytes(damaged)
        for threads in (1, 2):
            X = xp.load_npz("x.npz")[name]
            assert np.isfinite(X[300:400].sum().compute(threads=threads)), "a part is not compared"
            for _ in range(2):
                with pytest.raises(oc.InputError, match="expected an array whose CRC-32 is [0-9a-f]{8}, as the archive says"):
                    X.max().compute(threads=threads)


def test_long_heads_are_not_printed_whole(scratch):
    head = "{'descr': '" + "x\x1b" * 2000 + "', 'fortran_order': False, 'shape': (3,), }"
    file = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    (scratch / "x.npy").write_bytes(file)
    with pytest.raises(oc.InputError) as caught:
        xp.open("x.npy")
    assert len(str(caught.value)) < 600 and "\x1b" not in str(caught.value)
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", file)
    with pytest.raises(oc.InputError) as caught:
        xp.load_npz("x.npz")
    assert len(str(caught.value)) < 600 and "\x1b" not in str(caught.value)


@pytest.mark.parametrize("make, message", [
    (lambda X: X.sum().compute(memmory="1GiB"), "the options runtime, memory, .*found memmory="),
    (lambda X: xp.compute(X, persist="x.oc"), "persist= as a mapping of paths to arrays, found 'x.oc'"),
    (lambda X: xp.compute(X, persist={1: X}), "expected a path, found 1"),
    (lambda X: xp.persist(None, X), "expected a path, found None"),
    (lambda X: xp.open(3), "expected a path, found 3"),
    (lambda X: X.sum(axis="rows"), "an axis as a whole number, found 'rows'"),
    (lambda X: X.reshape("flat"), "a size as a whole number, found 'flat'"),
    (lambda X: X.astype("floaty"), "as a type, found 'floaty'"),
    (lambda X: xp.zeros(2.5), "a shape of whole numbers, found 2.5"),
    (lambda X: xp.groupby_sum(X, [0, 1], "two"), "k as a whole number, found 'two'"),
    (lambda X: xp.histogram(X, "auto", (0, 1)), "bins as a whole number, found 'auto'"),
    (lambda X: xp.roll(X, 0.5), "a shift as a whole number, found 0.5"),
    (lambda X: np.sum(X, where=np.ones((2, 3), bool)), "numpy.sum of lazy arrays without where=; choose .*where"),
    (lambda X: np.max(X, initial=1), "numpy.max of lazy arrays without initial="),
    (lambda X: np.add(X, 1, where=X > 0), "numpy.add of lazy arrays without where="),
    (lambda X: np.add.reduce(X, initial=3), "numpy.add.reduce of lazy arrays without initial="),
])  # fmt: skip
def test_what_cannot_be_given_says_what_can(scratch, make, message):
    with pytest.raises(TypeError, match=message):
        make(xp.asarray(np.arange(6).reshape(2, 3)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: xp.histogram(x, [3.0, 1.0, 2.0]), r"at least two edges of bins, rising, found \[3. 1. 2.\]"),
        (lambda x: xp.meshgrid(x, xp.ones((2, 3))), r"arrays of one axis, found one of shape \(2, 3\)"),
        (lambda x: xp.vecdot(x, xp.asarray(1.0)), r"an axis to sum over, found shapes \(3,\) and \(\)"),
        (lambda x: xp.arange(1, 5, 0), "a step other than 0, found 0"),
    ],
)
def test_refusals_name_what_was_found(call, words):
    with pytest.raises(oc.UsageError, match=words):
        call(xp.asarray(np.arange(3.0)))


@pytest.mark.parametrize("offset", [2**64 - 30, 2**63, 10**6])
def test_members_of_an_archive_beyond_the_file_are_refused(tmp_path, offset):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.arange(5))
    content = path.read_bytes()
    # The place of the member in zip64: an extra field of the entry in the directory of the archive.
    entry, end = content.index(b"PK\x01\x02"), content.rindex(b"PK\x05\x06")
    name = int.from_bytes(content[entry + 28 : entry + 30], "little")
    extra = (1).to_bytes(2, "little") + (8).to_bytes(2, "little") + offset.to_bytes(8, "little")
    directory = bytearray(content[entry : entry + 46 + name])
    directory[30:32], directory[42:46] = len(extra).to_bytes(2, "little"), b"\xff" * 4
    tail = bytearray(content[end:])
    tail[12:16] = (len(directory) + len(extra)).to_bytes(4, "little")
    path.write_bytes(content[:entry] + bytes(directory) + extra + bytes(tail))
    with pytest.raises(oc.InputError, match=r"within the file, found x\.npy at byte|expected a \.npz file"):
        oc.array.load_npz(path)


def test_masked_values_are_refused_wherever_arrays_enter(scratch):
    oc.import_graph([(0, 1), (2, 3)], "g.oc")
    levels = oc.bfs(oc.Graph("g.oc"), 0)["level"]
    assert np.ma.is_masked(levels), "vertices that are not reached have no level"
    masked = np.ma.masked_equal([1.0, -99.0, 3.0, 4.0], -99.0)
    places, matrix, x = np.ma.masked_equal([0, 1, 2, 9], 9), oc.SparseMatrix("g.oc"), xp.arange(4)
    models = pytest.importorskip("outcore.ml")
    column, y = masked[:, None], np.arange(4.0)
    model = models.LinearRegression().fit(y[:, None], y)
    calls = [
        lambda: xp.asarray(levels), lambda: xp.asarray([levels, levels]), lambda: xp.asarray(masked, dtype="float32"),
        lambda: x + masked, lambda: xp.mean(masked), lambda: np.add(x, masked), lambda: xp.describe(masked),
        lambda: x[places], lambda: xp.take(x, places, axis=0), lambda: xp.repeat(x, places), lambda: xp.isin(x, masked),
        lambda: xp.histogram(x, masked), lambda: xp.quantile(x, masked), lambda: xp.groupby_sum(x, places, 9),
        lambda: matrix @ masked, lambda: masked @ matrix, lambda: matrix @ column, lambda: matrix[places],
        lambda: oc.linalg.cg(matrix, masked), lambda: oc.linalg.minres(matrix, y, x0=masked),
        lambda: oc.linalg.gmres(matrix, y, M=lambda vector: masked), lambda: oc.linalg.expm_multiply(matrix, masked),
        lambda: oc.linalg.pagerank(matrix, personalization=masked),
        lambda: oc.linalg.bellman_ford(matrix, indices=places),
        lambda: models.KMeans(2).fit(column), lambda: models.KMeans(2, init=column[:2]).fit(y[:, None]),
        lambda: models.LinearRegression().fit(column, y), lambda: models.LinearRegression().fit(y[:, None], masked),
        lambda: models.LinearRegression().fit(y[:, None], y, sample_weight=masked),
        lambda: models.Ridge().fit(xp.asarray(y[:, None]), masked), lambda: models.StandardScaler().fit(column),
        lambda: model.predict(column), lambda: model.score(y[:, None], masked),
        lambda: model.score(y[:, None], y, sample_weight=masked),
        lambda: models.GaussianNB().fit(y[:, None], places), lambda: models.PCA(1).fit(column),
    ]  # fmt: skip
    for number, call in enumerate(calls):
        with pytest.raises(ValueError, match="without missing values, found a masked one; fill it first"):
            call()
            pytest.fail(f"call {number} takes masked values")
    whole = np.ma.array(y)
    assert xp.asarray(whole).sum() == 6 and np.array_equal(matrix @ whole, matrix @ y), "nothing is masked"
    assert xp.asarray(levels.filled(-1)).min() == -1


def test_descriptions_of_no_rows_and_weights_of_other_rows_say_so():
    for shape in [(0,), (0, 3)]:
        with pytest.raises(oc.UsageError, match=r"expected rows to describe, found an array of shape \(0"):
            xp.describe(np.zeros(shape))
    models = pytest.importorskip("outcore.ml")
    for weights, words in ((np.zeros(3), "vector of 4 numbers, found shape .3,"), (np.zeros(4), "only zeros"), (0, "only zeros")):
        with pytest.raises(oc.UsageError, match=words):
            models.LinearRegression().fit(np.eye(4), np.arange(4.0), sample_weight=weights)
