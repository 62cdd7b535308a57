"""jit(f, dynamic=...): one trace and one compilation serve all sizes, with NumPy's numbers."""

import functools
import gc
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

RNG = np.random.default_rng(0)
W = RNG.standard_normal((3, 4)).astype(np.float32)


def rows(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def layer(x, w):
    return pnp.tanh(x @ w), (x * 2 + 1).sum(0)


def check(function, x, w=W):
    hidden, total = function(x, w)
    np.testing.assert_allclose(hidden, np.tanh(x @ w), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(total, (x * 2 + 1).sum(0), rtol=2e-5, atol=1e-4)
    assert hidden.shape == (x.shape[0], w.shape[1])


def test_one_compilation_serves_fifty_sizes(counts):
    function = pc.jit(layer, dynamic={"x": ("batch", None)})
    for size in range(1, 51):
        check(function, rows(size, 3))
    assert (counts.traced, counts.compiled, counts.bound) == (1, 1, 50)
    # Calls with known sizes do not enter Python again.
    counts.clear()
    for size in (50, 1, 7):
        check(function, rows(size, 3))
    assert counts.bound == 0


def test_arguments_by_position_and_by_keyword(counts):
    function = pc.jit(layer, dynamic={0: ("batch", None)})
    check(function, rows(2, 3))
    hidden, _ = function(w=W, x=rows(5, 3))
    assert hidden.shape == (5, 4)
    hidden, _ = function(w=W, x=rows(6, 3))
    assert hidden.shape == (6, 4)
    # A call in another form has another structure, and is traced once.
    assert counts.compiled == 2
    last = pc.jit(lambda a, b: a + b.sum(), dynamic={-1: ("n",)})
    np.testing.assert_allclose(last(1.0, rows(5) * 0), 1)


def test_a_shared_name_is_one_size(counts):
    function = pc.jit(lambda x, y: x @ y, dynamic={"x": (None, "n"), "y": ("n", "m")})
    for n, m in ((2, 3), (5, 1), (1, 7), (9, 9)):
        x, y = rows(4, n), rows(n, m)
        np.testing.assert_allclose(function(x, y), x @ y, rtol=1e-4, atol=1e-5)
    assert counts.compiled == 1
    with pytest.raises(
        ValueError, match=r"n is 3 by axis 1 of argument 'x' of <lambda>, but 4 by axis 0 of argument 'y'"
    ):
        function(rows(4, 3), rows(4, 2))


def test_a_square_is_a_square(counts):
    function = pc.jit(lambda x: x + x.T, dynamic={"x": ("n", "n")})
    for n in (1, 2, 5):
        x = rows(n, n)
        np.testing.assert_array_equal(function(x), x + x.T)
    with pytest.raises(ValueError, match="n is 2 by axis 0 of argument 'x'"):
        function(rows(2, 3))
    assert counts.compiled == 1


def test_size_one_and_size_zero():
    function = pc.jit(lambda x: (x * 2, x.sum()), dynamic={"x": (pc.Dim("n", min=0),)})
    for n in (3, 1, 0, 2):
        doubled, total = function(rows(n))
        assert doubled.shape == (n,)
        np.testing.assert_allclose(total, doubled.sum() / 2, rtol=1e-5)


@pytest.mark.parametrize("shape", [(4, 1, 0), (0,), (0, 3), (2, 0, 3)])
def test_reshapes_without_elements(shape):
    # Of no elements any sizes are a view; those of the result are the ones that were asked for.
    function = pc.jit(pc.vmap(lambda x: pnp.sort(x.ravel())), dynamic={"x": ("n", *[None] * len(shape))})
    for n in (1, 4):
        assert function(np.zeros((n, *shape), np.float32)).shape == (n, 0)
    x = np.zeros((3, *shape), np.float32)
    other = pc.jit(
        lambda x: x.reshape(2, x.shape[0], 0, 5).transpose(1, 0, 3, 2).copy(),
        dynamic={"x": ("n", *[None] * len(shape))},
    )
    assert other(x).shape == (3, 2, 5, 0)


def test_a_one_is_no_broadcast():
    # A size of 1 is an ordinary size: it is not broadcast.
    function = pc.jit(lambda x, y: x + y, dynamic={"x": ("n",), "y": ("m",)})
    with pytest.raises((ValueError, TypeError), match=r"n.*m"):
        function(rows(1), rows(3))


def test_trees_and_their_prefixes(counts):
    def total(params, batch):
        return {"y": batch["x"] @ params["w"] + params["b"], "mask": batch["mask"] * 2}

    function = pc.jit(total, dynamic={"batch": {"x": ("n", None), "mask": ("n",)}, "params": None})
    every = pc.jit(lambda pair: [x * 2 for x in pair], dynamic={0: ("n",)})
    for n in (4, 1, 6):
        batch = {"x": rows(n, 3), "mask": rows(n)}
        params = {"w": W, "b": np.ones(4, np.float32)}
        out = function(params, batch)
        np.testing.assert_allclose(out["y"], batch["x"] @ W + 1, rtol=1e-5, atol=1e-6)
        assert out["mask"].shape == (n,)
        assert [x.shape for x in every([rows(n), rows(n)])] == [(n,), (n,)]
    assert counts.compiled == 2


def test_bounds_are_checked_at_the_call():
    size = pc.Dim("n", min=8, max=64, multiple_of=8)
    function = pc.jit(lambda x: x * 2, dynamic={"x": (size,)})
    for n in (8, 16, 64):
        assert function(rows(n)).shape == (n,)
    for n in (0, 4, 12, 72):
        with pytest.raises(
            ValueError, match=rf"axis 0 of argument 'x' of <lambda> is {n}, but n must be from 8 to 64, a multiple of 8"
        ):
            function(rows(n))
    # A failed trace is not reused.
    assert function(rows(24)).shape == (24,)


def test_a_name_means_the_dim_of_that_name():
    function = pc.jit(lambda x, y: x + y, dynamic={"x": (pc.Dim("n", max=4),), "y": ("n",)})
    assert function(rows(4), rows(4)).shape == (4,)
    with pytest.raises(ValueError, match="n must be from 1 to 4"):
        function(rows(5), rows(5))


def test_arithmetic_on_sizes_stays_symbolic(counts):
    function = pc.jit(
        lambda x: pnp.concatenate([x, x[: x.shape[0] - 1], pnp.zeros(x.shape[0] * 2 + 1, x.dtype)]),
        dynamic={"x": ("n",)},
    )
    for n in (1, 2, 5):
        x = rows(n)
        np.testing.assert_array_equal(function(x), np.concatenate([x, x[:-1], np.zeros(2 * n + 1, np.float32)]))
    assert counts.compiled == 1


def test_static_arguments_trace_again(counts):
    @functools.partial(pc.jit, static_argnames="times", dynamic={"x": ("n",)})
    def scaled(x, times):
        return x * times

    for times in (2, 3):
        for n in (1, 4):
            x = rows(n)
            np.testing.assert_allclose(scaled(x, times=times), x * times)
    assert counts.compiled == 2


def test_donated_memory_is_taken():
    function = pc.jit(lambda x, y: x + y, donate_argnums=0, dynamic={"x": ("n", None), "y": ("n", None)})
    for n in (3, 2000):
        x, y = rows(n, 4), rows(n, 4)
        given = pnp.array(x)
        place = given.unsafe_buffer_pointer() if hasattr(given, "unsafe_buffer_pointer") else None
        out = function(given, y)
        np.testing.assert_array_equal(out, x + y)
        assert given.is_deleted()
        if place is not None:
            assert out.unsafe_buffer_pointer() == place


def test_what_is_returned_as_it_is():
    function = pc.jit(lambda x, y: (x, x.reshape(-1), x[0], y, 3.0), dynamic={"x": ("n", None)})
    for n in (2, 700):
        x, y = rows(n, 4), rows(2)
        same, flat, first, other, constant = function(x, y)
        np.testing.assert_array_equal(same, x)
        np.testing.assert_array_equal(flat, x.reshape(-1))
        np.testing.assert_array_equal(first, x[0])
        np.testing.assert_array_equal(other, y)
        assert constant == 3


def test_an_argument_that_only_gives_its_size():
    function = pc.jit(lambda x, y: pnp.zeros(x.shape) + y, dynamic={"x": ("n",)})
    for n in (1, 5):
        assert function(rows(n), 2.0).shape == (n,)


def test_inside_of_other_functions_it_has_their_sizes(counts):
    inner = pc.jit(lambda x: x * x.shape[0], dynamic={"x": ("n",)})
    outer = pc.jit(lambda x: inner(x) + 1)
    for n in (2, 3):
        np.testing.assert_allclose(outer(np.ones(n, np.float32)), n + 1)
    symbolic = pc.jit(lambda x: inner(x) + 1, dynamic={"x": ("m",)})
    for n in (2, 3):
        np.testing.assert_allclose(symbolic(np.ones(n, np.float32)), n + 1)
    with pytest.raises(ValueError, match="n must be 1 or more"):
        outer(np.ones(0, np.float32))


def test_grad_and_vmap():
    function = pc.jit(lambda x, w: (pnp.tanh(x @ w) ** 2).mean(), dynamic={"x": ("n", None)})
    plain = lambda x, w: (pnp.tanh(x @ w) ** 2).mean()  # noqa: E731
    step = pc.jit(pc.grad(plain, argnums=1), dynamic={"x": ("n", None)})
    for n in (1, 4):
        x = rows(n, 3)
        expected = pc.grad(plain, argnums=1)(x, W)
        np.testing.assert_allclose(pc.grad(function, argnums=1)(x, W), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(step(x, W), expected, rtol=1e-5, atol=1e-6)
    doubled = pc.jit(lambda x: x * 2, dynamic={"x": ("n",)})
    x = rows(4, 5)
    np.testing.assert_array_equal(pc.vmap(doubled)(x), x * 2)
    mapped = pc.jit(pc.vmap(lambda x: x.sum() * x), dynamic={0: ("b", "n")})
    np.testing.assert_allclose(mapped(x), x * x.sum(1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_threads_with_different_sizes(counts):
    function = pc.jit(layer, dynamic={"x": ("batch", None)})
    failures = []

    def call(first):
        try:
            for size in range(first, 60, 3):
                check(function, rows_of(size))
        except Exception as error:
            failures.append(error)

    def rows_of(size):
        return np.random.default_rng(size).standard_normal((size, 3)).astype(np.float32)

    threads = [threading.Thread(target=call, args=(1 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert (counts.traced, counts.compiled) == (1, 1)


def test_clear_caches_forgets_it(counts):
    function = pc.jit(layer, dynamic={"x": ("batch", None)})
    check(function, rows(2, 3))
    pc.clear_caches()
    check(function, rows(3, 3))
    assert counts.traced == 2
    function.clear_cache()
    gc.collect()
    check(function, rows(3, 3))
    assert counts.traced == 3


def test_disable_jit_calls_the_function():
    seen = []
    function = pc.jit(lambda x: seen.append(x.shape) or x * 2, dynamic={"x": ("n",)})
    with pc.disable_jit():
        np.testing.assert_array_equal(function(np.ones(3, np.float32)), 2)
    assert seen == [(3,)]


def test_checks_of_nans_see_each_size():
    function = pc.jit(lambda x: pnp.log(x), dynamic={"x": ("n",)})
    with pc.debug_nans(True):
        assert function(np.ones(3, np.float32)).shape == (3,)
        with pytest.raises(FloatingPointError, match="nan"):
            function(np.full(4, -1, np.float32))


def test_it_is_said_what_was_done(caplog):
    function = pc.jit(layer, dynamic={"x": ("batch", None)})
    with pc.log_compiles(True):
        function(rows(2, 3), W)
        function(rows(37, 3), W)
    assert "Bound layer to batch=37" in caplog.text
    assert function.explain_last_miss() == "layer: bound to batch=37: nothing was compiled"
    function(rows(37, 3), W[:, :2])
    assert "compiled for (f32[batch,3], f32[3,2]), for every size of batch" in function.explain_last_miss()


def test_scalars_and_numpy_arguments():
    function = pc.jit(lambda x, s: x * s, dynamic={"x": ("n",)})
    np.testing.assert_array_equal(function(np.ones(3), 2), np.full(3, 2.0))
    np.testing.assert_array_equal(function(np.ones(4, np.int32), 2), np.full(4, 2))


def test_methods():
    class Model:
        @functools.partial(pc.jit, static_argnums=0, dynamic={"x": ("n",)})
        def call(self, x):
            return x + 1

    model = Model()
    assert model.call(rows(3)).shape == (3,)
    assert model.call(rows(4)).shape == (4,)


def test_callbacks_are_told_the_shapes():
    seen = []

    def host(x):
        seen.append(x.shape)
        return np.asarray(x) * 2

    function = pc.jit(
        lambda x: pc.pure_callback(host, pc.ShapeDtypeStruct(x.shape, x.dtype), x) + 1, dynamic={"x": ("n",)}
    )
    for n in (2, 5):
        np.testing.assert_array_equal(function(np.ones(n, np.float32)), np.full(n, 3.0))
    assert seen == [(2,), (5,)]


def test_prints_come_in_order(capfd):
    @pc.jit(dynamic={"x": ("n",)})
    def told(x):
        pc.debug.print("{s} of {n}", s=x.sum(), n=x.shape[0], ordered=True)
        return x

    for n in (2, 3, 1):
        told(np.ones(n, np.float32))
    pc.effects_barrier()
    assert capfd.readouterr().out == "2.0 of 2\n3.0 of 3\n1.0 of 1\n"


def test_loops():
    function = pc.jit(
        lambda x: (pc.lax.fori_loop(0, 3, lambda i, c: c * 2 + i, x), pc.lax.scan(lambda c, a: (c + a, c * a), 0.0, x)),
        dynamic={"x": ("n",)},
    )
    for n in (1, 4, 9):
        x = rows(n)
        doubled, (total, steps) = function(x)
        np.testing.assert_allclose(doubled, x * 8 + 4, rtol=1e-5)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(steps, (np.cumsum(x) - x) * x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_long_bodies_that_are_summed(dtype):
    # More operations than a schedule jams: the compiler divided by zero.
    x = pnp.arange(60).reshape(2, 5, 3, 2).astype(dtype)
    members = pc.jit(
        pc.vmap(lambda x: pnp.sum(pnp.searchsorted(pnp.sort(pnp.ravel(x)), x), axis=0)),
        dynamic={0: ("members", None, None, None, None)},
    )
    for count in (3, 1):
        got = members(pnp.stack([x] * count))
        np.testing.assert_array_equal(got, np.stack([np.arange(60).reshape(2, 5, 3, 2).sum(0)] * count))
