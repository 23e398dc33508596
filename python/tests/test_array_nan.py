"""Statistics that leave NaN out, and NumPy's functions of elements that are close, or are no numbers."""

import numpy as np
import pandas as pd
import pytest
from test_array import check

import outcore as oc

xp = oc.array

NAN_STATISTICS = ["nansum", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("name", NAN_STATISTICS)
def test_statistics_without_nan(scratch, name, dtype):
    rng = np.random.default_rng(3)
    x = rng.normal(0 if dtype == "float32" else 1e6, 1, size=(3000, 4))
    if dtype.startswith("float"):
        x[rng.random(x.shape) < 0.3] = np.nan
        # Columns of NaN alone, and of NaN in the first rows; a row of NaN; infinities.
        x[:, 3], x[:600, 2], x[7], x[9, 0], x[10, 1] = np.nan, np.nan, np.nan, np.inf, -np.inf
    x = x.astype(dtype)
    np.save("x.npy", x)
    function, rtol = getattr(np, name), 1e-4 if dtype == "float32" else 1e-6
    for array, values in ((xp.open("x.npy"), x), (xp.open("x.npy").T[:, 20:], x.T[:, 20:]), (xp.asarray(x[:5]), x[:5])):
        for axis in (None, 0, 1, (0, 1)):
            for keepdims in (False, True):
                lazy = function(array, axis=axis, keepdims=keepdims)
                assert isinstance(lazy, xp.Array)
                check(lazy, function(values, axis=axis, keepdims=keepdims), rtol)
                check(getattr(xp, name)(array, axis=axis, keepdims=keepdims), lazy.compute())
        if name in ("nanvar", "nanstd"):
            check(function(array, axis=0, ddof=1), function(values, axis=0, ddof=1), rtol)
            check(function(array[:1], axis=0, ddof=1), function(values[:1], axis=0, ddof=1), rtol)


def test_passes_of_statistics_without_nan(scratch):
    np.save("x.npy", np.ones((3000, 4)))
    x = xp.open("x.npy")
    for name in NAN_STATISTICS:
        passes = [one.rows for one in getattr(xp, name)(x, axis=0).explain().passes]
        assert passes == ([3000, 3000] if name in ("nanvar", "nanstd") else [3000])
        assert len(getattr(xp, name)(x, axis=1).explain().passes) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
def test_elements_that_are_close_or_no_numbers(dtype):
    x = np.array([1, 1 + 1e-7, 1.1, 0, 1e-9, np.nan, np.nan, np.inf, np.inf, -np.inf, 5, np.inf])
    y = np.array([1, 1, 1, 0, 0, np.nan, 1, np.inf, -np.inf, -np.inf, np.inf, 5])
    if np.dtype(dtype).kind != "f":
        x, y = x[:5], y[:5]
    x, y = x.astype(dtype), y.astype(dtype)
    for options in [{}, {"equal_nan": True}, {"rtol": 0.2, "atol": 0}, {"atol": 0.5}]:
        check(np.isclose(xp.asarray(x), y, **options), np.isclose(x, y, **options))
        for count in (2, 3, 6, len(x)):
            found = np.allclose(xp.asarray(x[:count]), xp.asarray(y[:count]), **options)
            assert isinstance(found, xp.Array) and bool(found) == np.allclose(x[:count], y[:count], **options)
    for options in [{}, {"nan": 7}, {"posinf": 1, "neginf": -2}]:
        check(np.nan_to_num(xp.asarray(x), **options), np.nan_to_num(x, **options))
    for wrong in ({"weights": [1, 2]}, {"weights": [1, 2], "axis": 0}):
        with pytest.raises(oc.UsageError, match="weights of the array's shape"):
            np.average(xp.asarray(np.ones((3, 2))), **wrong)


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_a_description_knows_missing_values(scratch, kind):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(5000, 4)).astype(kind), columns=list("abcd"))
    frame.iloc[::7, 0] = np.nan
    frame.iloc[3:, 1] = np.nan
    frame["d"] = np.nan
    frame["e"] = np.arange(5000)
    frame.to_parquet("some.parquet")
    expected = frame.describe()
    opened = xp.open("some.parquet")
    # Along the rows of a file, in memory, and across the columns of a file.
    np.save("across.npy", frame.to_numpy(kind).T.copy())
    across = xp.open("across.npy").T
    for array, tolerance in ((opened, 1e-5), (xp.asarray(frame.to_numpy(kind)), 1e-5), (across, 1e-5)):
        found = xp.describe(array)
        assert found.rows == 5000 and (found.rows - found.missing).tolist() == expected.loc["count"].tolist()
        for name in ("mean", "std", "min", "max"):
            np.testing.assert_allclose(getattr(found, name), expected.loc[name], rtol=tolerance, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(found.l1, frame.abs().sum(), rtol=1e-4)
        assert found.nonzeros.tolist() == ((frame != 0) & frame.notna()).sum().tolist()
    table = xp.describe(opened).to_pandas()
    assert table.index.tolist() == list("abcde") and table.loc["a", "missing"] == frame["a"].isna().sum()
    shown = xp.describe(opened)._repr_html_()
    assert "<td>a</td>" in shown and "<th>missing</th>" in shown
    assert "The first 60 of 70 columns." in xp.describe(np.ones((3, 70)))._repr_html_()
    whole = xp.describe(np.array([[1, 2], [3, 4]]))
    assert whole.missing.tolist() == [0, 0] and whole.to_pandas().shape == (2, 8)
