"""Mixtures of normal distributions."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin  # type: ignore[import-untyped]
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]

from outcore import _outcore
from outcore._errors import UsageError
from outcore.array import Array
from outcore.array._array import made
from outcore.ml._base import OF_FEATURES, Model, counts, flat, from_zero, is_lazy, log_sum_exp, softmax


class GaussianMixture(DensityMixin, Model):  # type: ignore[misc]
    """A mixture of normal distributions, by expectation maximisation.

    Args:
        n_components: How many components.
        covariance_type: "full", each a matrix of its own; "tied", all the same one; "diag", each its own variances;
            "spherical", each one variance.
        tol: It ends when the mean log-likelihood changes by less.
        reg_covar: What is added to variances.
        max_iter: The most iterations.
        n_init: How often it begins; the best result counts.
        weights_init, means_init, precisions_init: Where it begins, all three or none: then at the clusters of `KMeans`.
        random_state: Where random numbers begin: an int, a generator of NumPy's, or `None` for another one every time.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        weights_, means_, covariances_, precisions_, precisions_cholesky_, converged_, n_iter_, lower_bound_,
            lower_bounds_, n_features_in_: As scikit-learn's.
        stats_: What the fit cost.

    Cost of a fit: a pass per iteration, `2 n k p^2` multiplications if covariances are full; k-means and a pass before.
    Per thread `24 k p^2` bytes and `4 k + 64` KiB per column; less if they are not full.

    Raises:
        UsageError: Options that cannot be; NaN or infinite numbers; fewer rows than components; covariances that are
            not positive definite in spite of what is added.
        MemoryLimitError: Too little memory for these.

    >>> from outcore.ml import GaussianMixture
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> np.sort(model.means_.ravel()).round(3), model.converged_
    (array([0.5, 8.5]), True)
    """

    weights_: np.ndarray
    means_: np.ndarray

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Any = None,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the components."""
        x = self._observations(X, reset=True, least_rows=2)
        k, starts, max_iter = counts(n_components=self.n_components, n_init=self.n_init, max_iter=self.max_iter)
        from_zero(tol=self.tol, reg_covar=self.reg_covar)
        p = x.shape[1]
        if k > x.shape[0]:
            raise UsageError(f"expected n_components from 1 to n_samples={x.shape[0]}, found {k}")
        given = (self.weights_init, self.means_init, self.precisions_init)
        missing = sum(one is None for one in given)
        if missing not in (0, 3):
            names = ("weights_init", "means_init", "precisions_init")
            named = " and ".join(name for name, one in zip(names, given) if one is not None)
            raise UsageError(f"expected weights_init, means_init and precisions_init, or none of them, found {named}")
        found = _outcore.gaussian_mixture(
            x._expression, self._limits(x), components=k, covariance=self.covariance_type,
            start=None if missing else (flat(given[0]), flat(given[1]), flat(given[2])), starts=starts,
            max_iter=max_iter, tol=self.tol, regularisation=self.reg_covar, seed=self._seed(self.random_state),
        )  # fmt: skip
        if not found["converged"]:
            text = f"the mixture did not converge within max_iter={self.max_iter} iterations"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        shape = {"full": (k, p, p), "tied": (p, p), "diag": (k, p), "spherical": (k,)}[self.covariance_type]
        self.weights_, self.means_ = found["weights"], found["means"]
        self.covariances_ = found["covariances"].reshape(shape)
        self.precisions_cholesky_ = found["precisions_cholesky"].reshape(shape)
        factor = self.precisions_cholesky_
        is_matrix = self.covariance_type in ("full", "tied")
        self.precisions_ = factor @ np.swapaxes(factor, -1, -2) if is_matrix else factor**2
        self.converged_, self.n_iter_ = found["converged"], found["iterations"]
        self._ended(x, found)
        self.lower_bound_, self.lower_bounds_ = found["lower_bound"], found["lower_bounds"].tolist()
        return self

    def _of_features(self) -> frozenset[str]:
        covariances: dict[str, tuple[str, ...]] = {
            "tied": ("covariances_", "precisions_"),
            "diag": ("covariances_", "precisions_", "precisions_cholesky_"),
        }
        return OF_FEATURES.union(covariances.get(self.covariance_type, ()))

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fits, and gives the likeliest components of rows."""
        return self.fit(X).predict(X)

    def _logs(self, x: Array) -> Array:
        """The logarithms of weighted densities, `(n, k)`."""
        logs = _outcore.mixture_logs(
            x._expression, covariance=self.covariance_type, weights=flat(self.weights_), means=flat(self.means_),
            precisions_cholesky=flat(self.precisions_cholesky_),
        )  # fmt: skip
        return made(logs, x)

    def predict(self, X: Any) -> Any:
        """The likeliest components of rows, `(n,)`."""
        return self._delivered(X, self._logs(self._observations(X)).argmax(axis=1))

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of components, `(n, n_components)`."""
        return self._delivered(X, softmax(self._logs(self._observations(X))))

    def score_samples(self, X: Any) -> Any:
        """The logarithms of the densities of rows, `(n,)`."""
        return self._delivered(X, log_sum_exp(self._logs(self._observations(X)))[:, 0])

    def score(self, X: Any, y: Any = None) -> Any:
        """The mean of `score_samples`."""
        mean = log_sum_exp(self._logs(self._observations(X)))[:, 0].mean()
        return mean if is_lazy(X) else float(self._delivered(X, mean))

    def _n_parameters(self) -> int:
        k, p = self.means_.shape
        own = {"full": k * p * (p + 1) // 2, "tied": p * (p + 1) // 2, "diag": k * p, "spherical": k}
        return int(own[self.covariance_type] + k * p + k - 1)

    def bic(self, X: Any) -> Any:
        """The Bayesian information criterion; the less, the better."""
        x = self._observations(X)
        return -2 * self.score(X) * x.shape[0] + self._n_parameters() * float(np.log(x.shape[0]))

    def aic(self, X: Any) -> Any:
        """Akaike's information criterion; the less, the better."""
        return -2 * self.score(X) * self._observations(X).shape[0] + 2 * self._n_parameters()
