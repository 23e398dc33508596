"""Logistic regression."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]

from outcore import _outcore
from outcore import array as xp
from outcore._errors import UsageError
from outcore.array import Array
from outcore.ml._base import Classifier, counts, from_zero, softmax


class LogisticRegression(Classifier):
    """Logistic regression of two classes, or multinomial of several, with a penalty on the squares of coefficients.

    Args:
        C: The weight of the losses beside the penalty; `np.inf` for no penalty, where separable classes have no optimum
            and are a warning, which takes a pass more; also where rows of several classes lie on the hyperplane between
            them (quasi-complete separation).
        tol: It ends when no derivative of the mean loss, by columns scaled to variance 1, is greater.
        fit_intercept: Whether there is an intercept, which is not penalised.
        max_iter: The most steps.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        classes_, coef_, intercept_, n_iter_, n_features_in_: As scikit-learn's.
        stats_: What the fit cost.

    Cost of a fit: a pass for moments and one for each step that is tried, mostly 5 to 15 of Newton's if there are up to
    200 parameters, and 20 to 100 of L-BFGS otherwise. y in a file takes two passes more, over y. With `m = k (p + 1)`
    parameters `24 m^2` bytes per thread for Newton's steps, and `24 m` for the others; 60 KiB per column.

    Raises:
        UsageError: NaN or infinite numbers; one class; options that cannot be; weights below 0, or all 0; y in a file
            that is not whole numbers.
        MemoryLimitError: Too little memory for these.

    >>> from outcore.ml import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["low", "low", "high", "high"])
    >>> LogisticRegression().fit(X, y).predict([[0.5], [3.5]])
    array(['low', 'high'], dtype='<U4')
    """

    coef_: np.ndarray
    intercept_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        max_iter: int = 100,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the coefficients. y is classes of any kind, or whole numbers if it is an array of ours."""
        x, labels = self._labelled(X, y)
        (max_iter,) = counts(max_iter=self.max_iter)
        from_zero(tol=self.tol)
        if not self.C > 0:
            raise UsageError(f"expected C above 0, found {self.C!r}")
        if len(self.classes_) < 2:
            raise UsageError(f"expected y of two classes or more, found only one class: {self.classes_[0]}")
        weights = self._weights(sample_weight, x)
        found = _outcore.logistic_regression(
            x._expression, labels._expression, self._limits(x, labels, weights), classes=len(self.classes_),
            c=float(self.C), intercept=self.fit_intercept, max_iter=max_iter, tol=self.tol,
            weights=None if weights is None else weights._expression,
        )  # fmt: skip
        if found["is_separable"]:
            text = "the classes are separable and there is no penalty: there is no optimum, for the loss falls as"
            warnings.warn(f"{text} coefficients grow; set C to a finite number", ConvergenceWarning, stacklevel=2)
        elif not found["converged"] and found["iterations"] >= self.max_iter:
            text = f"logistic regression did not converge within max_iter={self.max_iter} steps"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        self.coef_, self.intercept_ = found["coefficients"], found["intercept"]
        self.n_iter_ = np.array([found["iterations"]], np.int32)
        self._ended(x, found)
        return self

    def _decisions(self, X: Any) -> Array:
        x = self._observations(X).astype("float64")
        return x @ np.ascontiguousarray(self.coef_.T) + self.intercept_

    def decision_function(self, X: Any) -> Any:
        """How far rows are on the side of class 1, `(n,)`, or of each of several classes, `(n, k)`."""
        all_ = self._decisions(X)
        return self._delivered(X, all_[:, 0] if len(self.classes_) == 2 else all_)

    def predict(self, X: Any) -> Any:
        """The likeliest classes, `(n,)`."""
        all_ = self._decisions(X)
        is_binary = len(self.classes_) == 2
        return self._named(X, (all_[:, 0] > 0.0).astype("int64") if is_binary else all_.argmax(axis=1))

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of classes, `(n, k)`."""
        all_ = self._decisions(X)
        if len(self.classes_) == 2:
            all_ = xp.concat([xp.zeros_like(all_), all_], axis=1)
        return self._delivered(X, softmax(all_))
