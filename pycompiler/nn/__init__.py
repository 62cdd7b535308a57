"""Activation functions, softmax and its kin, and initializers of weights. Stands above numpy and random."""

from typing import NoReturn

from pycompiler.core.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.nn import initializers
from pycompiler.nn.functions import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    standardize,
    swish,
    tanh,
)
from pycompiler.scipy.special import logsumexp

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "standardize",
    "swish",
    "tanh",
]

expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


def __getattr__(name: str) -> NoReturn:
    _missing(name)
