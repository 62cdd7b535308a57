"""`nn` by its formulas, in NumPy and SciPy and in double precision: an oracle."""

import types

import numpy as np
import scipy.special
from slopes import wide


def sigmoid(x):
    return 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else scipy.special.expit(x)


def softplus(x):
    return np.log(1 + np.exp(x)) if np.iscomplexobj(x) else np.logaddexp(x, 0)


def gelu(x, approximate=True):
    if approximate:
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * scipy.special.ndtr(x)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def hard_sigmoid(x):
    return np.clip((x + 3) / 6, 0, 1)


def glu(x, axis=-1):
    first, second = np.split(x, 2, axis)
    return first * sigmoid(second)


def logsumexp(x, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    return scipy.special.logsumexp(x, axis, where if b is None else b, keepdims, return_sign)


def logmeanexp(x, axis=None, where=None, keepdims=False):
    count = np.sum(np.ones(x.shape) if where is None else where, axis, keepdims=keepdims)
    return logsumexp(x, axis, where=where, keepdims=keepdims) - np.log(count)


def softmax(x, axis=-1, where=True):
    """Of the elements that count; the others, and rows where none counts, are 0."""
    e = np.where(where, np.exp(x - np.max(x.real, axis, keepdims=True)), 0)
    total = np.sum(e, axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def log_softmax(x, axis=-1, where=None):
    counts = True if where is None else where
    moved = x - np.max(x.real, axis, keepdims=True)
    total = np.sum(np.where(counts, np.exp(moved), 0), axis, keepdims=True)
    return np.where(counts, moved - np.log(np.where(total == 0, 1, total)), -np.inf)


def standardize(x, axis=-1, epsilon=1e-5):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def one_hot(x, count, axis=-1, dtype=float):
    return np.moveaxis(np.equal.outer(x, np.arange(count)).astype(dtype), -1, axis)


def dot_product_attention(
    query, key, value, bias=0.0, mask=True, *, scale=None, is_causal=False, local_window_size=None,
    query_seq_lengths=None, key_value_seq_lengths=None, return_residual=False, implementation=None,
):  # fmt: skip
    """Of [batch, length, heads, size]: heads of the query share those of the key in their order."""
    times = query.shape[2] // key.shape[2]
    key, value = (np.repeat(x, times, 2) for x in (key, value))
    logits = np.einsum("bthd,bshd->bhts", query, key) * (query.shape[-1] ** -0.5 if scale is None else scale) + bias
    at, of = np.indices(logits.shape[2:])
    counts = np.ones(logits.shape, bool) & mask
    if is_causal:
        counts &= of <= at
    if local_window_size is not None:
        left, right = np.broadcast_to(local_window_size, 2)
        counts &= (of >= at - left) & (of <= at + right)
    if key_value_seq_lengths is not None:
        counts &= of < key_value_seq_lengths[:, None, None, None]
    if query_seq_lengths is not None:
        counts &= at < query_seq_lengths[:, None, None, None]
    out = np.einsum("bhts,bshd->bthd", softmax(logits, where=counts), value)
    if not return_residual:
        return out
    # In JAX, what does not count is nearly the lowest float32, and so is its logarithm.
    least = -0.7 * float(np.finfo(np.float32).max)
    with np.errstate(divide="ignore"):
        return out, np.maximum(np.moveaxis(scipy.special.logsumexp(logits, -1, counts), 1, 2), least)


def _wide(function):
    """Arguments in double precision."""

    def call(*args, **kwargs):
        return function(*(wide(x) if isinstance(x, np.ndarray) else x for x in args), **kwargs)

    return call


_SCALE, _ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
_FUNCTIONS = {
    "relu": lambda x: np.where(x > 0, x, np.where(np.isnan(x), x, 0)),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "swish": lambda x: x * sigmoid(x),
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "identity": lambda x: x,
    "gelu": gelu,
    "leaky_relu": lambda x, slope=0.01: np.where(x >= 0, x, slope * x),
    "elu": elu,
    "celu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha)),
    "selu": lambda x: _SCALE * elu(x, _ALPHA),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": lambda x: x * hard_sigmoid(x),
    "hard_swish": lambda x: x * hard_sigmoid(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "logmeanexp": logmeanexp,
    "log1mexp": lambda x: np.log1p(-np.exp(-x)) if np.iscomplexobj(x) else np.log(-np.expm1(-x)),
    "standardize": standardize,
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
    "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
    "squareplus": lambda x, b=4.0: (x + np.sqrt(x**2 + b)) / 2,
    "glu": glu,
    "one_hot": one_hot,
    "dot_product_attention": dot_product_attention,
}
nn = types.SimpleNamespace(**{name: _wide(function) for name, function in _FUNCTIONS.items()})
