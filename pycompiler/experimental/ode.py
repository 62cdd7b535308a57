"""Solutions of ordinary differential equations, with the gradients of the adjoint equation: `odeint`.

The method is Dormand and Prince's of order 5 with an error estimate of order 4, and an interpolation of order 4 between
its steps (E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", sections II.4 and II.5).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.config.config import default_matmul_precision
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree import tree_flatten, tree_leaves, tree_map
from pycompiler.flatten_util import ravel_pytree
from pycompiler.jit.jit import jit
from pycompiler.lax import fori_loop, scan, while_loop
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import Array
from pycompiler.transforms import closure_convert, custom_vjp, eval_shape, vjp, vmap

__all__ = ["odeint"]

Dynamics = Callable[..., Any]

# The tableau of Dormand and Prince.
_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0, 0.0)
_STAGES = (
    (1 / 5, 0, 0, 0, 0, 0, 0),
    (3 / 40, 9 / 40, 0, 0, 0, 0, 0),
    (44 / 45, -56 / 15, 32 / 9, 0, 0, 0, 0),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0, 0),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0, 0),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0),
)
_SOLUTION = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0)
_EMBEDDED = (1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_ERROR = tuple(a - b for a, b in zip(_SOLUTION, _EMBEDDED, strict=True))
_MIDDLE = (
    *(6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2),
    *(187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2),
)


def odeint(
    func: Dynamics,
    y0: Any,
    t: Array,
    *args: Any,
    rtol: Any = 1.4e-8,
    atol: Any = 1.4e-8,
    mxstep: Any = np.inf,
    hmax: Any = np.inf,
) -> Any:
    """The solution of `dy/dt = func(y, t, *args)` with `y(t[0]) = y0`, at the times `t`, which increase.

    `y0`, and the result of `func`, is an array or a tree of arrays of floats or complex numbers. The result has a
    further axis, in front, for the times. The steps keep the local error below `atol + rtol * abs(y)`. There are at
    most `mxstep` steps between two times, and no step is longer than `hmax`. Reverse mode solves the adjoint equation.
    It differentiates by the initial value, the times, `args`, and traced values that `func` closes over.

    Raises TypeError if `t` is not an array of floats, if `y0` has integers, or if an argument is no array. Raises
    ArgumentError if the shapes of `func`'s result differ from those of `y0`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.ode import odeint
    >>> odeint(lambda y, t: -y, 1.0, pnp.array([0.0, 1.0]), rtol=1e-6)
    Array([1.       , 0.3678795], dtype=float32)
    """
    for arg in tree_leaves(args):
        if not is_array(arg):
            raise TypeError(f"odeint: The contents of odeint *args must be arrays or scalars, but got {arg!r}")
    t = pnp.asarray(t)
    if not dtypes.is_floating(get_aval(t).dtype) or get_aval(t).ndim != 1:
        raise TypeError(f"odeint: t must be an array of floats, of one dimension, but got {short(t)}")
    _check_slope(func, y0, t, args)
    converted, consts = closure_convert(func, y0, t[0], *args)
    return _of_tree(converted, rtol, atol, mxstep, hmax, y0, t, *args, *consts)


def _check_slope(func: Dynamics, y0: Any, t: Any, args: Any) -> None:
    states = tree_leaves(y0)
    for state in states:
        if not is_array(state) or not dtypes.is_inexact(get_aval(state).dtype):
            shown = short(get_aval(state)) if is_array(state) else repr(state)
            raise TypeError(f"odeint: y0 has {shown}, expected arrays of floats or complex numbers")
    slopes = tree_leaves(eval_shape(func, y0, t[0], *args))
    if [x.shape for x in slopes] != [get_aval(x).shape for x in states]:
        raise ArgumentError(
            f"odeint: func returned {', '.join([short(get_aval(x)) for x in slopes])}, expected the slopes of "
            f"y0, which is {', '.join([short(get_aval(x)) for x in states])}"
        )


@partial(jit, static_argnums=(0, 1, 2, 3, 4))
def _of_tree(func: Dynamics, rtol: Any, atol: Any, mxstep: Any, hmax: Any, y0: Any, ts: Any, *args: Any) -> Any:
    with default_matmul_precision("highest"):
        flat, unravel = ravel_pytree(y0)

        def raveled(y: Any, t: Any, *args: Any) -> Any:
            return ravel_pytree(func(unravel(y), t, *args))[0]

        return vmap(unravel)(_odeint(raveled, rtol, atol, mxstep, hmax, flat, ts, *args))


@partial(custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def _odeint(func: Dynamics, rtol: Any, atol: Any, mxstep: Any, hmax: Any, y0: Any, ts: Any, *args: Any) -> Any:
    def dynamics(y: Any, t: Any) -> Any:
        return func(y, t, *args)

    def to_next_time(carry: list[Any], target: Any) -> tuple[list[Any], Any]:
        def is_before(state: list[Any]) -> Any:
            number, _, _, t, dt, _, _ = state
            return (t < target) & (number < mxstep) & (dt > 0)

        def step(state: list[Any]) -> list[Any]:
            number, y, f, t, dt, last, coefficients = state
            next_y, next_f, error, stages = _step(dynamics, y, f, t, dt)
            ratio = _error_ratio(error, rtol, atol, y, next_y)
            fitted = _fitted(y, next_y, stages, dt)
            dt, before = pnp.clip(_next_length(dt, ratio), 0.0, hmax), dt
            new = [number + 1, next_y, next_f, t + before, dt, t, fitted]
            old = [number + 1, y, f, t, dt, last, coefficients]
            return [pnp.where(ratio <= 1.0, a, b).astype(get_aval(b).dtype) for a, b in zip(new, old, strict=True)]

        _, *carry = while_loop(is_before, step, [pnp.int32(0), *carry])
        _, _, t, _, last, coefficients = carry
        place = (target - last) / (t - last)
        return carry, pnp.polyval(coefficients, place.astype(get_aval(coefficients).dtype))

    f0 = dynamics(y0, ts[0])
    dt = pnp.clip(_first_length(dynamics, ts[0], y0, 4, rtol, atol, f0), 0.0, hmax).astype(get_aval(ts).dtype)
    _, ys = scan(to_next_time, [y0, f0, ts[0], dt, ts[0], pnp.stack([y0] * 5)], ts[1:])
    return pnp.concatenate((y0[None], ys))


def _first_length(func: Dynamics, t0: Any, y0: Any, order: int, rtol: Any, atol: Any, f0: Any) -> Any:
    """A length of the first step, by Hairer's section II.4."""
    dtype = dtypes.promote_types(get_aval(y0).dtype, get_aval(f0).dtype)
    y0, f0 = y0.astype(dtype), f0.astype(dtype)
    scale = (atol + pnp.abs(y0) * rtol).astype(dtype)
    d0, d1 = pnp.linalg.norm(y0 / scale), pnp.linalg.norm(f0 / scale)
    h0 = pnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    f1 = func(y0 + h0.astype(dtype) * f0, t0 + h0)
    d2 = pnp.linalg.norm((f1 - f0) / scale) / h0
    longest = pnp.maximum(1e-6, h0 * 1e-3)
    h1 = pnp.where((d1 <= 1e-15) & (d2 <= 1e-15), longest, (0.01 / pnp.maximum(d1, d2)) ** (1.0 / (order + 1.0)))
    return pnp.minimum(100.0 * h0, h1)


