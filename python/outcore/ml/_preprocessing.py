"""Scaling of columns."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin  # type: ignore[import-untyped]

from outcore import _outcore
from outcore import array as xp
from outcore._errors import UsageError
from outcore.ml._base import Model, is_lazy, opened, weights_of


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
        weights = weights_of(sample_weight, x.shape[0])
        found = _outcore.standard_scaler(
            x._expression, self._limits(x), weights=None if weights is None else weights._expression
        )
        self.mean_ = found["mean"] if self.with_mean or self.with_std else None
        self.var_ = found["variance"] if self.with_std else None
        self.scale_ = found["scale"] if self.with_std else None
        self.n_samples_seen_, self.stats_ = x.shape[0], found["stats"]
        return self

    def transform(self, X: Any) -> Any:
        """The scaled rows."""
        x = self._observations(X).astype("float64")
        x = x - self.mean_ if self.with_mean else x
        return self._delivered(X, x / self.scale_ if self.with_std else x)

    def inverse_transform(self, X: Any) -> Any:
        """The rows that scaled ones were made of."""
        x = opened(X) if is_lazy(X) else xp.asarray(np.asarray(X, dtype=np.float64))
        if x.ndim != 2 or x.shape[1] != self.n_features_in_:
            raise UsageError(f"expected a matrix of {self.n_features_in_} columns, found shape {x.shape}")
        x = x.astype("float64")
        x = x * self.scale_ if self.with_std else x
        return self._delivered(X, x + self.mean_ if self.with_mean else x)
