"""Activation functions, softmax and related functions, and initializers of weights. Imports numpy and random."""

from typing import NoReturn

from pycompiler.core.tracing.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.nn import initializers
from pycompiler.nn.attention import dot_product_attention
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
    log1mexp,
    log_sigmoid,
    log_softmax,
    logmeanexp,
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
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    standardize,
    swish,
    tanh,
)
from pycompiler.nn.scaled import get_scaled_dot_general_config, scaled_dot_general, scaled_matmul
from pycompiler.scipy.special import logsumexp

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "get_scaled_dot_general_config",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "scaled_dot_general",
    "scaled_matmul",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


def __getattr__(name: str) -> NoReturn:
    _missing(name)
