"""`jit(f)` again finds the traces of f: programs write it in loops. As in JAX, the function's identity counts."""

import copy
import functools
import gc
import logging
import weakref

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def counted(scale=2.0):
    """A function that counts its traces, and the count."""
    traces = []

    def f(x, n=1):
        traces.append(n)
        return x * scale

    return f, traces


def test_a_function_that_is_jitted_in_a_loop_is_traced_once():
    f, traces = counted()
    x = pnp.ones(3)
    for _ in range(4):
        x = pc.jit(f)(x)
    np.testing.assert_array_equal(x, np.full(3, 16, np.float32))
    assert len(traces) == 1
    pc.jit(f)(pnp.ones(4))
    assert len(traces) == 2
    pc.vmap(lambda x: pc.jit(f)(x))(pnp.ones((2, 3)))
    pc.grad(lambda x: pc.jit(f)(x).sum())(pnp.ones(3))
    pc.jit(lambda x: pc.jit(f)(pc.jit(f)(x)))(pnp.ones(3))
    assert len(traces) == 2


def test_options_of_the_trace_have_traces_of_their_own():
    f, traces = counted()
    x = pnp.ones(5000)
    assert pc.jit(f)(x, 3).shape == (5000,)
    assert pc.jit(f, static_argnums=1)(x, 3).shape == (5000,)
    assert pc.jit(f, static_argnames="n")(x, n=3).shape == (5000,)
    assert not x.is_deleted()
    pc.jit(f, donate_argnums=0)(x, 3)
    assert x.is_deleted()
    assert len(traces) == 4
    y = pnp.ones(5000)
    pc.jit(f)(y, 3)
    assert not y.is_deleted()
    pc.jit(f, donate_argnums=0)(y, 3)
    assert y.is_deleted()
    assert len(traces) == 4


def test_functions_of_one_line_have_traces_of_their_own():
    results = [pc.jit(counted(scale)[0])(pnp.float32(1)).item() for scale in (2.0, 3.0)]
    assert results == [2, 3]


def test_a_wrapper_has_traces_of_its_own():
    """It has a copy of the attributes of the function."""
    f, _ = counted()
    assert pc.jit(f)(1.0) == 2

    @functools.wraps(f)
    def more(x):
        return f(x) + 1

    assert pc.jit(more)(1.0) == 3
    assert pc.jit(f)(1.0) == 2
    assert pc.jit(pc.jit(f))(1.0) == 2


def test_settings_count():
    f, traces = counted()
    assert pc.jit(f)(np.float64(1)).dtype == np.float32
    with pc.enable_x64(True):
        assert pc.jit(f)(np.float64(1)).dtype == np.float64
    assert len(traces) == 2


def test_traces_can_be_dropped():
    f, traces = counted()
    pc.jit(f)(1.0)
    pc.clear_caches()
    pc.jit(f)(1.0)
    assert len(traces) == 2
    pc.jit(f).clear_cache()
    pc.jit(f)(1.0)
    assert len(traces) == 3


def test_a_function_does_not_outlive_its_last_reference():
    f, _ = counted()
    pc.jit(f)(1.0)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_a_pickle_of_the_attributes_has_no_traces():
    f, traces = counted()
    pc.jit(f)(1.0)
    other, others = counted(3.0)
    other.__dict__.update(copy.deepcopy(f.__dict__))
    assert pc.jit(other)(1.0) == 3
    assert len(traces) == len(others) == 1


def test_the_line_about_cache_misses_says_so(caplog):
    f, _ = counted()
    pc.jit(f)(1.0)
    again = pc.jit(f)
    with pc.explain_cache_misses(True), caplog.at_level(logging.WARNING, "pycompiler.jit"):
        again(1.0)
        assert "an earlier jit of this function compiled it" in again.explain_last_miss()
        again(np.ones(2, np.float32))
        assert "the shape of 'x' was" in again.explain_last_miss()


@pytest.mark.parametrize("inner", [False, True])
def test_a_graph_over_an_outer_tracer_is_not_shared(inner):
    def slope(x):
        def f(y):
            return x * y

        def both(y):
            return pc.jit(f)(y) + pc.jit(f)(y)

        return (pc.jit(both) if inner else both)(2.0)

    assert pc.grad(slope)(3.0) == 4


def test_code_of_another_tuning_is_new():
    f, _ = counted()
    pc.jit(f)(1.0)
    with pc.tuning("measure"):
        tuned = pc.jit(f)
        assert tuned(1.0) == 2
        assert "an earlier jit" not in tuned.explain_last_miss()
        again = pc.jit(f)
        again(1.0)
        assert "an earlier jit of this function compiled it" in again.explain_last_miss()
