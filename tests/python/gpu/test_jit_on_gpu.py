"""`jit` on a GPU: compilation for it, the device of runs, loops and conditionals, donation, the disk cache."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

GPU = True

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def gpu():
    return pc.devices("gpu")[0]


def cpu():
    return pc.devices("cpu")[0]


def near(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-6, atol=1e-6)


def test_a_call_runs_on_the_default_device():
    result = pc.jit(lambda x: pnp.sin(x) * 2 + x)(X)
    assert result.device is gpu()
    near(result, np.sin(X) * 2 + X)


def test_arrays_are_made_and_computed_there_without_jit():
    x = pnp.arange(10.0)
    assert x.device is gpu()
    y = (x * x)[2:5] + pnp.ones(3)
    assert y.device is gpu()
    near(y, np.arange(10.0)[2:5] ** 2 + 1)
    assert float(y.sum()) == 4 + 9 + 16 + 3


def test_one_function_runs_on_both():
    f = pc.jit(lambda x: (x @ x.T).sum(axis=0))
    here, there = f(pc.device_put(X, cpu())), f(pc.device_put(X, gpu()))
    assert here.device is cpu()
    assert there.device is gpu()
    near(here, (X @ X.T).sum(axis=0))
    near(there, (X @ X.T).sum(axis=0))
    again = f(pc.device_put(X + 1, cpu()))
    assert again.device is cpu()
    near(again, ((X + 1) @ (X + 1).T).sum(axis=0))


@pytest.mark.parametrize("f", ["nonzero", "argwhere", "flatnonzero", "where"])
def test_positions_are_on_the_device_of_their_array(f):
    wanted = np.argwhere(X > 1) if f == "argwhere" else getattr(np, f)(X > 1)
    for device in (cpu(), gpu()):
        found = getattr(pnp, f)(pc.device_put(X, device) > 1)
        for each, known in zip(pc.tree.leaves(found), wanted if isinstance(wanted, tuple) else [wanted], strict=True):
            assert each.device is device
            np.testing.assert_array_equal(each, known)


def test_the_line_about_cache_misses_is_of_this_device():
    """Code for another device is no code that an earlier jit compiled here."""

    def f(x):
        return x * 2

    def last_miss(device):
        function = pc.jit(f)
        near(function(pc.device_put(X, device)), X * 2)
        return function.explain_last_miss()

    for device in (gpu(), cpu()):
        assert "an earlier jit" not in last_miss(device)
        assert "an earlier jit of this function compiled it for (f32[3,4]): nothing was compiled" in last_miss(device)


def test_operands_on_both_devices_are_an_error():
    with pytest.raises(ValueError, match="committed to"):
        pnp.add(pc.device_put(X, cpu()), pc.device_put(X, gpu()))


def test_a_gradient():
    def loss(w, x):
        return (pnp.tanh(x @ w) ** 2).mean()

    w = np.linspace(0, 1, 8, dtype=np.float32).reshape(4, 2)
    on_gpu = pc.jit(pc.grad(loss))(w, X)
    assert on_gpu.device is gpu()
    on_cpu = pc.jit(pc.grad(loss))(pc.device_put(w, cpu()), X)
    assert on_cpu.device is cpu()
    near(on_gpu, np.asarray(on_cpu))


def test_a_loop_of_known_length():
    def body(i, x):
        return x.at[i].set(x[i] * 2 + i)

    result = pc.jit(lambda x: lax.fori_loop(0, 5, body, x))(pnp.ones(8))
    want = np.ones(8)
    for i in range(5):
        want[i] = want[i] * 2 + i
    near(result, want)


def test_a_loop_on_large_arrays_is_the_hosts():
    big = np.ones((100, 30), np.float32)
    result = pc.jit(lambda x: lax.fori_loop(0, 4, lambda i, x: x + i, x))(big)
    near(result, big + 6)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_loop_until_a_condition_holds(size):
    x = np.full(size, 100.0, np.float32)

    def halve(x):
        return lax.while_loop(lambda x: x.max() > 1, lambda x: x / 2, x)

    near(pc.jit(halve)(x), x / 128)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("flag", [True, False])
def test_a_conditional(size, flag):
    x = np.linspace(0, 1, size, dtype=np.float32)
    f = pc.jit(lambda flag, x: lax.cond(flag, lambda x: x + 1, lambda x: x * 3, x))
    near(f(flag, x), x + 1 if flag else x * 3)


def test_a_switch():
    f = pc.jit(lambda i, x: lax.switch(i, [lambda x: x, lambda x: -x, lambda x: x * x], x))
    for i, want in enumerate((X, -X, X * X)):
        near(f(i, X), want)


def test_a_scan():
    def step(carry, x):
        carry = carry * 0.5 + x
        return carry, carry.sum()

    final, sums = pc.jit(lambda c, xs: lax.scan(step, c, xs))(np.zeros(4, np.float32), X)
    carry, want = np.zeros(4, np.float32), []
    for row in X:
        carry = carry * 0.5 + row
        want.append(carry.sum())
    near(final, carry)
    near(sums, want)


def test_slices_by_computed_indices():
    f = pc.jit(lambda x, i: lax.dynamic_slice(x, (i, i + 1), (1, 2)) * 2)
    near(f(X, 1), X[1:2, 2:4] * 2)
    g = pc.jit(lambda x, i: lax.dynamic_update_slice(x, x[:1] * 10, (i, 0)))
    want = X.copy()
    want[2] = X[0] * 10
    near(g(X, 2), want)


def test_the_index_is_kept_where_it_is_overwritten():
    def f(x):
        i = x[0]
        return x.at[i].set(7).at[0].set(i * 2)

    start = np.array([2, 1, 5], np.int32)
    np.testing.assert_array_equal(pc.jit(f, donate_argnums=0)(pnp.array(start)), [4, 1, 7])


def test_constants_and_results_that_are_arguments():
    table = np.arange(6, dtype=np.int32)
    f = pc.jit(lambda x: (x, table * 2, pnp.take(pnp.array(table), x)))
    x, doubled, taken = f(np.array([3, 1], np.int32))
    np.testing.assert_array_equal(x, [3, 1])
    np.testing.assert_array_equal(doubled, table * 2)
    np.testing.assert_array_equal(taken, [3, 1])


def test_donation():
    f = pc.jit(lambda x: x + 1, donate_argnums=0)
    x = pnp.ones((64, 64))
    y = f(x)
    assert x.is_deleted()
    near(y, np.full((64, 64), 2.0))


def test_views_of_arguments():
    f = pc.jit(lambda x: (x[1:], x[0]))
    rest, first = f(pnp.array(X))
    near(rest, X[1:])
    near(first, X[0])


def test_empty_arrays():
    assert pc.jit(lambda x: x * 2)(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert float(pc.jit(pnp.sum)(np.zeros((0, 3), np.float32))) == 0


def test_random_numbers_are_those_of_the_cpu():
    key = pc.random.key(3)
    on_gpu = pc.random.normal(key, (50,))
    with pc.default_device(cpu()):
        on_cpu = pc.random.normal(pc.random.key(3), (50,))
    assert on_gpu.device is gpu()
    assert on_cpu.device is cpu()
    near(on_gpu, np.asarray(on_cpu))


def test_a_callback():
    seen = []

    def look(x):
        seen.append(np.asarray(x).copy())

    def f(x):
        pc.debug.callback(look, x * 2)
        return x + 1

    result = pc.jit(f)(X)
    near(result, X + 1)
    pc.effects_barrier()
    near(seen[0], X * 2)


def test_a_pure_callback():
    def twice(x):
        return np.asarray(x) * 2

    f = pc.jit(lambda x: pc.pure_callback(twice, pc.ShapeDtypeStruct(x.shape, x.dtype), x + 1) - 1)
    near(f(X), (X + 1) * 2 - 1)


def test_what_has_no_kernel_is_an_error_that_says_so():
    with pytest.raises(Exception, match=r"has no kernel for a GPU yet.*device_put"):
        pc.scipy.linalg.schur(pnp.eye(3))


def test_compiled_ahead_of_time():
    compiled = pc.jit(lambda x: pnp.exp(x).sum(axis=1)).lower(X).compile()
    result = compiled(X)
    assert result.device is gpu()
    near(result, np.exp(X).sum(axis=1))


def test_code_comes_from_the_disk_cache():
    def make():
        return pc.jit(lambda x: pnp.cos(x) * 17 - x)

    first = make().lower(X).compile()
    again = make().lower(X).compile()
    assert again._compilation.from_disk
    near(again(X), np.asarray(first(X)))


@pytest.mark.parametrize("flag", [True, False])
def test_a_conditional_that_sorts(flag):
    x = np.cos(np.arange(1500, dtype=np.float32))
    f = pc.jit(lambda flag, x: lax.cond(flag, pnp.sort, lambda x: pnp.cumsum(x), x))
    near(f(flag, x), np.sort(x) if flag else np.asarray(pc.jit(pnp.cumsum)(pc.device_put(x, cpu()))))


def test_a_loop_that_sorts_until_a_condition_holds():
    x = np.cos(np.arange(1200, dtype=np.float32)) * 8

    def body(x):
        return pnp.sort(x) * 0.5

    near(pc.jit(lambda x: lax.while_loop(lambda x: x.max() > 1, body, x))(x), np.sort(x) / 8)


def test_a_loop_whose_end_the_gpu_computes_is_a_remark():
    def until_great(x):
        return lax.while_loop(lambda s: s[1].sum() < 100, lambda s: (s[0] + 1, s[1] * 1.5 + 1), (0, x))

    before = pc.debug.remark_counts()["host-waits"]
    np.asarray(pc.jit(lambda x: lax.fori_loop(0, 7, lambda i, v: v * 1.5 + 1, x))(np.zeros(10, np.float32)))
    assert pc.debug.remark_counts()["host-waits"] == before
    count, last = pc.jit(until_great)(np.zeros(10, np.float32))  # the sums: 10, 25, 47.5, 81.25, 131.875
    assert (int(count), float(last[0])) == (5, 13.1875)
    assert pc.debug.remark_counts()["host-waits"] > before
    told = [remark for remark in pc.debug.remarks() if remark.kind == "host-waits"]
    assert "depends on a value that the device computed" in told[-1].text
    assert "test_jit_on_gpu.py" in told[-1].place


def test_scalars_of_16_bytes_are_passed_to_kernels():
    """A loop of the host hands its complex128 carry to a kernel that stores it."""
    with pc.enable_x64(True):
        xs = np.array([1 + 2j, 3 + 4j, 5 + 6j, 7 + 8j])
        product = pc.jit(lambda xs: lax.scan(lambda c, x: (c * x, None), xs[0], xs[1:])[0])(xs)
        np.testing.assert_allclose(product, np.prod(xs), rtol=1e-14)
        total, last = pc.jit(lambda xs: lax.fori_loop(0, 3, lambda i, c: (c[0] + xs[i], xs[i]), (xs[0], xs[0])))(xs)
        np.testing.assert_allclose(total, xs[0] + xs[:3].sum(), rtol=1e-14)
        np.testing.assert_array_equal(last, xs[2])


def test_loops_of_unknown_length_that_give_back_what_they_got():
    """They may not end, so they stay, and count the operations of a run on the host."""
    empty = np.zeros((0, 3), np.float32)
    turned = pc.jit(lambda x: lax.fori_loop(0, 3 + x.sum().astype("int32"), lambda i, c: c, x))(empty)
    assert turned.shape == (0, 3)
    count = pc.jit(lambda n, x: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1]), (0, x)))(5, empty)[0]
    assert int(count) == 5
