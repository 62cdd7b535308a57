"""Programs through JAX on our backend, with the values of XLA's CPU."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas
from jax.experimental.control_deps import schedule
from jax.experimental.layout import Layout, with_layout_constraint
from jax.experimental.shard_alike import shard_alike

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 5)).astype(np.float32)
V = RNG.standard_normal(7).astype(np.float32)
SPD = (X.T @ X + 3 * np.eye(5)).astype(np.float32)
N = np.arange(-4, 4, dtype=np.int32)

PROGRAMS = {
    "arithmetic": (lambda x: jnp.tanh(x) * 2 + jnp.exp(-x), X),
    "matmul": (lambda x: x @ x.T, X),
    "grad": (lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2))(x), X),
    "sort": (lambda x: jnp.sort(x, axis=1), X),
    "sort keys": (lambda x: lax.sort((x[0], x[1]), num_keys=2), X),
    "argmax": (lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0)), X),
    "cumsum": (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x)), X),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(5), x), X),
    "while": (lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * c + 1, x), X),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), X),
    "switch": (lambda n: lax.switch(n[0] + 5, [lambda n: n, lambda n: n + 1, lambda n: -n], n), N),
    "scatter": (lambda x: x.at[jnp.array([0, 0, 9])].add(1.0, mode="drop"), X),
    "scatter by a function": (lambda x: x.at[jnp.array([0, 0, 2]), 1].apply(jnp.sin), X),
    "scatter windows": (lambda x: x.at[jnp.array([1, 1])].apply(lambda v: v * v + 1), X),
    "gather": (lambda x: x[jnp.array([3, -1]), :][:, ::2], X),
    "reduce": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + 2 * b, (0,)), X),
    "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 1), "SAME"), X),
    "convolution": (lambda x: lax.conv(x[None, None], jnp.ones((2, 1, 3, 3)), (1, 1), "SAME"), X),
    "fft": (lambda v: (jnp.fft.fft(v), jnp.fft.rfft(v), jnp.fft.irfft(jnp.fft.rfft(v[:6]))), V),
    "cholesky": (jnp.linalg.cholesky, SPD),
    "solve": (lambda a: (jnp.linalg.solve(a, a[0]), jnp.linalg.inv(a), jnp.linalg.det(a)), SPD),
    "eigh": (lambda a: jnp.linalg.eigh(a)[0], SPD),
    "svd": (lambda x: jnp.linalg.svd(x, compute_uv=False), X),
    "qr": (lambda x: jnp.abs(jnp.linalg.qr(x)[1]), X),
    "complex": (lambda x: jnp.exp(1j * x) / (1 + x), X),
    "random": (lambda n: jax.random.normal(jax.random.key(n[0]), (4, 3)), N),
    "rbg": (lambda n: jax.random.uniform(jax.random.key(n[0], impl="rbg"), (4, 3)), N),
    "permutation": (lambda n: jax.random.permutation(jax.random.key(3), n), N),
    "special": (lambda x: (jax.scipy.special.gammaln(x), jax.scipy.special.erfinv(x / 9)), X),
    "bfloat16": (lambda x: jnp.sum(x.astype(jnp.bfloat16) * 2, dtype=jnp.float32), X),
    "float8": (lambda x: (x.astype(jnp.float8_e4m3fn) + jnp.float8_e4m3fn(1)).astype(jnp.float32), X),
    "int4": (lambda n: (n.astype(jnp.int4) + jnp.int4(3)).astype(jnp.int32), N),
    "int4 min": (lambda n: jnp.min(n.astype(jnp.int4)).astype(jnp.int32), N),
    "top_k": (lambda x: lax.top_k(x, 3), X),
    "platform": (lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), X),
    "associative scan": (lambda x: lax.associative_scan(jnp.maximum, x), X),
    "vmap": (lambda x: jax.vmap(lambda v: jnp.convolve(v, v))(x), X),
    "no results": (lambda x: (), X),
    "an argument as result": (lambda x: (x, x, jnp.zeros(3)), X),
}


SMALL = ["int4", "uint4", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn"]


@pytest.mark.parametrize("dtype", SMALL)
def test_sorts_of_small_numbers(beside, dtype):
    x = np.array([[1, 4, 2, 1], [0.5, 2, 6, 1]]).astype(dtype)
    places = np.arange(8, dtype=np.int32).reshape(2, 4)
    beside(lambda x: lax.sort(x), x)
    beside(lambda x: (jnp.sort(x, axis=0), jnp.sort(x, axis=1, descending=True), jnp.argsort(x, axis=1)), x)
    beside(lambda x, n: lax.sort((x, n), num_keys=1), x, places)
    beside(lambda x, n: lax.sort((-n, x), num_keys=2), x, places)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_the_largest_of_small_numbers(beside, dtype):
    # XLA has no top_k of four bits.
    beside(lambda x: lax.top_k(x, 2), np.array([[1, 4, 2, 1], [0.5, 2, 6, 1]]).astype(dtype))


def test_the_largest_of_numbers_of_four_bits(device):
    with jax.default_device(device):
        values, places = jax.jit(lambda x: lax.top_k(x, 2))(np.array([-3, 7, -8, 2]).astype("int4"))
    np.testing.assert_array_equal(np.asarray(values).astype(int), [7, 2])
    np.testing.assert_array_equal(places, [1, 3])


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, beside):
    function, argument = PROGRAMS[name]
    beside(function, argument)


def test_numpy_functions_run_without_jit(device):
    with jax.default_device(device):
        x = jnp.asarray(X)
        assert x.devices() == {device}
        np.testing.assert_allclose(x.mean(0) + 1, X.mean(0) + 1, rtol=1e-5)
        np.testing.assert_allclose(jnp.linspace(0, 1, 5), np.linspace(0, 1, 5), rtol=1e-6)


def test_a_training_step(beside):
    def loss(params, x, y):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return jnp.mean((x @ w + b - y) ** 2)

    def step(params, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value

    sizes = [5, 16, 1]
    params = [
        (RNG.standard_normal((a, b)).astype(np.float32), np.zeros(b, np.float32)) for a, b in itertools.pairwise(sizes)
    ]
    beside(step, params, X, X[:, :1])


def test_64_bits(beside):
    with jax.enable_x64(True):
        beside(lambda x: (x @ x.T, jnp.cumsum(x), jnp.argsort(x[0])), X.astype(np.float64), rtol=1e-12)
        beside(lambda n: n * 2**40, N.astype(np.int64))


def test_an_unknown_operation_is_named_at_the_users_line(device):
    def strange(x):
        return jax.ffi.ffi_call("a_stranger", jax.ShapeDtypeStruct((3,), np.float32))(x)

    with (
        jax.default_device(device),
        pytest.raises(jax.errors.JaxRuntimeError, match=r"test_jax_programs.py:\d+.*a_stranger"),
    ):
        jax.jit(strange)(np.zeros(3, np.float32))


def test_bits_of_small_integers(beside):
    x = np.arange(-8, 8).reshape(4, 4)
    beside(lambda x: lax.bitcast_convert_type(x.astype(jnp.int4), np.uint16), x)
    beside(lambda x: lax.bitcast_convert_type(x.astype(np.uint16), jnp.uint4).astype(np.int32), x * 1237)


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2"])
def test_shifts_and_counts_of_small_integers(device, dtype):
    """XLA counts the signs of negative numbers more than once, and can't compute some of these."""
    width = int(dtype[-1])
    bits, places = np.meshgrid(np.arange(1 << width), np.arange(1 << width))
    signed = np.where(bits < 1 << width - 1, bits, bits - (1 << width))
    x, shift = (jnp.asarray(one.astype(np.uint8)).astype(f"uint{width}") for one in (bits, places))

    def f(x, shift):
        x, shift = (lax.bitcast_convert_type(one, dtype) for one in (x, shift))
        found = (
            lax.shift_right_logical(x, shift), lax.shift_right_arithmetic(x, shift), lax.shift_left(x, shift),
            lax.population_count(x), lax.clz(x),
        )  # fmt: skip
        return [lax.bitcast_convert_type(one, f"uint{width}").astype(np.int32) for one in found]

    with jax.default_device(device):
        found = jax.jit(f)(x, shift)
    counts = np.vectorize(lambda n: (int(n).bit_count(), width - int(n).bit_length()))(bits)
    wanted = (bits >> places, signed >> places, bits << places, *counts)
    for one, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, right & (1 << width) - 1)