def _step(func: Dynamics, y0: Any, f0: Any, t0: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    """The value, the slope and the error estimate after a step, and the slopes of all stages."""
    dtype, real = get_aval(f0).dtype, get_aval(dt).dtype
    nodes, weights = pnp.array(_NODES, real), pnp.array(_STAGES, dtype)
    length = dt.astype(dtype)

    def stage(i: Any, slopes: Any) -> Any:
        slope = func(y0 + length * pnp.dot(weights[i - 1], slopes), t0 + dt * nodes[i - 1])
        return slopes.at[i].set(slope)

    slopes = pnp.zeros((7, *get_aval(f0).shape), dtype).at[0].set(f0)
    slopes = fori_loop(1, 7, stage, slopes)
    y1 = length * pnp.dot(pnp.array(_SOLUTION, dtype), slopes) + y0
    return y1, slopes[-1], length * pnp.dot(pnp.array(_ERROR, dtype), slopes), slopes


def _fitted(y0: Any, y1: Any, slopes: Any, dt: Any) -> Any:
    """The coefficients of the polynomial of degree 4 through both ends, their slopes, and the middle."""
    dtype = get_aval(y0).dtype
    dt = dt.astype(dtype)
    middle = y0 + dt * pnp.dot(pnp.array(_MIDDLE, dtype), slopes)
    dy0, dy1 = slopes[0], slopes[-1]
    return pnp.stack(
        [
            -2.0 * dt * dy0 + 2.0 * dt * dy1 - 8.0 * y0 - 8.0 * y1 + 16.0 * middle,
            5.0 * dt * dy0 - 3.0 * dt * dy1 + 18.0 * y0 + 14.0 * y1 - 32.0 * middle,
            -4.0 * dt * dy0 + dt * dy1 - 11.0 * y0 - 5.0 * y1 + 16.0 * middle,
            dt * dy0,
            y0,
        ]
    )


def _error_ratio(error: Any, rtol: Any, atol: Any, y0: Any, y1: Any) -> Any:
    """The mean error of a step, relative to the allowed one."""
    allowed = atol + rtol * pnp.maximum(pnp.abs(y0), pnp.abs(y1))
    return pnp.sqrt(pnp.mean(pnp.abs(error / allowed.astype(get_aval(error).dtype)) ** 2))


def _next_length(dt: Any, ratio: Any) -> Any:
    """The length of the next step, for the error ratio of this one."""
    least = pnp.where(ratio < 1, 1.0, 0.2)
    factor = pnp.minimum(10.0, pnp.maximum(ratio ** (-1.0 / 5.0) * 0.9, least))
    return pnp.where(ratio == 0, dt * 10.0, dt * factor)


# Reverse mode solves the adjoint equation backwards, from each time to the one before.


def _forward(
    func: Dynamics, rtol: Any, atol: Any, mxstep: Any, hmax: Any, y0: Any, ts: Any, *args: Any
) -> tuple[Any, Any]:
    ys = _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args)
    return ys, (ys, ts, args)


