"""The optimizers of example_libraries against jax's, step by step."""

import inspect

import jax
import numpy as np
import pytest
from jax.example_libraries import optimizers as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.example_libraries import optimizers

rng = np.random.default_rng(0)
PARAMS = {
    "w": rng.normal(size=(2, 3)).astype(np.float32),
    "b": (rng.normal(size=3).astype(np.float32), np.float32(0.5)),
}
OPTIMIZERS = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.1,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}
SCHEDULES = {
    "constant": (0.5,),
    "exponential_decay": (0.5, 10, 0.9),
    "inverse_time_decay": (0.5, 10, 2.0, True),
    "polynomial_decay": (0.5, 10, 0.1, 2.0),
    "piecewise_constant": ([3, 7], [0.5, 0.2, 0.1]),
}


def slopes(tree, params, i):
    return tree.map(lambda p: 2 * p + 0.1 * i, params)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name):
    ours, other = (getattr(module, name)(*OPTIMIZERS[name]) for module in (optimizers, theirs))
    state, want = ours.init_fn(PARAMS), other.init_fn(jax.tree.map(jax.numpy.asarray, PARAMS))
    if name == "sm3":
        state = ours.init_fn(pc.tree.map(pnp.asarray, PARAMS))
    update = pc.jit(ours.update_fn) if name != "sm3" else ours.update_fn  # a shape is part of its state
    for i in range(4):
        state = update(i, slopes(pc.tree, ours.params_fn(state), i), state)
        want = other.update_fn(i, slopes(jax.tree, other.params_fn(want), i), want)
    for mine, one in zip(pc.tree.leaves(state), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(mine, one, rtol=1e-5, atol=3e-6)
    for mine, one in zip(pc.tree.leaves(ours.params_fn(state)), jax.tree.leaves(other.params_fn(want)), strict=True):
        np.testing.assert_allclose(mine, one, rtol=1e-5, atol=3e-6)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    ours, other = (getattr(module, name)(*SCHEDULES[name]) for module in (optimizers, theirs))
    for i in (0, 3, 4, 8, 20):
        np.testing.assert_allclose(ours(i), other(i), rtol=1e-6)
        np.testing.assert_allclose(pc.jit(ours)(i), other(i), rtol=1e-6)
    assert optimizers.make_schedule(ours) is ours


def test_states_as_trees():
    triple = optimizers.adam(0.1)
    state = triple.init_fn(PARAMS)
    marked = optimizers.unpack_optimizer_state(state)
    assert isinstance(marked["w"], optimizers.JoinPoint)
    assert len(list(marked["w"])) == 1
    again = optimizers.pack_optimizer_state(marked)
    assert isinstance(again, optimizers.OptimizerState)
    assert pc.tree.structure(again) == pc.tree.structure(state)
    np.testing.assert_array_equal(triple.params_fn(again)["w"], PARAMS["w"])
    with pytest.raises(TypeError, match="pack_optimizer_state: each leaf must be a JoinPoint, got int"):
        optimizers.pack_optimizer_state({"a": 1})


def test_norms():
    norm = np.sqrt(sum(np.sum(x.astype(float) ** 2) for x in pc.tree.leaves(PARAMS)))
    np.testing.assert_allclose(optimizers.l2_norm(PARAMS), norm, rtol=1e-6)
    np.testing.assert_allclose(optimizers.l2_norm(optimizers.clip_grads(PARAMS, 0.5)), 0.5, rtol=1e-6)
    np.testing.assert_array_equal(optimizers.clip_grads(PARAMS, 1e9)["w"], PARAMS["w"])


def test_an_own_optimizer():
    @optimizers.optimizer
    def halving():
        return lambda x: (x, pnp.zeros(())), lambda i, g, state: (state[0] / 2, state[1] + 1), lambda state: state[0]

    triple = halving()
    assert isinstance(triple, optimizers.Optimizer)
    state = triple.update_fn(0, PARAMS, triple.init_fn(PARAMS))
    np.testing.assert_allclose(triple.params_fn(state)["w"], PARAMS["w"] / 2)
    with pytest.raises(TypeError, match="the gradients must have the structure of the parameters"):
        triple.update_fn(1, PARAMS["b"], state)

    @optimizers.optimizer
    def growing():
        return lambda x: (x,), lambda i, g, state: (*state, g), lambda state: state[0]

    with pytest.raises(TypeError, match="the structure of a state must stay"):
        growing().update_fn(0, PARAMS, growing().init_fn(PARAMS))


def test_arguments():
    for name in [*OPTIMIZERS, *SCHEDULES, "clip_grads", "l2_norm", "make_schedule"]:
        ours, other = (inspect.signature(getattr(module, name)).parameters.values() for module in (optimizers, theirs))
        assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in other]
    with pytest.raises(TypeError, match="takes a number or a function of the step"):
        optimizers.sgd(np.ones(3))
    with pytest.raises(ValueError, match="piecewise_constant: 2 boundaries need one more value, got 2"):
        optimizers.piecewise_constant([1, 2], [1, 2])
