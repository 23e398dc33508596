"""Principal components, and singular vectors of what is not centred."""

import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from outcore import _outcore
from outcore._errors import UsageError
from outcore.ml._base import Model


class _Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):  # type: ignore[misc]
    components_: np.ndarray

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _restored(self, Z: Any, rows: np.ndarray, added: Any) -> Any:
        """The product of places along the components with a row for each of these, and a row more."""
        return self._delivered(Z, self._transformed(Z, len(rows)) @ np.ascontiguousarray(rows) + added)


class PCA(_Projection):
    """Principal components: the directions along which rows vary most.

    Args:
        n_components: How many; `None` for all; a number between 0 and 1 for as many as explain that part of
            the variance.
        whiten: Whether `transform` scales every component to variance 1. Components whose variance rounding explains
            have none, and are 0.
        svd_solver: "covariance_eigh", from the covariance matrix; "full", from a QR factor of the data, which takes
            twice the work and finds singular values below 1e-8 of the greatest one; "auto" is "covariance_eigh".
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, n_components_,
            n_samples_, noise_variance_, n_features_in_: As scikit-learn's, signs included.
        stats_: What the fit cost.

    Cost of a fit: one pass, `n p^2` multiplications; per thread `36 p^2` bytes and 60 KiB per column, or
    `96 p^2` and 68 KiB with "full".

    Raises:
        UsageError: Options that cannot be; NaN or infinite numbers; more components than rows or columns.
        MemoryLimitError: Too little memory for these.

    >>> from outcore.ml import PCA
    >>> model = PCA(1).fit(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    >>> model.components_.round(4), model.explained_variance_ratio_.round(4)
    (array([[0.7071, 0.7071]]), array([1.]))
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        whiten: bool = False,
        svd_solver: str = "auto",
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the components."""
        x = self._observations(X, reset=True, least_rows=2)
        solvers = {"auto": "covariance_eigh", "covariance_eigh": "covariance_eigh", "full": "full"}
        if self.svd_solver not in solvers:
            raise UsageError(f"expected svd_solver as {', '.join(solvers)}, found {self.svd_solver!r}")
        count, most = self.n_components, min(x.shape)
        is_whole = isinstance(count, numbers.Integral)
        is_part = isinstance(count, numbers.Real) and not is_whole
        if not (count is None or is_part and 0 < count < 1 or is_whole and 1 <= count <= most):
            text = f"n_components={count!r} must be between 1 and min(n_samples, n_features)={most}"
            raise UsageError(f"{text}, or a part between 0 and 1, or None")
        wanted = None if is_part or count is None else int(count)
        found = _outcore.pca(
            x._expression, self._limits(x), components=wanted, solver=solvers[self.svd_solver]
        )  # fmt: skip
        variances, ratios, noise = (
            found["explained_variance"], found["explained_variance_ratio"], found["noise_variance"],
        )  # fmt: skip
        kept = len(ratios)
        if is_part:
            kept = min(int(np.searchsorted(np.cumsum(ratios), count, side="right")) + 1, kept)
            noise = float(variances[kept:].mean()) if kept < len(variances) else 0.0
        self.components_, self.explained_variance_ = found["components"][:kept], variances[:kept]
        self.explained_variance_ratio_, self.singular_values_ = ratios[:kept], found["singular_values"][:kept]
        self.mean_, self.noise_variance_ = found["mean"], noise
        self._ended(x, found)
        self.n_components_, self.n_samples_ = kept, x.shape[0]
        return self

    def transform(self, X: Any) -> Any:
        """Rows along the components, `(n, n_components_)`; 0 along whitened components without variance."""
        x = self._observations(X).astype("float64") - self.mean_
        z = x @ np.ascontiguousarray(self.components_.T)
        variance = self.explained_variance_
        scales = np.sqrt(np.where(variance > 0.0, variance, np.inf))
        return self._delivered(X, z / scales if self.whiten else z)

    def inverse_transform(self, X: Any) -> Any:
        """The rows that have these places along the components, `(n, n_features_in_)`."""
        check_is_fitted(self)
        scales = np.sqrt(self.explained_variance_)[:, None]
        rows = self.components_ * scales if self.whiten else self.components_
        return self._restored(X, rows, self.mean_)


class TruncatedSVD(_Projection):
    """The greatest singular values and right singular vectors of data that are not centred.

    Args:
        n_components: How many.
        algorithm: "covariance_eigh", from the product of X with itself; "full", from a QR factor of the data, which
            takes twice the work and finds singular values below 1e-8 of the greatest one; "auto" is "covariance_eigh".
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        components_, explained_variance_, explained_variance_ratio_, singular_values_, n_features_in_: As
            scikit-learn's, exact and with signs that are always the same.
        stats_: What the fit cost.

    Cost of a fit: one pass, `n p^2` multiplications; per thread `36 p^2` bytes and 60 KiB per column, or
    `96 p^2` and 68 KiB with "full".

    Raises:
        UsageError: Options that cannot be; NaN or infinite numbers; more components than rows or columns.
        MemoryLimitError: Too little memory for these.

    >>> from outcore.ml import TruncatedSVD
    >>> TruncatedSVD(1).fit(np.array([[3.0, 0.0], [0.0, 2.0]])).singular_values_
    array([3.])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "auto",
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the singular vectors."""
        x = self._observations(X, reset=True, least_rows=2)
        solvers = {"auto": "covariance_eigh", "covariance_eigh": "covariance_eigh", "full": "full"}
        if self.algorithm not in solvers:
            raise UsageError(f"expected algorithm as {', '.join(solvers)}, found {self.algorithm!r}")
        if not 1 <= self.n_components <= min(x.shape):
            shape = f"n_samples={x.shape[0]} and n_features={x.shape[1]}"
            raise UsageError(f"n_components={self.n_components} must be between 1 and the lesser of {shape}")
        found = _outcore.truncated_svd(
            x._expression, self._limits(x), components=int(self.n_components), solver=solvers[self.algorithm]
        )
        self.components_, self.singular_values_ = found["components"], found["singular_values"]
        self.explained_variance_, self.explained_variance_ratio_ = (
            found["explained_variance"], found["explained_variance_ratio"],
        )  # fmt: skip
        self._ended(x, found)
        return self

    def transform(self, X: Any) -> Any:
        """Rows along the singular vectors, `(n, n_components)`."""
        x = self._observations(X).astype("float64")
        return self._delivered(X, x @ np.ascontiguousarray(self.components_.T))

    def inverse_transform(self, X: Any) -> Any:
        """The rows that have these places along the singular vectors, `(n, n_features_in_)`."""
        check_is_fitted(self)
        return self._restored(X, self.components_, 0.0)
