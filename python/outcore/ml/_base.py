"""What all estimators share: operands of NumPy's or of ours, limits, classes, and results of the given kind."""

import numbers
import os
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import check_array, check_is_fitted, validate_data  # type: ignore[import-untyped]

from outcore import array as xp
from outcore._errors import UsageError
from outcore._graphs.report import Report, Rows, known, matrix_rows, options_of, page_of, rows_of
from outcore._inputs.tables import refuse_masked, unmasked
from outcore._options import checked_options
from outcore._outcore import Run, Runtime
from outcore.array import Array
from outcore.array._array import made
from outcore.array._compute import compute_options

# The types that estimators compute with; others are converted.
TYPES = [np.float64, np.float32]
# Attributes of fits with a number per feature, or a row of such numbers per class, component or target.
OF_FEATURES = frozenset(
    (
        "mean_", "var_", "scale_", "min_", "data_min_", "data_max_", "data_range_", "coef_", "theta_", "components_",
        "cluster_centers_", "means_",
    )
)  # fmt: skip
# Labels in a file are classes if they lie so near to each other.
MOST_CLASSES = 1 << 16


def is_lazy(given: Any) -> bool:
    """Whether it is an array of ours, or the path of one."""
    return isinstance(given, (Array, str, os.PathLike))


def finite_rows(x: Array, allow_nan: bool) -> Array:
    """The rows of a matrix, of which infinite numbers, and NaN unless it is allowed, are an error when computed."""
    if not allow_nan or x.dtype.kind != "f":
        return made(x._expression.finite_rows(), x)
    is_missing = xp.isnan(x)
    numbers = xp.where(is_missing, 0.0, x)
    return xp.where(is_missing, float("nan"), made(numbers._expression.finite_rows(), x))


def flat(given: Any) -> np.ndarray:
    """Numbers row by row, as the engine takes them."""
    return np.ascontiguousarray(unmasked(given), dtype=np.float64).reshape(-1)


def counts(**options: Any) -> list[int]:
    """Options that are whole numbers from 1 on.

    Raises:
        UsageError: Another value.
    """
    for name, value in options.items():
        if not isinstance(value, numbers.Integral) or value < 1:
            raise UsageError(f"expected {name} as a whole number from 1 on, found {value!r}")
    return [int(value) for value in options.values()]


def from_zero(**options: Any) -> None:
    """Refuses options that are less than 0, or NaN.

    Raises:
        UsageError: Such a value.
    """
    for name, value in options.items():
        if not value >= 0:
            raise UsageError(f"expected {name} from 0 on, found {value!r}")