def _backward(
    func: Dynamics, rtol: Any, atol: Any, mxstep: Any, hmax: Any, residuals: Any, cotangent: Any
) -> tuple[Any, ...]:
    ys, ts, args = residuals
    # Integers and bools have no derivative, and no part in the state.
    leaves, tree = tree_flatten(args)
    varies = [dtypes.is_inexact(get_aval(leaf).dtype) for leaf in leaves]
    moving = [leaf for leaf, is_moving in zip(leaves, varies, strict=True) if is_moving]
    fixed = [leaf for leaf, is_moving in zip(leaves, varies, strict=True) if not is_moving]

    def merged(moving: Sequence[Any], fixed: Sequence[Any]) -> Any:
        ones, others = iter(moving), iter(fixed)
        return tree.unflatten([next(ones) if is_moving else next(others) for is_moving in varies])

    def augmented(state: Sequence[Any], t: Any, moving: Sequence[Any], fixed: Sequence[Any]) -> Any:
        y, y_bar, *_ = state
        # The time runs backwards.
        slope, pull_back = vjp(lambda y, t, *moving: func(y, t, *merged(moving, fixed)), y, -t, *moving)
        return (-slope, *pull_back(y_bar))

    def to_time_before(carry: Any, i: Any) -> tuple[Any, Any]:
        y_bar, t0_bar, moving_bar = carry
        # The effect of moving the time of the result.
        t_bar = pnp.dot(func(ys[i], ts[i], *args), cotangent[i]).real
        state = (ys[i], y_bar, t0_bar - t_bar, *moving_bar)
        times = pnp.stack([-ts[i], -ts[i - 1]])
        found = odeint(augmented, state, times, moving, fixed, rtol=rtol, atol=atol, mxstep=mxstep, hmax=hmax)
        _, y_bar, t0_bar, *moving_bar = tree_map(lambda x: x[1], found)
        return (y_bar + cotangent[i - 1], t0_bar, moving_bar), t_bar

    start = (cotangent[-1], pnp.zeros((), get_aval(ts).dtype), [pnp.zeros_like(x) for x in moving])
    (y_bar, t0_bar, moving_bar), t_bars = scan(to_time_before, start, pnp.arange(len(ts) - 1, 0, -1))
    args_bar = merged(moving_bar, [np.zeros(get_aval(leaf).shape, dtypes.float0) for leaf in fixed])
    return (y_bar, pnp.concatenate([t0_bar[None], t_bars[::-1]]), *args_bar)


_odeint.defvjp(_forward, _backward)

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