@pytest.mark.parametrize("dtype", ["float8_e8m0fnu", "float8_e4m3fn", "float8_e5m2"])
def test_the_total_order_of_small_numbers(beside, dtype):
    x = np.array([0.25, 8, 1, 0.5, 2, 128, 4, 1]).astype(dtype)
    beside(lambda x: jnp.searchsorted(jnp.sort(x), x), x)
    beside(lambda x, y: [lax.lt_to_p.bind(x, y), lax.le_to_p.bind(x, y), lax.eq_to_p.bind(x, y)], x, x[::-1].copy())


def test_large_constants_of_bools(beside):
    masks = np.random.default_rng(0).random((8, 10, 6)) > 0.5, np.tri(20, dtype=bool)
    beside(lambda x: [jnp.where(mask, x, 0) for mask in masks], np.float32(2))


def test_tokens_are_arguments_and_results(device):
    with jax.default_device(device):
        token = lax.create_token(None)
        out, token = jax.jit(lambda x, token: (x + 1, lax.after_all(token)))(jnp.arange(3), token)
        np.testing.assert_array_equal(out, [1, 2, 3])


def test_branches_for_other_platforms_are_jaxs_error(device):
    with (
        jax.default_device(device),
        pytest.raises(NotImplementedError, match=r"not found for platform pycompiler.*tpu"),
    ):
        lax.platform_dependent(3.0, tpu=lambda x: x + 2.0)