class Model(BaseEstimator):  # type: ignore[misc]
    """An estimator of the engine's."""

    memory: int | str | None
    threads: int | None
    n_features_in_: int

    stats_: dict[str, Any]
    _run: Run | None = None

    def report(self, path: str | os.PathLike[str] | None = None) -> Report:
        """The fit as a page in HTML, an `outcore.Report`: parameters, what was found, cost and charts. A notebook shows
        it; with a path it is written there, too.

        Raises:
            NotFittedError: It is not fitted.
            TypeError: A copy, which has no run.
            OSError: The file cannot be written.
        """
        check_is_fitted(self)
        name = type(self).__name__
        options, call = options_of(type(self), self.get_params(deep=False)), f"outcore.ml.{self!r}.fit(X)"
        attributes, tables = self._summary()
        return page_of(known(self._run), (name, call), options, attributes, tables, path)

    def _summary(self) -> tuple[dict[str, Any], list[Rows]]:
        """The findings of the fit: numbers and sizes, and the first rows of vectors and matrices."""
        attributes, tables, of_features = {}, [], self._of_features()
        features = getattr(self, "feature_names_in_", range(self.n_features_in_))
        for name, value in vars(self).items():
            if not name.endswith("_") or name in ("stats_", "feature_names_in_") or value is None:
                continue
            if isinstance(value, list):
                value = np.asarray(value)
            if isinstance(value, Array):
                attributes[name] = f"lazy, of shape {value.shape}"
                continue
            attributes[name] = value.item() if np.ndim(value) > 0 and value.size == 1 else value
            if np.ndim(value) == 1 and value.size > 1 and name != "labels_":
                tables.append(rows_of(name, features if name in of_features else None, **{name: value}))
            if np.ndim(value) == 2 and value.size > 1:
                tables.append(matrix_rows(name, value, features if name in of_features else range(value.shape[1])))
        return attributes, tables

    def _of_features(self) -> frozenset[str]:
        """The attributes whose last axis is that of features."""
        return OF_FEATURES

    def _ended(self, x: Array, found: dict[str, Any]) -> None:
        """Keeps what a fit to rows cost."""
        self.stats_, self._run = found["stats"], found["run"].over(x.shape)

    def __getstate__(self) -> dict[str, Any]:
        # Lazy findings of a fit are left out, and so is its run; a parameter becomes an array of NumPy's.
        state = {
            name: value for name, value in super().__getstate__().items()
            if not (isinstance(value, Array) and name.endswith("_")) and name != "_run"
        }  # fmt: skip
        return {name: value.compute() if isinstance(value, Array) else value for name, value in state.items()}

    def _limits(self, x: Array, *beside: Array | None) -> dict[str, Any]:
        """The limits of a fit, as the engine takes them, and the names of its columns, for errors."""
        names = getattr(self, "feature_names_in_", None)
        arrays = [x, *(array for array in beside if array is not None)]
        first = next((array for array in arrays if array._runtime is not None), x)
        limits = compute_options(self._limits_of(first), arrays)
        return limits | {"names": None if names is None else [str(name) for name in names]}

    def _limits_of(self, x: Array) -> dict[str, Any]:
        """The limits of what is computed with x: its runtime, which has those of the estimator (`_opened`), or those of
        the estimator where x is in memory."""
        own = {"memory": self.memory} if x._runtime is None else {"runtime": x._runtime}
        return own | {"threads": self.threads}

    def _column(self, place: int) -> str:
        """A column in an error: its name, or its number from 0."""
        names = getattr(self, "feature_names_in_", None)
        return f"column {place}" if names is None else f"column `{names[place]}`"

    def _seed(self, random_state: Any) -> int:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def _opened(self, given: Any) -> Array:
        """An array of ours whose results are computed within the limits of the estimator, if it has some."""
        if not isinstance(given, Array):
            return xp.open(given, memory=self.memory, threads=self.threads)
        if self.memory is None:
            return given
        own = given._runtime
        threads = own.threads if self.threads is None and own is not None else self.threads
        array = made(given._expression, given)
        array._names, array._runtime = given._names, Runtime(memory=self.memory, threads=threads)
        return array

    def _beside(self, given: Any, x: Array) -> Array:
        """An array of ours beside x: a path is read in the runtime of x, and what is beside numbers in memory within
        the limits of the estimator."""
        if x._runtime is None:
            return self._opened(given)
        return given if isinstance(given, Array) else xp.open(given, runtime=x._runtime)

    def _in_memory(self, given: Any) -> Any:
        """Numbers beside those in memory: an array of ours, or the path of one, is computed."""
        return self._opened(given).compute() if is_lazy(given) else given

    def _weights(self, weights: Any, x: Array) -> Array | None:
        """The weights of the rows of x, as an array of ours.

        Raises:
            UsageError: Another number of them; only zeros.
        """
        if weights is None:
            return None
        rows, given = x.shape[0], None
        if is_lazy(weights):
            array = self._beside(weights, x)
        else:
            given = unmasked(weights).astype(np.float64)
            given = np.full(rows, given) if given.ndim == 0 else given
            array = xp.asarray(given)
        if array.shape != (rows,):
            raise UsageError(f"expected sample_weight as a vector of {rows} numbers, found shape {array.shape}")
        if given is not None and given.size and not given.any():
            raise UsageError("expected weights of which one is greater than 0, found only zeros")
        return array

    def _check_parameters(self) -> None:
        """An error unless parameters are what the annotations of `__init__` say."""
        checked_options(self.__init__, self.get_params(deep=False))  # type: ignore[misc]

    def _observations(self, X: Any, *, reset: bool = False, least_rows: int = 1, allow_nan: bool = False) -> Array:
        """X as a matrix of ours. Infinite numbers are refused, and NaN unless it is allowed; those of a lazy array by
        the fit itself, or when the result is computed."""
        if reset:
            self._check_parameters()
        else:
            check_is_fitted(self)
        if is_lazy(X):
            x = self._own(X, reset, least_rows)
            return x if reset else finite_rows(x, allow_nan)
        refuse_masked(X)
        finite = "allow-nan" if allow_nan else True
        given = validate_data(
            self, X, dtype=TYPES, reset=reset, ensure_min_samples=least_rows, ensure_all_finite=finite
        )  # fmt: skip
        return xp.asarray(given)

    def _transformed(self, Z: Any, columns: int, allow_nan: bool = False) -> Array:
        """The rows that `transform` gave, as a matrix of ours in float64."""
        if is_lazy(Z):
            z = self._opened(Z)
        else:
            z = xp.asarray(check_array(unmasked(Z), dtype=TYPES, ensure_all_finite="allow-nan" if allow_nan else True))
        if z.ndim != 2 or z.shape[1] != columns:
            raise UsageError(f"expected a matrix of {columns} columns, found shape {z.shape}")
        return (finite_rows(z, allow_nan) if is_lazy(Z) else z).astype("float64")

    def _own(self, X: Any, reset: bool, least_rows: int = 1) -> Array:
        x = self._opened(X)
        if x.ndim != 2 or x.shape[0] < least_rows or x.shape[1] < 1:
            text = f"expected X as a matrix of at least {least_rows} rows and a column, found shape {x.shape}"
            raise UsageError(text)
        if reset:
            self.n_features_in_ = x.shape[1]
            if x.names is not None:
                self.feature_names_in_ = np.array(x.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif x.shape[1] != self.n_features_in_:
            wanted = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise UsageError(f"X has {x.shape[1]} features, but {wanted}")
        else:
            self._check_names(x.names)
        return x

    def _check_names(self, names: list[str] | None) -> None:
        """Refuses other names of columns than those of the fit; if only one has names, it warns, as scikit-learn."""
        fitted, name = getattr(self, "feature_names_in_", None), type(self).__name__
        if fitted is None and names is not None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=5)
        elif fitted is not None and names is None:
            text = f"X does not have valid feature names, but {name} was fitted with feature names"
            warnings.warn(text, stacklevel=5)
        elif fitted is not None and list(fitted) != names:
            text = f"feature names should match those of the fit, in their order: expected {list(fitted)}"
            raise UsageError(f"{text}, found {names}")

    def _supervised(self, X: Any, y: Any, **checks: Any) -> tuple[Array, Any]:
        """X and y of a fit: X as an array of ours, y as one of ours or of NumPy's."""
        self._check_parameters()
        if is_lazy(X):
            x = self._own(X, True)
            if y is None:
                raise UsageError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            y = self._beside(y, x) if is_lazy(y) else unmasked(y)
            if y.shape[:1] != x.shape[:1]:
                raise UsageError(f"expected y of {x.shape[0]} rows, found shape {y.shape}")
            return x, y
        y = self._in_memory(y)
        refuse_masked(X, y)
        given, y = validate_data(self, X, y, dtype=TYPES, **checks)
        return xp.asarray(given), y

    def _delivered(self, X: Any, result: Array) -> Any:
        """A result: lazy if X is an array of ours, and otherwise computed."""
        return result if is_lazy(X) else result.compute(**self._limits_of(result))


