"""Linear models of numbers."""

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin  # type: ignore[import-untyped]

from outcore import _outcore
from outcore import array as xp
from outcore._inputs.tables import unmasked
from outcore.array import Array
from outcore.ml._base import Regressor


class _Linear(MultiOutputMixin, Regressor):  # type: ignore[misc]
    coef_: np.ndarray
    intercept_: Any
    fit_intercept: bool

    def _fitted(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> dict[str, Any]:
        x, y = self._supervised(X, y, multi_output=True, y_numeric=True)
        targets = y if isinstance(y, Array) else xp.asarray(unmasked(y).astype(np.float64))
        weights = self._weights(sample_weight, x)
        solve = _outcore.ridge if "alpha" in options else _outcore.linear_regression
        found = solve(
            x._expression, targets._expression, self._limits(x, targets, weights), intercept=self.fit_intercept,
            weights=None if weights is None else weights._expression, **options,
        )  # fmt: skip
        is_vector = targets.ndim == 1
        self.coef_ = found["coefficients"][0] if is_vector else found["coefficients"]
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = float(found["intercept"][0]) if is_vector else found["intercept"]
        self._ended(x, found)
        return found

    def predict(self, X: Any) -> Any:
        """The targets of rows, `(n,)` or `(n, n_targets)`."""
        x = self._observations(X).astype("float64")
        return self._delivered(X, x @ np.ascontiguousarray(self.coef_.T) + self.intercept_)


class LinearRegression(_Linear):
    """Least squares; where columns depend on each other, the coefficients of the least norm.

    Args:
        fit_intercept: Whether there is an intercept.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        coef_, intercept_, rank_, n_features_in_: As scikit-learn's.
        stats_: What the fit cost.

    Cost of a fit: one pass, `n (p + t)^2` multiplications with t targets; per thread `36 (p + t)^2` bytes and
    60 KiB per column. It solves the normal equations. Where columns nearly depend on each other, a second pass factors
    them (TSQR, Demmel et al. 2012): singular values below `16 p eps` of the greatest one count as 0, and the solution
    is the one of the least norm.

    Raises:
        UsageError: NaN or infinite numbers; not as many targets as rows; weights below 0, or all 0.
        MemoryLimitError: Too little memory for these.

    >>> from outcore.ml import LinearRegression
    >>> model = LinearRegression().fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]))
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.]), 1.0)
    """

    def __init__(
        self, *, fit_intercept: bool = True, memory: int | str | None = None, threads: int | None = None
    ) -> None:
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the coefficients."""
        self.rank_ = self._fitted(X, y, sample_weight)["rank"]
        return self


class Ridge(_Linear):
    """Least squares with a penalty on the squares of coefficients.

    Args:
        alpha: What the squares of coefficients are multiplied by; one number for all targets.
        fit_intercept: Whether there is an intercept, which is not penalised.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        coef_, intercept_, n_features_in_: As scikit-learn's.
        stats_: What the fit cost.

    Cost, errors: As `LinearRegression`; also an alpha below 0.

    >>> from outcore.ml import Ridge
    >>> Ridge(alpha=2.0).fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])).coef_
    array([1.])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the coefficients."""
        self._fitted(X, y, sample_weight, alpha=self.alpha)
        return self
