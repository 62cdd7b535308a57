"""Random numbers from keys, with JAX's streams: the same key gives the same numbers, always.

Stands above numpy; composes the primitive threefry2x32.
"""

from typing import NoReturn

from pycompiler.core.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.random.distributions import (
    bernoulli,
    categorical,
    cauchy,
    choice,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    permutation,
    rademacher,
    randint,
    truncated_normal,
    uniform,
)
from pycompiler.random.keys import (
    PRNGKey,
    bits,
    clone,
    fold_in,
    key,
    key_data,
    split,
    wrap_key_data,
)

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "clone",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
    "wrap_key_data",
]

expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


def __getattr__(name: str) -> NoReturn:
    _missing(name)
