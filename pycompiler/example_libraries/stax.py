"""Layers of networks as pairs of functions, as in `jax.example_libraries.stax`.

A layer is a pair (init_fun, apply_fun). `init_fun(key, input_shape)` returns the shape of the result and the initial
parameters; `apply_fun(params, inputs, rng=key)` computes the result. Only random layers need the key. Names of layers
are in camel case.
"""

import functools
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from pycompiler.nn.initializers import glorot_normal, normal, ones, zeros

__all__ = [
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Conv1DTranspose",
    "ConvTranspose",
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "GeneralConv",
    "GeneralConvTranspose",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "MaxPool",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SumPool",
    "Tanh",
    "elementwise",
    "elu",
    "gelu",
    "glorot",
    "glorot_normal",
    "leaky_relu",
    "log_softmax",
    "logsoftmax",
    "normal",
    "ones",
    "parallel",
    "randn",
    "relu",
    "selu",
    "serial",
    "shape_dependent",
    "sigmoid",
    "softmax",
    "softplus",
    "standardize",
    "zeros",
]

Array = Any
Shape = Any
Layer = tuple[Callable[..., Any], Callable[..., Any]]

# Former names.
glorot = glorot_normal
randn = normal
logsoftmax = log_softmax


def Dense(out_dim: int, W_init: Any = glorot_normal(), b_init: Any = normal()) -> Layer:  # noqa: B008, N802
    """A matmul with the last axis, and the addition of a bias: parameters f[in, out_dim] and f[out_dim].

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import random
    >>> from pycompiler.example_libraries import stax
    >>> init_fun, apply_fun = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(3))
    >>> shape, params = init_fun(random.key(0), (-1, 4))
    >>> shape, apply_fun(params, pnp.ones((2, 4))).shape
    ((-1, 3), (2, 3))
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        weights_key, bias_key = random.split(rng)
        weights = W_init(weights_key, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (weights, b_init(bias_key, (out_dim,)))

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        weights, bias = params
        return pnp.dot(inputs, weights) + bias

    return init_fun, apply_fun


def _convolution(
    shape_of: Callable[..., Shape], compute: Callable[..., Array], dimension_numbers: Any, out_chan: int,
    filter_shape: Shape, strides: Any, padding: Any, W_init: Any, b_init: Any,
) -> Layer:  # fmt: skip
    lhs, rhs, out = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    weights_init = W_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        sizes = dict(zip([c for c in rhs if c not in "IO"], filter_shape, strict=True))
        sizes |= {"O": out_chan, "I": input_shape[lhs.index("C")]}
        kernel_shape = [sizes[c] for c in rhs]
        weights_key, bias_key = random.split(rng)
        weights = weights_init(weights_key, kernel_shape)
        bias = b_init(bias_key, [out_chan if c == "C" else 1 for c in out])
        return shape_of(input_shape, kernel_shape, strides, padding, dimension_numbers), (weights, bias)

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        weights, bias = params
        return compute(inputs, weights, strides, padding, dimension_numbers=dimension_numbers) + bias

    return init_fun, apply_fun


def GeneralConv(  # noqa: N802
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008
) -> Layer:
    """A convolution and the addition of a bias. dimension_numbers: as in `lax.conv_general_dilated`, such as ('NHWC',
    'HWIO', 'NHWC'); filter_shape: the spatial sizes of the kernel."""
    given = (dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)
    return _convolution(lax.conv_general_shape_tuple, lax.conv_general_dilated, *given)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))


def GeneralConvTranspose(  # noqa: N802
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008
) -> Layer:
    """A transposed convolution and the addition of a bias. Parameters as in `GeneralConv`."""
    given = (dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)
    return _convolution(lax.conv_transpose_shape_tuple, lax.conv_transpose, *given)


Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(  # noqa: N802
    axis: Any = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """The inputs with mean 0 and variance 1 along the axes, with a learned offset (center) and factor (scale)."""
    axes = (axis,) if pnp.isscalar(axis) else tuple(axis)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        shape = tuple(size for i, size in enumerate(input_shape) if i not in axes)
        offset_key, factor_key = random.split(rng)
        offset = beta_init(offset_key, shape) if center else ()
        return input_shape, (offset, gamma_init(factor_key, shape) if scale else ())

    def apply_fun(params: Any, x: Array, **kwargs: Any) -> Array:
        offset, factor = params
        spread = tuple(None if i in axes else slice(None) for i in range(pnp.ndim(x)))
        z = standardize(x, axes, epsilon=epsilon)
        if scale:
            z = factor[spread] * z
        return z + offset[spread] if center else z

    return init_fun, apply_fun


def elementwise(fun: Callable[..., Array], **fun_kwargs: Any) -> Layer:
    """A layer without parameters that applies a function of one array."""

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        return fun(inputs, **fun_kwargs)

    return init_fun, apply_fun


Tanh = elementwise(pnp.tanh)
Relu = elementwise(relu)
Exp = elementwise(pnp.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)


def _pooling(
    reduce: Any, start: float, window_shape: Shape, strides: Any, padding: Any, spec: Any, mean: bool = False
) -> Layer:
    """`mean`: the result is divided by the number of elements of each window."""
    fixed = sorted((0, len(window_shape) + 1) if spec is None else (spec.index("N"), spec.index("C")))
    window, steps = list(window_shape), list(strides or (1,) * len(window_shape))
    for i in fixed:
        window.insert(i, 1)
        steps.insert(i, 1)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        pads, ones = lax.padtype_to_pads(input_shape, window, steps, padding), (1,) * len(window)
        return lax.reduce_window_shape_tuple(input_shape, window, steps, pads, ones, ones), ()

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        out = lax.reduce_window(inputs, start, reduce, window, steps, padding)
        if not mean:
            return out
        ones = pnp.ones([1 if i in fixed else size for i, size in enumerate(inputs.shape)], inputs.dtype)
        return out / lax.reduce_window(ones, 0.0, lax.add, window, steps, padding)

    return init_fun, apply_fun


def MaxPool(window_shape: Shape, strides: Any = None, padding: Any = "VALID", spec: Any = None) -> Layer:  # noqa: N802
    """The maximum of each window of the spatial axes. spec: the axes, such as 'NCHW'; None is 'NHWC'."""
    return _pooling(lax.max, -math.inf, window_shape, strides, padding, spec)


def SumPool(window_shape: Shape, strides: Any = None, padding: Any = "VALID", spec: Any = None) -> Layer:  # noqa: N802
    """The sum of each window of the spatial axes. Parameters as in `MaxPool`."""
    return _pooling(lax.add, 0.0, window_shape, strides, padding, spec)


def AvgPool(window_shape: Shape, strides: Any = None, padding: Any = "VALID", spec: Any = None) -> Layer:  # noqa: N802
    """The mean of each window of the spatial axes, without its padding. Parameters as in `MaxPool`."""
    return _pooling(lax.add, 0.0, window_shape, strides, padding, spec, mean=True)


def _flatten() -> Layer:
    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        return pnp.reshape(inputs, (inputs.shape[0], math.prod(inputs.shape[1:])))

    return init_fun, apply_fun


Flatten = _flatten()
Identity = elementwise(lambda inputs: inputs)


def FanOut(num: int) -> Layer:  # noqa: N802
    """A list that repeats the inputs `num` times, for `parallel`."""

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return [input_shape] * num, ()

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> list[Array]:
        return [inputs] * num

    return init_fun, apply_fun


def _fan_in_sum() -> Layer:
    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return input_shape[0], ()

    def apply_fun(params: Any, inputs: Sequence[Array], **kwargs: Any) -> Array:
        return sum(inputs)

    return init_fun, apply_fun


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:  # noqa: N802
    """The inputs, a list of arrays, joined along an axis."""

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        first = list(input_shape[0])
        place = axis % len(first)
        first[place] = sum(shape[place] for shape in input_shape)
        return tuple(first), ()

    def apply_fun(params: Any, inputs: Sequence[Array], **kwargs: Any) -> Array:
        return pnp.concatenate(inputs, axis)

    return init_fun, apply_fun


def Dropout(rate: float, mode: str = "train") -> Layer:  # noqa: N802
    """If mode is 'train', keep each element with the probability `rate`, divided by it, and set the others to 0.

    The function raises ValueError without rng=, a key.
    """

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Array:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("Dropout: needs a key: call apply_fun(params, inputs, rng=key) with a key of random.key")
        if mode != "train":
            return inputs
        return pnp.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return init_fun, apply_fun


def serial(*layers: Layer) -> Layer:
    """The layers one after the other. The parameters are a list, one entry for each layer."""
    init_funs, apply_funs = zip(*layers, strict=True)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        params: list[Any] = []
        for init in init_funs:
            rng, key = random.split(rng)
            input_shape, param = init(key, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        for apply, param, key in zip(apply_funs, params, _keys(kwargs, len(layers)), strict=False):
            inputs = apply(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """The layers side by side: inputs and results are lists, one entry for each layer, as are the parameters."""
    init_funs, apply_funs = zip(*layers, strict=True)

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        keys = random.split(rng, len(layers))
        made = [init(key, shape) for init, key, shape in zip(init_funs, keys, input_shape, strict=False)]
        return tuple(shape for shape, _ in made), tuple(param for _, param in made)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> list[Any]:
        keys = _keys(kwargs, len(layers))
        return [f(p, x, rng=key, **kwargs) for f, p, x, key in zip(apply_funs, params, inputs, keys, strict=False)]

    return init_fun, apply_fun


def _keys(kwargs: dict[str, Any], count: int) -> Any:
    """A key for each layer, from the key rng, which is removed."""
    rng = kwargs.pop("rng", None)
    return [None] * count if rng is None else random.split(rng, count)


def shape_dependent(make_layer: Callable[[Shape], Layer]) -> Layer:
    """The layer that `make_layer` returns for the shape of the inputs."""

    def init_fun(rng: Any, input_shape: Shape) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Array, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun


# Their modules protect the other names.
_LAYERS = [name for name in __all__ if isinstance(globals()[name], FunctionType) and name[0].isupper()]
protect(globals(), [*_LAYERS, "elementwise", "serial", "parallel", "shape_dependent"])
__getattr__ = nearest_name(__name__, __all__)
