"""Optimizers as triples of functions, as in `jax.example_libraries.optimizers`.

An optimizer is a triple: `init_fun(params)` returns a state, `update_fun(step, gradients, state)` the next state, and
`params_fun(state)` the parameters. Parameters and gradients are trees of arrays. A step size is a number, or a function
of the step.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import pycompiler.numpy as pnp
from pycompiler import tree_util
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name

__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]

Array = Any
Params = Any
State = Any
Updates = Params
Step = int
Schedule = Callable[[Step], float]

# The flattened states of the leaves of the parameters: a tree of trees.
OptimizerState = namedtuple("OptimizerState", ["packed_state", "tree_def", "subtree_defs"])
tree_util.register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda structures, leaves: OptimizerState(leaves[0], *structures),
)

InitFn = Callable[[Params], OptimizerState]
UpdateFn = Callable[[Step, Updates, OptimizerState], OptimizerState]
ParamsFn = Callable[[OptimizerState], Params]


class Optimizer(NamedTuple):
    """The functions of an optimizer."""

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """A decorator for functions that return the triple for one array: the decorated function returns it for trees.

    The update raises TypeError for gradients of another structure than the parameters, or if the structure of the state
    of an array changes.
    """

    @functools.wraps(opt_maker)
    def tree_opt_maker(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        @functools.wraps(init)
        def tree_init(x0_tree: Params) -> Any:
            leaves, tree = tree_util.tree_flatten(x0_tree)
            return _packed([init(x0) for x0 in leaves], tree)

        @functools.wraps(update)
        def tree_update(i: Step, grad_tree: Updates, opt_state: Any) -> Any:
            gradients, structure = tree_util.tree_flatten(grad_tree)
            if structure != opt_state.tree_def:
                raise TypeError(
                    "optimizer: the gradients must have the structure of the parameters, "
                    f"{opt_state.tree_def}, got {structure}"
                )
            states = [update(i, g, state) for g, state in zip(gradients, _states(opt_state), strict=True)]
            packed = _packed(states, structure)
            for before, after in zip(opt_state.subtree_defs, packed.subtree_defs, strict=True):
                if before != after:
                    raise TypeError(f"optimizer: the structure of a state must stay, {before}, got {after}")
            return packed

        @functools.wraps(get_params)
        def tree_get_params(opt_state: Any) -> Params:
            return tree_util.tree_unflatten(opt_state.tree_def, [get_params(state) for state in _states(opt_state)])

        return Optimizer(tree_init, tree_update, tree_get_params)

    return tree_opt_maker


def _packed(states: list[State], tree: Any) -> Any:
    flat = [tree_util.tree_flatten(state) for state in states]
    return OptimizerState(tuple(leaves for leaves, _ in flat), tree, tuple(structure for _, structure in flat))


def _states(opt_state: Any) -> list[State]:
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state, strict=True)
    return [tree_util.tree_unflatten(structure, leaves) for structure, leaves in pairs]


def _first(state: State) -> Array:
    return state[0]


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.example_libraries import optimizers
    >>> init_fun, update_fun, params_fun = optimizers.sgd(0.5)
    >>> state = init_fun({"w": pnp.ones(2)})
    >>> params_fun(update_fun(0, {"w": pnp.ones(2)}, state))
    {'w': Array([0.5, 0.5], dtype=float32)}
    """
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, x: Array) -> Array:
        return x - schedule(i) * g

    return lambda x0: x0, update, lambda x: x


