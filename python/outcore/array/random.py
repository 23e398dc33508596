"""Random arrays, which take no memory: an element depends on the distribution, the seed, the number of columns and its
place alone, so that the same array is the same in every pass, for all numbers of threads."""

from outcore._options import checked
from outcore._outcore import Expression
from outcore.array import _array as core
from outcore.array._array import Array
from outcore.array._creation import Shape

__all__ = ["bernoulli", "exponential", "integers", "normal", "uniform"]


def _random(distribution: str, shape: Shape, seed: int, **options: float) -> Array:
    return core.made(Expression.random(distribution, core.sizes(shape), seed, **options))  # type: ignore[arg-type]


@checked
def uniform(shape: Shape, seed: int) -> Array:
    """Numbers from 0 to below 1, all equally likely.

    >>> x = oc.array.random.uniform((10000, 2), seed=1)
    >>> x
    <outcore.array.Array: uniform, shape (10000, 2), float64, long axis 0>
    >>> bool(abs(x.mean() - 0.5) < 0.01)
    True
    """
    return _random("uniform", shape, seed)


@checked
def normal(shape: Shape, seed: int) -> Array:
    """Numbers of the standard normal distribution.

    >>> bool(abs(oc.array.random.normal(10000, seed=1).std() - 1) < 0.05)
    True
    """
    return _random("normal", shape, seed)


@checked
def exponential(shape: Shape, seed: int) -> Array:
    """Numbers of the exponential distribution with mean 1.

    >>> bool(abs(oc.array.random.exponential(10000, seed=1).mean() - 1) < 0.05)
    True
    """
    return _random("exponential", shape, seed)


def integers(low: int, high: int, shape: Shape, seed: int) -> Array:
    """Whole numbers from `low` to below `high`, all equally likely, of int64.

    >>> x = oc.array.random.integers(1, 7, 1000, seed=1)
    >>> int(x.min()), int(x.max())
    (1, 6)
    """
    return _random("integers", shape, seed, low=low, high=high)


def bernoulli(p: float, shape: Shape, seed: int) -> Array:
    """Truth values, each true with a probability.

    >>> bool(abs(oc.array.random.bernoulli(0.2, 10000, seed=1).mean() - 0.2) < 0.05)
    True
    """
    return _random("bernoulli", shape, seed, probability=p)
