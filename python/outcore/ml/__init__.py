"""Estimators as scikit-learn has them, of data larger than memory. Importing this needs scikit-learn.

Parameters and attributes have scikit-learn's names, and estimators work in its pipelines and searches. What `fit`,
`predict`, `transform` and `score` take as X is one of:

- what scikit-learn takes: it is validated as there, and results are arrays of NumPy's;
- an `outcore.array.Array`, or the path of an image or of a .npy, Parquet or Arrow file: it is read in passes and never
  in memory as a whole. `predict`, `transform` and `score` give lazy arrays then, and so is `labels_` after `fit`.

All estimators have two parameters more: `memory`, the limit of a fit and of what is computed at once, in bytes or as
text such as "1GiB", and `threads`. Both are `None` by default: those of the array's runtime, or of the process.
Results have the same bits for all limits and numbers of threads; those of a file and of the same numbers in memory may
differ by rounding. After a fit `stats_` tells what it cost: passes, bytes, seconds.

Numbers are computed in float64, whatever the type of X is. NaN and infinite numbers are errors, but `MinMaxScaler`
leaves NaN out: those of rows that a model is applied to lazily are found when the result is computed. Estimators can be
pickled and copied: they hold numbers, and `labels_` if it is lazy, which copies are without; `predict(X)` gives it
again.
"""

from outcore.ml._bayes import GaussianNB
from outcore.ml._cluster import KMeans
from outcore.ml._decomposition import PCA, TruncatedSVD
from outcore.ml._linear import LinearRegression, Ridge
from outcore.ml._logistic import LogisticRegression
from outcore.ml._mixture import GaussianMixture
from outcore.ml._preprocessing import MinMaxScaler, StandardScaler

__all__ = [
    "PCA",
    "GaussianMixture",
    "GaussianNB",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "MinMaxScaler",
    "Ridge",
    "StandardScaler",
    "TruncatedSVD",
]