@optimizer
def momentum(step_size: Any, mass: float) -> Any:
    """Gradient descent with a velocity. Each step keeps the fraction `mass` of it."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * velocity, velocity

    return lambda x0: (x0, pnp.zeros_like(x0)), update, _first


@optimizer
def nesterov(step_size: Any, mass: float) -> Any:
    """Gradient descent with Nesterov's momentum."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * (mass * velocity + g), velocity

    return lambda x0: (x0, pnp.zeros_like(x0)), update, _first


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Any:
    """Adagrad (Duchi, Hazan and Singer, 2011), with momentum."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, squares, mean = state
        squares = squares + pnp.square(g)
        mean = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - schedule(i) * mean, squares, mean

    return lambda x0: (x0, pnp.zeros_like(x0), pnp.zeros_like(x0)), update, _first


def _inverse_root(x: Array) -> Array:
    """1 / sqrt(x), and 0 at 0."""
    return pnp.where(x > 0, 1.0 / pnp.sqrt(pnp.where(x > 0, x, 1)), 0.0)


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """RMSProp: gradients divided by the root of their mean square. Each step keeps the fraction gamma of the mean."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, squares = state
        squares = squares * gamma + pnp.square(g) * (1.0 - gamma)
        return x - schedule(i) * g / pnp.sqrt(squares + eps), squares

    return lambda x0: (x0, pnp.zeros_like(x0)), update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9) -> Any:
    """RMSProp with momentum."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, squares, mean = state
        squares = squares * gamma + pnp.square(g) * (1.0 - gamma)
        mean = momentum * mean + schedule(i) * g / pnp.sqrt(squares + eps)
        return x - mean, squares, mean

    return lambda x0: (x0, pnp.zeros_like(x0), pnp.zeros_like(x0)), update, _first


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam (Kingma and Ba, 2015): b1 and b2 are the fractions of the two means that each step keeps."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, mean, squares = state
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * pnp.square(g) + b2 * squares
        unbiased = mean / (1 - pnp.asarray(b1, mean.dtype) ** (i + 1))
        spread = squares / (1 - pnp.asarray(b2, mean.dtype) ** (i + 1))
        return x - schedule(i) * unbiased / (pnp.sqrt(spread) + eps), mean, squares

    return lambda x0: (x0, pnp.zeros_like(x0), pnp.zeros_like(x0)), update, _first


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """AdaMax: Adam with a maximum in place of the second mean."""
    schedule = make_schedule(step_size)

    def update(i: Step, g: Array, state: State) -> State:
        x, mean, largest = state
        mean = (1 - b1) * g + b1 * mean
        largest = pnp.maximum(b2 * largest, pnp.abs(g))
        size = schedule(i) / (1 - pnp.asarray(b1, mean.dtype) ** (i + 1))
        return x - size * mean / (largest + eps), mean, largest

    return lambda x0: (x0, pnp.zeros_like(x0), pnp.zeros_like(x0)), update, _first


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Any:
    """SM3 (Anil et al., 2019): Adagrad whose memory is one vector for each axis."""
    schedule = make_schedule(step_size)

    def init(x0: Array) -> State:
        shape = x0.shape
        x0 = pnp.atleast_1d(x0)
        return x0, pnp.zeros_like(x0), [pnp.zeros(size, x0.dtype) for size in x0.shape], shape

    def update(i: Step, g: Array, state: State) -> State:
        x, mean, sums, shape = state
        g = pnp.reshape(g, x.shape)
        rows = [pnp.expand_dims(one, [j for j in range(x.ndim) if j != axis]) for axis, one in enumerate(sums)]
        squares = functools.reduce(pnp.minimum, rows) + pnp.square(g)
        mean = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        sums = [squares.max([j for j in range(x.ndim) if j != axis]) for axis in range(x.ndim)]
        return x - schedule(i) * mean, mean, sums, shape

    def get_params(state: State) -> Array:
        return pnp.reshape(state[0], state[3])

    return init, update, get_params


def constant(step_size: Any) -> Schedule:
    """The same step size at all steps."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """step_size * decay_rate ** (i / decay_steps)."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False) -> Schedule:
    """step_size / (1 + decay_rate * i / decay_steps); with staircase, the quotient is rounded down."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * pnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size: Any, decay_steps: Any, final_step_size: Any, power: float = 1.0) -> Schedule:
    """From step_size to final_step_size, by a power of the remaining fraction of decay_steps."""

    def schedule(step_num: Any) -> Any:
        remaining = 1 - pnp.minimum(step_num, decay_steps) / decay_steps
        return remaining**power * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """values[n] at a step that is beyond n boundaries. ValueError unless there is one more value than boundaries."""
    boundaries, values = pnp.asarray(boundaries), pnp.asarray(values)
    if not boundaries.ndim == values.ndim == 1:
        raise ValueError("piecewise_constant: boundaries and values must be vectors")
    if len(boundaries) != len(values) - 1:
        raise ValueError(f"piecewise_constant: {len(boundaries)} boundaries need one more value, got {len(values)}")
    return lambda i: values[pnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule: float | Schedule) -> Schedule:
    """A function of the step: the given function, or a constant one for a number. TypeError for an array with axes."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if pnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(f"make_schedule: takes a number or a function of the step, got {type(scalar_or_schedule).__name__}")


def l2_norm(tree: Any) -> Array:
    """The Euclidean norm of all numbers of a tree."""
    return pnp.sqrt(sum(pnp.vdot(x, x) for x in tree_util.tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """The gradients, scaled to the norm max_norm if their norm is larger."""
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(lambda g: pnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


class JoinPoint:
    """A leaf that holds a tree: the state of one array of the parameters."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


def unpack_optimizer_state(opt_state: Any) -> Any:
    """The state as a tree like the parameters, with a JoinPoint in place of each array. For writing it to a file."""
    return tree_util.tree_unflatten(opt_state.tree_def, [JoinPoint(state) for state in _states(opt_state)])


def pack_optimizer_state(marked_pytree: Any) -> Any:
    """The inverse of `unpack_optimizer_state`. TypeError for a leaf that is no JoinPoint."""
    points, tree = tree_util.tree_flatten(marked_pytree)
    for point in points:
        if not isinstance(point, JoinPoint):
            raise TypeError(f"pack_optimizer_state: each leaf must be a JoinPoint, got {type(point).__name__}")
    return _packed([point.subtree for point in points], tree)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
