"""k-means."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin  # type: ignore[import-untyped]
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]

from outcore import _outcore
from outcore import array as xp
from outcore._errors import UsageError
from outcore._graphs.report import Rows, rows_of
from outcore.array import Array
from outcore.ml._base import Model, counts, flat, from_zero, is_lazy

# How often k-means|| picks rows.
ROUNDS = 5


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Model):  # type: ignore[misc]
    """Clusters by k-means: centres with the least sum of squared distances of rows from the next one.

    Args:
        n_clusters: How many centres.
        init: "k-means||" picks rows by chance, in 5 passes; "k-means++" is taken as the same. Or the first centres, of
            shape `(n_clusters, n_features)`.
        n_init: How many starts there are; the best result counts. "auto" is 1.
        max_iter: The most iterations.
        tol: It ends when the squared distances by which centres move add up to at most `tol` times the mean variance.
        random_state: Where random numbers begin: an int, a generator of NumPy's, or `None` for another one every time.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        cluster_centers_, labels_, inertia_, n_iter_, n_features_in_: As scikit-learn's. `labels_` is a lazy array if X
            was one.
        stats_: What the fit cost.

    Cost of a fit: a pass per iteration and one or two more, and 7 passes to find the first centres; per thread
    `24 k p` bytes and 36 KiB per column. From 64 centres on bounds on distances save most comparisons of rows that
    stay with their centre, where memory has room for 4 bytes per row; results have the same bits without them.

    Raises:
        UsageError: Options that cannot be; NaN or infinite numbers; fewer rows than clusters.
        MemoryLimitError: Too little memory for blocks of rows.

    Bahmani and others, Scalable k-means++, VLDB 2012; Lloyd, Least squares quantization in PCM, 1982; Hamerly, Making
    k-means even faster, SDM 2010.

    >>> from outcore.ml import KMeans
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]])
    >>> KMeans(2, init=X[:3:2]).fit(X).labels_
    array([0, 0, 1, 1])
    """

    cluster_centers_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means||",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Finds the centres. `sample_weight` tells as how many rows each one counts."""
        x = self._observations(X, reset=True)
        weights = self._weights(sample_weight, x)
        n_init = 1 if self.n_init == "auto" else self.n_init
        clusters, starts, max_iter = counts(n_clusters=self.n_clusters, n_init=n_init, max_iter=self.max_iter)
        from_zero(tol=self.tol)
        if clusters > x.shape[0]:
            raise UsageError(f"n_samples={x.shape[0]} should be >= n_clusters={clusters}")
        is_name = isinstance(self.init, str)
        if is_name and self.init not in ("k-means||", "k-means++"):
            raise UsageError(f"expected init as k-means||, k-means++ or centres, found {self.init!r}")
        if not is_name and np.shape(self.init) != (self.n_clusters, x.shape[1]):
            wanted = (self.n_clusters, x.shape[1])
            raise UsageError(f"expected init of shape {wanted}, found {np.shape(self.init)}")
        found = _outcore.kmeans(
            x._expression, self._limits(x, weights), clusters=clusters, centres=None if is_name else flat(self.init),
            rounds=ROUNDS, starts=starts, max_iter=max_iter, tol=self.tol,
            seed=self._seed(self.random_state), weights=None if weights is None else weights._expression,
        )  # fmt: skip
        if not found["converged"]:
            text = f"k-means did not converge within max_iter={self.max_iter} iterations"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        self.cluster_centers_ = found["centres"]
        self.inertia_, self.n_iter_ = found["inertia"], found["iterations"]
        self._sizes = found["counts"]
        self._ended(x, found)
        self.labels_ = self._delivered(X, self._squares(x).argmin(axis=1))
        return self

    def _summary(self) -> tuple[dict[str, Any], list[Rows]]:
        attributes, tables = super()._summary()
        return attributes, [rows_of("Rows per cluster", rows=self._sizes), *tables]

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _squares(self, x: Array) -> Array:
        """Squared distances from all centres: by differences, for products lose what is far less than the squares."""
        return ((x.astype("float64")[:, None, :] - self.cluster_centers_[None, :, :]) ** 2).sum(axis=2)

    def predict(self, X: Any) -> Any:
        """The numbers of the next centres, `(n,)`."""
        return self._delivered(X, self._squares(self._observations(X)).argmin(axis=1))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fits, and gives `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> Any:
        """The distances from all centres, `(n, n_clusters)`."""
        return self._delivered(X, xp.sqrt(self._squares(self._observations(X))))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """The sum of squared distances from the next centre by weights, times -1."""
        squares = self._squares(self._observations(X)).min(axis=1)
        weights = self._weights(sample_weight, squares)
        total = -(squares if weights is None else squares * weights).sum()
        return total if is_lazy(X) else float(self._delivered(X, total))