class Classifier(ClassifierMixin, Model):  # type: ignore[misc]
    """A model of classes."""

    classes_: np.ndarray

    def _labelled(self, X: Any, y: Any) -> tuple[Array, Array]:
        """X, and y as numbers of classes; sets `classes_`."""
        x, y = self._supervised(X, y)
        if isinstance(y, Array):
            self.classes_, labels = self._classes(y, self._limits_of(x))
            return x, labels
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        return x, xp.asarray(numbers.astype(np.int64))

    def _classes(self, y: Array, limits: dict[str, Any]) -> tuple[np.ndarray, Array]:
        if y.ndim != 1:
            raise UsageError(f"expected y as a vector, found shape {y.shape}")
        whole = y if y.dtype.kind == "f" else y.astype("int64")
        least, most, is_whole = xp.compute(whole.min(), whole.max(), (whole == xp.floor(whole)).all(), **limits)
        # The distance of whole numbers of 64 bits may be greater than these.
        span = int(most) - int(least) + 1 if is_whole and np.isfinite([least, most]).all() else MOST_CLASSES + 1
        if span > MOST_CLASSES:
            text = f"expected classes as whole numbers of a range below {MOST_CLASSES}, found {least} to {most}"
            raise UsageError(text)
        places = (whole - least[()]).astype("int64")
        present = np.flatnonzero(xp.bincount(places, span).compute(**limits))
        table = np.zeros(span, np.int64)
        table[present] = np.arange(len(present))
        return (present + least).astype(y.dtype), xp.take(xp.asarray(table), places)

    def _named(self, X: Any, numbers: Array) -> Any:
        """Classes by their numbers."""
        if not is_lazy(X):
            return self.classes_[numbers.compute(memory=self.memory, threads=self.threads)]
        if self.classes_.dtype.kind not in "biuf":
            text = f"expected classes that are numbers, found {self.classes_.dtype}: lazy arrays hold no others"
            raise UsageError(f"{text}; predict_proba gives their probabilities in the order of classes_")
        return xp.take(xp.asarray(self.classes_), numbers)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The part of rows whose class is predicted, by their weights."""
        if not is_lazy(X):
            refuse_masked(y, sample_weight)
            return super().score(X, self._in_memory(y), self._in_memory(sample_weight))
        predicted = self.predict(X)
        right = (predicted == (self._beside(y, predicted) if is_lazy(y) else unmasked(y))).astype("float64")
        weights = self._weights(sample_weight, predicted)
        return right.mean() if weights is None else (right * weights).sum() / weights.sum()

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities of classes, `(n, k)`."""
        proba = self.predict_proba(X)
        return xp.log(proba) if isinstance(proba, Array) else np.log(proba)


