"""Minimization by estimates of the inverse Hessian: BFGS and its form with limited memory.

Nocedal and Wright, Numerical Optimization (2006), algorithms 6.1 and 7.4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.lax.control_flow import fori_loop, while_loop
from pycompiler.numpy.linalg import norm as norm_of
from pycompiler.scipy.optimize.line_search import Step, first_step, search
from pycompiler.transforms import value_and_grad

Array = Any


class Result(NamedTuple):
    """The state of a search, and its result."""

    x: Array
    value: Array
    slope: Array
    inverse: Array | None
    converged: Array
    failed: Array
    status: Array
    evaluations: Array
    iterations: Array
    before: Array
    search_status: Array
    # The limited memory: steps, changes of the gradient, reciprocals of their products, the scale of the Hessian.
    memory: Any


def _dot(x: Array, y: Array) -> Array:
    return pnp.dot(x, y, precision="highest")


def _begin(function: Callable[[Array], Any], x0: Array, order: Any, gtol: Any, inverse: Any, memory: Any) -> Result:
    value, slope = function(x0)
    zero, no = pnp.asarray(0), pnp.asarray(False)
    before = value + norm_of(slope).astype(value.dtype) / 2
    converged = norm_of(slope, ord=order) < gtol
    return Result(x0, value, slope, inverse, converged, no, zero, zero + 1, zero, before, zero, memory)


def bfgs(
    fun: Callable[[Array], Any],
    x0: Array,
    maxiter: int | None = None,
    norm: Any = np.inf,
    gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> Result:
    """BFGS with the whole matrix."""
    limit = 200 * x0.shape[0] if maxiter is None else maxiter
    function = value_and_grad(fun)

    def goes_on(state: Result) -> Array:
        return ~state.converged & ~state.failed & (state.iterations < limit)

    def step(state: Result) -> Result:
        direction = -_dot(state.inverse, state.slope)
        rate = _dot(state.slope, direction)
        first = first_step(state.value, state.before, rate)
        found = search(function, state.x, direction, state.value, state.slope, first, line_search_maxiter)
        moved, change = found.size * direction, found.slope - state.slope
        state = _advanced(state, found, moved, norm, gtol)
        return state._replace(inverse=_updated(state.inverse, moved, change))

    state = while_loop(goes_on, step, _begin(function, x0, norm, gtol, pnp.eye(x0.shape[0], dtype=x0.dtype), ()))
    status = pnp.where(
        state.converged,
        0,
        pnp.where(state.iterations == limit, 1, pnp.where(state.failed, 2 + state.search_status, -1)),
    )
    return state._replace(status=status)


def _updated(inverse: Array, moved: Array, change: Array) -> Array:
    """The inverse Hessian that maps the change of the gradient to the step. Without such a matrix, it is unchanged."""
    scale = 1 / _dot(change, moved)
    image = _dot(inverse, change)
    mixed = moved[:, None] * image[None, :]
    outer = moved[:, None] * moved[None, :]
    new = inverse - scale * (mixed + mixed.T) + scale * (1 + scale * _dot(change, image)) * outer
    return pnp.where(pnp.isfinite(scale), new, inverse)


def _advanced(state: Result, found: Step, moved: Array, order: Any, gtol: Any) -> Result:
    converged = norm_of(found.slope, ord=order) < gtol
    return state._replace(
        x=(state.x + moved).astype(state.x.dtype),
        value=found.value,
        slope=found.slope,
        before=state.value,
        converged=converged,
        failed=found.failed & ~converged,
        evaluations=state.evaluations + found.evaluations,
        iterations=state.iterations + 1,
        search_status=found.status,
    )


def limited_memory_bfgs(
    fun: Callable[[Array], Any],
    x0: Array,
    maxiter: float | None = None,
    norm: Any = np.inf,
    maxcor: int = 10,
    ftol: float = 2.220446049250313e-09,
    gtol: float = 1e-05,
    maxfun: float | None = None,
    maxgrad: float | None = None,
    maxls: int = 20,
) -> Result:
    """BFGS with the last `maxcor` steps. x0 may be complex."""
    if maxiter is None and maxfun is None and maxgrad is None:
        maxiter = 200 * x0.shape[0]
    function = value_and_grad(fun)
    real = pnp.real(x0).dtype
    empty = pnp.zeros((maxcor, x0.shape[0]), x0.dtype)
    memory = (empty, empty, pnp.zeros(maxcor, real), pnp.ones((), real))

    def goes_on(state: Result) -> Array:
        return ~state.converged & ~state.failed

    def step(state: Result) -> Result:
        direction = _direction(state.slope, *state.memory)
        first = pnp.ones((), state.value.dtype)
        found = search(function, state.x, direction, state.value, state.slope, first, maxls)
        moved, change = found.size.astype(direction.dtype) * direction, found.slope - state.slope
        status = pnp.where(state.value - found.value < ftol, 4, 0)
        for code, count, most in (
            (3, state.evaluations, maxgrad),
            (2, state.evaluations, maxfun),
            (1, state.iterations, maxiter),
        ):
            if most is not None:
                status = pnp.where(count >= most, code, status)
        status = pnp.where(found.failed, 5, status)
        state = _advanced(state, found, moved, norm, gtol)
        return state._replace(
            failed=(status > 0) & ~state.converged,
            status=pnp.where(state.converged, 0, status),
            memory=_remembered(state.memory, moved, change),
        )

    return while_loop(goes_on, step, _begin(function, x0, norm, gtol, None, memory))


def _remembered(memory: Any, moved: Array, change: Array) -> Any:
    steps, changes, scales, _ = memory
    product = pnp.real(_dot(change, moved))
    square = pnp.real(_dot(pnp.conj(change), change))
    usable = product != 0
    new = (
        pnp.concatenate([steps[1:], moved[None]]),
        pnp.concatenate([changes[1:], change[None]]),
        pnp.concatenate([scales[1:], (1 / pnp.where(usable, product, 1))[None]]),
        product / pnp.where(square == 0, 1, square),
    )
    return tuple(pnp.where(usable, a, b) for a, b in zip(new, memory, strict=True))


def _direction(slope: Array, steps: Array, changes: Array, scales: Array, gamma: Array) -> Array:
    """The product of the inverse Hessian and the negative gradient. Unused places have the scale 0."""
    most = scales.shape[0]

    def backward(j: Array, state: Any) -> Any:
        q, shares = state
        i = most - 1 - j
        share = scales[i] * pnp.real(_dot(pnp.conj(steps[i]), q))
        return q - share * pnp.conj(changes[i]), shares.at[i].set(share)

    def forward(i: Array, q: Array) -> Array:
        return q + (shares[i] - scales[i] * pnp.real(_dot(changes[i], q))) * steps[i]

    q, shares = fori_loop(0, most, backward, (-pnp.conj(slope), pnp.zeros_like(scales)))
    return fori_loop(0, most, forward, gamma * q)
