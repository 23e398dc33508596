"""Scaling of columns: to mean 0 and variance 1, or to a range."""

import math
import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from outcore import _outcore
from outcore import array as xp
from outcore._errors import UsageError
from outcore.ml._base import Model


def _range(given: Any) -> tuple[float, float]:
    """The ends of a range.

    Raises:
        UsageError: Anything but two finite numbers in ascending order.
    """
    is_pair = isinstance(given, (tuple, list)) and len(given) == 2
    if is_pair and all(isinstance(end, numbers.Real) and math.isfinite(end) for end in given) and given[0] < given[1]:
        return float(given[0]), float(given[1])
    raise UsageError(f"expected feature_range as two finite numbers in ascending order, found {given!r}")


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, Model):  # type: ignore[misc]
    """Scales columns to mean 0 and variance 1.

    Args:
        with_mean: Whether means are subtracted.
        with_std: Whether columns are divided by their standard deviations.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        mean_, var_, scale_, n_samples_seen_, n_features_in_: As scikit-learn's; `n_samples_seen_` counts rows, whatever
            their weights.
        stats_: What the fit cost.

    Cost of a fit: one pass; 36 KiB per column and thread.

    Raises:
        UsageError: NaN, which scikit-learn leaves out, or infinite numbers; weights below 0, or all 0.

    >>> from outcore.ml import StandardScaler
    >>> StandardScaler().fit_transform(np.array([[1.0], [3.0]]))
    array([[-1.],
           [ 1.]])
    """

    def __init__(
        self,
        *,
        with_mean: bool = True,
        with_std: bool = True,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.with_mean = with_mean
        self.with_std = with_std
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds means and deviations. `sample_weight` tells as how many rows each one counts."""
        x = self._observations(X, reset=True)
        weights = self._weights(sample_weight, x)
        found = _outcore.standard_scaler(
            x._expression, self._limits(x, weights), weights=None if weights is None else weights._expression
        )
        self.mean_ = found["mean"] if self.with_mean or self.with_std else None
        self.var_ = found["variance"] if self.with_std else None
        self.scale_ = found["scale"] if self.with_std else None
        self.n_samples_seen_ = x.shape[0]
        self._ended(x, found)
        return self

    def transform(self, X: Any) -> Any:
        """The scaled rows."""
        x = self._observations(X).astype("float64")
        x = x - self.mean_ if self.with_mean else x
        return self._delivered(X, x / self.scale_ if self.with_std else x)

    def inverse_transform(self, X: Any) -> Any:
        """The rows that scaled ones were made of."""
        check_is_fitted(self)
        x = self._transformed(X, self.n_features_in_)
        x = x * self.scale_ if self.with_std else x
        return self._delivered(X, x + self.mean_ if self.with_mean else x)


class MinMaxScaler(OneToOneFeatureMixin, TransformerMixin, Model):  # type: ignore[misc]
    """Scales columns to a range. NaN is left out by a fit, and stays NaN.

    Args:
        feature_range: The least and the greatest number of a scaled column.
        clip: Whether scaled numbers beyond the range, of rows that the fit did not see, are moved to its ends.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        data_min_, data_max_, data_range_, min_, scale_, n_samples_seen_, n_features_in_: As scikit-learn's.
        stats_: What the fit cost.

    Cost of a fit: one pass; blocks of rows.

    Raises:
        UsageError: Infinite numbers; a range whose ends are not finite or not in ascending order.

    >>> from outcore.ml import MinMaxScaler
    >>> MinMaxScaler().fit_transform(np.array([[1.0], [np.nan], [3.0]]))
    array([[ 0.],
           [nan],
           [ 1.]])
    """

    def __init__(
        self,
        feature_range: tuple[float, float] = (0, 1),
        *,
        clip: bool = False,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.feature_range = feature_range
        self.clip = clip
        self.memory = memory
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the least and the greatest number of every column."""
        x = self._observations(X, reset=True, allow_nan=True).astype("float64")
        low, high = _range(self.feature_range)
        ends = [xp.nanmin(x, axis=0)._expression, xp.nanmax(x, axis=0)._expression]
        (least, most), stats, run = _outcore.compute_arrays(ends, [], self._limits(x))
        self._ended(x, {"stats": stats, "run": run})
        infinite = np.flatnonzero(np.isinf(least) | np.isinf(most))
        if infinite.size:
            column = self._column(infinite[0])
            raise UsageError(f"expected finite numbers or NaN in X, found an infinite one in {column}")
        self.data_min_, self.data_max_, self.data_range_ = least, most, most - least
        # As scikit-learn has it: columns that are constant, up to rounding, are moved alone.
        is_constant = self.data_range_ < 10 * np.finfo(np.float64).eps
        self.scale_ = (high - low) / np.where(is_constant, 1.0, self.data_range_)
        self.min_ = low - least * self.scale_
        self.n_samples_seen_ = x.shape[0]
        return self

    def transform(self, X: Any) -> Any:
        """The scaled rows."""
        x = self._observations(X, allow_nan=True).astype("float64") * self.scale_ + self.min_
        return self._delivered(X, xp.clip(x, *self.feature_range) if self.clip else x)

    def inverse_transform(self, X: Any) -> Any:
        """The rows that scaled ones were made of."""
        check_is_fitted(self)
        x = self._transformed(X, self.n_features_in_, allow_nan=True)
        return self._delivered(X, (x - self.min_) / self.scale_)
