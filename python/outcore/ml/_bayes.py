"""Naive Bayes."""

from typing import Any, Self

from outcore import _outcore
from outcore.array import Array
from outcore.array._array import made
from outcore.ml._base import Classifier, flat, from_zero, softmax


class GaussianNB(Classifier):
    """Naive Bayes: columns of every class are normally distributed, on their own.

    Args:
        priors: The probabilities of classes; by default their frequencies.
        var_smoothing: The part of the greatest variance of a column that is added to all variances.
        memory, threads: Limits; see `outcore.ml`.

    Attributes:
        classes_, class_count_, class_prior_, theta_, var_, epsilon_, n_features_in_: As scikit-learn's; with weights
            `epsilon_` is of the weighted variances.
        stats_: What the fit cost.

    Cost of a fit: one pass; per thread `96 k p` bytes and 36 KiB per column. y in a file takes two passes more,
    over y.

    Raises:
        UsageError: NaN or infinite numbers; priors that do not fit; weights below 0, or all 0 in a class; y in a file
            that is not whole numbers.

    >>> from outcore.ml import GaussianNB
    >>> model = GaussianNB().fit(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]))
    >>> model.predict([[0.5], [3.5]]), model.theta_.ravel()
    (array([0, 1]), array([0.5, 3.5]))
    """

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.memory = memory
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds means and variances. y is classes of any kind, or whole numbers if it is an array of ours."""
        x, labels = self._labelled(X, y)
        from_zero(var_smoothing=self.var_smoothing)
        weights = self._weights(sample_weight, x)
        found = _outcore.gaussian_nb(
            x._expression, labels._expression, self._limits(x, labels, weights), classes=len(self.classes_),
            smoothing=self.var_smoothing, priors=None if self.priors is None else flat(self.priors),
            weights=None if weights is None else weights._expression,
        )  # fmt: skip
        self.class_count_, self.class_prior_ = found["counts"], found["priors"]
        self.theta_, self.var_ = found["means"], found["variances"]
        self.epsilon_ = found["epsilon"]
        self._ended(x, found)
        return self

    def _joint(self, X: Any) -> Array:
        x = self._observations(X)
        joint = _outcore.joint_log_likelihood(
            x._expression, priors=flat(self.class_prior_), means=flat(self.theta_), variances=flat(self.var_)
        )
        return made(joint, x)

    def predict_joint_log_proba(self, X: Any) -> Any:
        """The logarithms of the joint probabilities of rows and classes, `(n, k)`."""
        return self._delivered(X, self._joint(X))

    def predict(self, X: Any) -> Any:
        """The likeliest classes, `(n,)`."""
        return self._named(X, self._joint(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of classes, `(n, k)`."""
        return self._delivered(X, softmax(self._joint(X)))