class Regressor(RegressorMixin, Model):  # type: ignore[misc]
    """A model of numbers."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The coefficient of determination; the mean of those of several targets."""
        if not is_lazy(X):
            refuse_masked(y, sample_weight)
            return super().score(X, self._in_memory(y), self._in_memory(sample_weight))
        predicted = self.predict(X)
        y = self._beside(y, predicted) if is_lazy(y) else xp.asarray(unmasked(y).astype(np.float64))
        weights = self._weights(sample_weight, predicted)
        each: Any = 1.0
        if weights is None:
            mean = y.mean(axis=0)
        else:
            each = weights[:, None] if y.ndim == 2 else weights
            mean = (each * y).sum(axis=0) / weights.sum()
        left, all_ = (y - predicted) ** 2 * each, (y - mean) ** 2 * each
        left, all_ = left.sum(axis=0), all_.sum(axis=0)
        # Where y is constant, it is predicted or not, as in scikit-learn.
        shares = xp.where(all_ == 0.0, xp.where(left == 0.0, 0.0, 1.0), left / all_)
        return (1.0 - shares).mean()


def log_sum_exp(logs: Array) -> Array:
    """The logarithms of the sums of exponentials of rows, as a column."""
    most = xp.maximum(logs.max(axis=1, keepdims=True), float(np.finfo(np.float64).min))
    return xp.log(xp.exp(logs - most).sum(axis=1, keepdims=True)) + most


def softmax(logs: Array) -> Array:
    """Rows as probabilities."""
    return xp.exp(logs - log_sum_exp(logs))