ANY_COMPUTATION = {
    "branch": lambda a, b: lax.cond(a > b, lambda: a + b / 2, lambda: b),
    "shapes": lambda a, b: jnp.max(jnp.stack([a, b])),
    "product": lambda a, b: jnp.dot(a, b) + a,
}


@pytest.mark.parametrize("name", ANY_COMPUTATION)
def test_computations_of_any_operation(beside, name):
    def f(x):
        combine, zero = ANY_COMPUTATION[name], np.float32(0)
        return lax.reduce(x, zero, combine, (0,)), lax.reduce_window(x, zero, combine, (2, 2), (1, 2), "VALID")

    beside(f, X)


def test_diagonals_inside_of_contractions(beside):
    """The sum of a diagonal reads elements between those of a vector, and compares numbers of lanes in each of them."""

    def numbers(*shape):
        return jax.lax.complex(*RNG.standard_normal((2, *shape)).astype(np.float32))

    args = numbers(2, 3, 2), numbers(4, 3, 3), numbers(4, 4, 3), numbers(2, 2, 3)
    beside(lambda *args: jnp.einsum("fdf,cdd,ccd,afe->ae", *args), *args)


def test_windows_of_many_elements(beside):
    x = np.random.default_rng(3).standard_normal((40, 30)).astype(np.float32)

    def f(x):
        large = lax.reduce_window(x, np.float32(0), jnp.hypot, (30, 20), (3, 5), "SAME", window_dilation=(1, 2))
        return large, lax.reduce_window(x, np.float32(0), jnp.hypot, x.shape, (1, 1), "VALID")

    beside(f, x)


def test_scattered_elements_take_any_computation(beside):
    def function(v):
        return lax.cond(v > 0, lambda: v, lambda: jnp.cos(v))

    beside(lambda x: x.at[np.array([1, 2]), 1:3].apply(function), X)


def test_computations_of_reductions_call_functions(beside):
    def larger(a, b):
        return tuple([jnp.where(a[0] >= b[0], one, other) for one, other in zip(a, b, strict=True)])

    def f(x):
        numbered = (x, jnp.broadcast_to(jnp.arange(x.shape[-1]), x.shape))
        none = (-np.float32(np.inf), np.int32(-1))
        windows = lax.reduce_window(numbered, none, larger, (1, 2), (1, 2), "VALID")
        return windows, lax.reduce(numbered, none, larger, (0,))

    beside(f, X)


def test_kernels_of_pallas_are_interpreted_or_jaxs_error(device, beside):
    def double(x, out):
        out[...] = x[...] * 2

    def call(x, interpret=True):
        part = pallas.BlockSpec((1, 5), lambda i: (i, 0))
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pallas.pallas_call(double, shape, grid=6, in_specs=[part], out_specs=part, interpret=interpret)(x)

    beside(call, X)
    with jax.default_device(device), pytest.raises(ValueError, match="interpret mode"):
        call(X, interpret=False)


def test_an_order_of_operations_has_no_effect(beside):
    def f(x):
        sine, cosine = jnp.sin(x), jnp.cos(x)
        schedule([cosine, sine])
        return sine * cosine

    beside(f, X)


def test_a_value_that_nothing_uses_has_no_effect(beside):
    def f(x):
        lax.dce_sink(jnp.sin(x), prevent_mlir_dce=True)
        return x * 2

    beside(f, X)


def test_layouts_inside_of_a_program_have_no_effect(beside):
    beside(lambda x: with_layout_constraint(x * 2, Layout(major_to_minor=(1, 0))).sum(0) + 1, X)


def test_values_that_are_to_be_sharded_alike(beside):
    def f(x):
        one, other = shard_alike(x * 2, x.T.reshape(x.shape))
        return one + other

    beside(f, X)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.int32, np.uint8])
def test_draws_without_a_key(device, dtype):
    """`lax.rng_uniform`: numbers between the bounds, other ones in each run and in each place of the program."""

    @jax.jit
    def draw(low, high):
        def step(total, _):
            return total, lax.rng_uniform(low, high, (500,))

        return lax.rng_uniform(low, high, (20, 30)), lax.rng_uniform(low, high, (20, 30)), lax.scan(step, 0, None, 3)[1]

    low, high = dtype(3), dtype(7)
    with jax.default_device(device):
        draws = [*draw(low, high), *draw(low, high), lax.rng_uniform(low, high, (20, 30))]
        draws = [np.asarray(x) for x in draws]
    draws += [*draws.pop(2), *draws.pop(4)]
    flat = [x.astype(np.float64).ravel() for x in draws]
    assert all(x.dtype == dtype for x in draws)
    for number, one in enumerate(flat):
        assert ((one >= 3) & (one < 7)).all()
        middle = 5 if jnp.issubdtype(dtype, np.floating) else 4.5
        assert abs(one.mean() - middle) < 0.3
        assert not any(np.array_equal(one[:500], other[:500]) for other in flat[:number])
