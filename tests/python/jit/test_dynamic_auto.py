"""jit(f, dynamic="auto"): the second size of a dimension makes it a symbol."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

RNG = np.random.default_rng(0)
W = RNG.standard_normal((3, 4)).astype(np.float32)


def rows(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def test_changing_batches_compile_twice(counts):
    @pc.jit(dynamic="auto")
    def layer(x, w):
        return pnp.tanh(x @ w)

    for size in (8, 5, 1, 50, 8, 2, *range(1, 51)):
        x = rows(size, 3)
        np.testing.assert_allclose(layer(x, W), np.tanh(x @ W), rtol=2e-5, atol=1e-6)
    assert counts.compiled == 2


def test_it_says_why():
    function = pc.jit(lambda x: x * 2, dynamic="auto")
    function(rows(8, 3))
    assert "compiled for the first time, for (f32[8,3])" in function.explain_last_miss()
    function(rows(5, 3))
    assert function.explain_last_miss() == (
        "<lambda>: compiled again, for every size of x_0, because axis 0 of 'x' was 8 and is 5"
    )
    function(rows(37, 3))
    assert function.explain_last_miss() == "<lambda>: bound to x_0=37: nothing was compiled"
    function(rows(37, 3).astype(np.int32))
    assert "the dtype of 'x' was float32 and is int32" in function.explain_last_miss()


def test_equal_dimensions_share_a_symbol(counts):
    function = pc.jit(lambda x, y: x @ y, dynamic="auto")
    for n, m in ((2, 3), (5, 3), (4, 3), (6, 7), (6, 8)):
        x, y = rows(4, n), rows(n, m)
        np.testing.assert_allclose(function(x, y), x @ y, rtol=1e-4, atol=1e-5)
    # Fixed; for any n; for any n and m.
    assert counts.compiled == 3


def test_a_square(counts):
    function = pc.jit(lambda x: x + x.T, dynamic="auto")
    for n in (3, 5, 4, 1):
        x = rows(n, n)
        np.testing.assert_array_equal(function(x), x + x.T)
    assert counts.compiled == 2


def test_dimensions_that_come_apart(counts):
    function = pc.jit(lambda x, y: (x * 2, y * 3), dynamic="auto")
    for n, m in ((2, 2), (3, 3), (4, 5), (5, 4), (6, 6)):
        x, y = function(rows(n), rows(m))
        assert (x.shape, y.shape) == ((n,), (m,))
    assert counts.compiled == 3


def test_size_zero_is_compiled_for_itself(counts):
    function = pc.jit(lambda x: x * 2, dynamic="auto")
    for n in (3, 0, 5, 0, 4, 1):
        assert function(rows(n)).shape == (n,)
    assert counts.compiled == 3


def test_broadcasting_of_one_is_not_guessed(counts):
    function = pc.jit(lambda x, y: x + y, dynamic="auto")
    for n, m in ((7, 7), (1, 9), (9, 9), (1, 4), (4, 1), (3, 3), (1, 1)):
        x, y = rows(n), rows(m)
        np.testing.assert_array_equal(function(x, y), x + y)
    # (7, 7), (n, n), and sizes that broadcast.
    assert counts.compiled == 5


def test_squeezing_ones():
    function = pc.jit(lambda x: x.squeeze() * 2, dynamic="auto")
    for n in (3, 4, 1, 5):
        assert function(rows(n, 2)).shape == rows(n, 2).squeeze().shape


def test_why_no_symbol_stands_for_a_size():
    function = pc.jit(
        lambda x: x.squeeze(),
        dynamic="auto",
    )
    for n in (4, 5, 1):
        function(rows(n))
    assert "InconclusiveDimensionError: whether x_0 == 1 depends on the size" in function.explain_last_miss()


def test_sizes_that_python_needs_are_compiled_for_themselves(counts):
    function = pc.jit(lambda x: sum(x[i] * i for i in range(x.shape[0])), dynamic="auto")
    for n in (3, 4, 2, 4, 3):
        x = rows(n)
        np.testing.assert_allclose(function(x), (x * np.arange(n)).sum(), rtol=1e-5, atol=1e-6)
    assert counts.compiled == 3
    assert "compiled for its own sizes, since no symbols can stand for them" in function.explain_last_miss()


def test_sizes_that_decide(counts):
    traces = []

    def function(x):
        traces.append(x.shape)
        return x * 2 if x.shape[0] > 1 else x * 3

    jitted = pc.jit(function, dynamic="auto")
    for n in (5, 4, 1, 6, 1):
        x = rows(n)
        np.testing.assert_array_equal(jitted(x), x * (2 if n > 1 else 3))
    # Fixed; tried for sizes from 1; for sizes from 2; for 1.
    assert len(traces) == 4
    assert counts.compiled == 3


def test_errors_of_the_function_are_its_own():
    function = pc.jit(lambda x: x @ W, dynamic="auto")
    function(rows(2, 3))
    with pytest.raises((TypeError, ValueError), match="4"):
        function(rows(2, 4))
    assert function(rows(5, 3)).shape == (5, 4)
    with pytest.raises((TypeError, ValueError), match="5"):
        function(rows(2, 5))


def test_trees_statics_and_keywords(counts):
    function = pc.jit(lambda tree, k=1: tree["a"] * k + tree["b"].sum(), static_argnames="k", dynamic="auto")
    for n in (3, 4, 5):
        for k in (1, 2):
            tree = {"a": rows(n), "b": rows(2, n)}
            np.testing.assert_allclose(function(tree, k=k), tree["a"] * k + tree["b"].sum(), rtol=1e-4, atol=1e-5)
    assert counts.compiled == 4


def test_clearing_begins_anew(counts):
    function = pc.jit(lambda x: x * 2, dynamic="auto")
    function(rows(3))
    function.clear_cache()
    function(rows(4))
    assert counts.compiled == 2
    assert "bound" not in function.explain_last_miss()


def test_grad_of_it(counts):
    step = pc.jit(pc.grad(lambda w, x: (pnp.tanh(x @ w) ** 2).mean()), dynamic="auto")
    plain = pc.grad(lambda w, x: (pnp.tanh(x @ w) ** 2).mean())
    for n in (4, 3, 1, 7):
        x = rows(n, 3)
        np.testing.assert_allclose(step(W, x), plain(W, x), rtol=1e-5, atol=1e-6)
