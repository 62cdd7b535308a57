"""Own kernels as blocks of threads, on the CPU, against NumPy."""

import re

import ml_dtypes
import numpy as np
import pytest
from emulation import OnKernels
from test_own_kernels_ptx import examples

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler.core.config.config import enable_x64

S = pc.ShapeDtypeStruct
Block = kernel.BlockSpec
RNG = np.random.default_rng(5)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def launches(text):
    return re.findall(r"gpu\.launch_func\s+@\w+::@(\w+)", text)


def on_blocks(function, *args, others=("fill",)):
    """The results of a function whose kernel is one launch, besides `others`."""
    program = OnKernels(function, *args)
    names = [name for name in launches(program.kernels) if name.split("_")[0] not in others]
    assert [name.split("_")[0] for name in names] == ["kernel"], launches(program.kernels)
    return program.run()


def along_rows(body, x, rows):
    """A kernel with a program for each `rows` rows of one input and one output."""
    spec = Block((rows, x.shape[1]), lambda i: (i, 0))
    return kernel.kernel_call(
        body, S(x.shape, x.dtype), grid=(-(-x.shape[0] // rows),), in_specs=[spec], out_specs=spec
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int8, np.bool_])
def test_elementwise(dtype):
    x = np.arange(24 * 7).reshape(24, 7).astype(dtype)

    def body(x, o):
        o[...] = pnp.where(x[...] == 3, x[...], x[...] + x[...])

    (got,) = on_blocks(along_rows(body, x, 8), x)
    np.testing.assert_array_equal(got, np.where(x == x.dtype.type(3), x, x + x))


def softmax(x, o):
    e = pnp.exp(x[...] - x[...].max(1, keepdims=True))
    o[...] = e / e.sum(1, keepdims=True)


@pytest.mark.parametrize(("rows", "columns", "block"), [(12, 40, 4), (4, 700, 1), (600, 3, 300), (8, 9000, 4)])
def test_softmax(rows, columns, block):
    x = normal(rows, columns)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    (got,) = on_blocks(along_rows(softmax, x, block), x)
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=2e-5)


def test_several_outputs_of_reductions():
    x = normal(16, 300)

    def body(x, least, where, total):
        least[...] = x[...].min(1)
        where[...] = pnp.argmin(x[...], 1)
        total[...] = x[...].sum(0)

    specs = [Block((4,), lambda i: i), Block((4,), lambda i: i), Block((None, 300), lambda i: (i, 0))]
    outs = (S((16,), "float32"), S((16,), "int32"), S((4, 300), "float32"))
    call = kernel.kernel_call(body, outs, grid=(4,), in_specs=[Block((4, 300), lambda i: (i, 0))], out_specs=specs)
    least, where, total = on_blocks(call, x)
    np.testing.assert_array_equal(least, x.min(1))
    np.testing.assert_array_equal(where, x.argmin(1))
    np.testing.assert_allclose(total, x.reshape(4, 4, 300).sum(1), rtol=1e-5, atol=1e-5)


def test_blocks_beyond_the_edge():
    x = normal(10, 6)
    (got,) = on_blocks(along_rows(softmax, x, 4), x, others=("fill", "map", "copy"))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_a_matmul_with_a_sequential_dimension():
    a, b = normal(64, 96), normal(96, 128)

    def body(a, b, o):
        @kernel.when(kernel.program_id(2) == 0)
        def _():
            o[...] = pnp.zeros(o.shape, o.dtype)

        o[...] += kernel.dot(a[...], b[...])

    call = kernel.kernel_call(
        body,
        S((64, 128), "float32"),
        grid=(2, 2, 3),
        in_specs=[Block((32, 32), lambda i, j, k: (i, k)), Block((32, 64), lambda i, j, k: (k, j))],
        out_specs=Block((32, 64), lambda i, j, k: (i, j)),
    )
    (got,) = on_blocks(call, a, b)
    np.testing.assert_allclose(got, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_scratch_memory():
    x = normal(8, 6, 16)

    def body(x, o, running):
        running[...] = running[...] * 0.5 + x[...]
        o[...] = running[...] + 1

    call = kernel.kernel_call(
        body,
        S(x.shape, "float32"),
        grid=(8, 6),
        in_specs=[Block((None, None, 16), lambda i, j: (i, j, 0))],
        out_specs=Block((None, None, 16), lambda i, j: (i, j, 0)),
        scratch_shapes=[S((16,), "float32")],
        dimension_semantics=("parallel", "arbitrary"),
    )
    (got,) = on_blocks(call, x)
    running, expected = np.zeros((8, 16), np.float32), np.empty_like(x)
    for j in range(6):
        running = running * np.float32(0.5) + x[:, j]
        expected[:, j] = running + 1
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_loops_and_branches_of_data():
    x = np.arange(1, 13, dtype=np.float32).reshape(6, 2)

    def body(x, o):
        value = lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x[...])
        value = lax.fori_loop(0, 3, lambda i, v: v + i, value)
        o[...] = lax.cond(kernel.program_id(0) % 2 == 0, lambda v: v, lambda v: -v, value)

    (got,) = on_blocks(along_rows(body, x, 1), x)
    expected = x.copy()
    for i, row in enumerate(expected):
        while row.sum() < 100:
            row *= 2
        row += 3
        row *= 1 - 2 * (i % 2)
    np.testing.assert_array_equal(got, expected)


def test_an_aliased_input():
    x, y = normal(16, 8), normal(16, 8)

    def body(x, y, o):
        o[...] = o[...] * 2 + x[...] + y[...]

    spec = Block((4, 8), lambda i: (i, 0))
    call = kernel.kernel_call(
        body, S(x.shape, "float32"), grid=(4,), in_specs=[spec] * 2, out_specs=spec, input_output_aliases={0: 0}
    )
    (got,) = on_blocks(call, x, y, others=("fill", "copy"))
    np.testing.assert_allclose(got, x * 3 + y, rtol=1e-6)


def test_temporaries_beyond_shared_memory():
    """A part of one buffer for each block; the sum of columns reads the whole temporary."""
    x = normal(8, 16000)

    def body(x, o):
        e = pnp.exp(x[...])
        o[...] = e[:, ::-1] + e.sum(0)

    (got,) = on_blocks(along_rows(body, x, 2), x)
    e = np.exp(x)
    expected = e[:, ::-1] + np.repeat(e.reshape(4, 2, -1).sum(1), 2, axis=0)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_more_programs_than_blocks():
    x = normal(3000, 1, 12000)[:, 0, :].astype(ml_dtypes.bfloat16)[:, :9]

    def body(x, o):
        o[...] = x[...] * kernel.program_id(0).astype(x.dtype)

    (got,) = on_blocks(along_rows(body, x, 1), x)
    np.testing.assert_array_equal(got, x * np.arange(3000).astype(x.dtype)[:, None])


def attention(q, k, v, o, step=32):
    def add(j, carry):
        top, total, out = carry
        s = kernel.dot(q[...], k[kernel.ds(j * step, step)], trans_b=True)
        now = pnp.maximum(top, s.max(1))
        p, scale = pnp.exp(s - now[:, None]), pnp.exp(top - now)
        return now, total * scale + p.sum(1), out * scale[:, None] + kernel.dot(p, v[kernel.ds(j * step, step)])

    rows, depth = q.shape
    start = (pnp.full(rows, -np.inf, q.dtype), pnp.zeros(rows, q.dtype), pnp.zeros((rows, depth), q.dtype))
    _, total, out = lax.fori_loop(0, k.shape[0] // step, add, start)
    o[...] = out / total[:, None]


def test_attention():
    q, k, v = normal(2, 64, 16), normal(2, 96, 16), normal(2, 96, 16)
    rows, keys = Block((None, 32, 16), lambda h, i: (h, i, 0)), Block((None, 96, 16), lambda h, i: (h, 0, 0))
    call = kernel.kernel_call(
        attention, S(q.shape, "float32"), grid=(2, 2), in_specs=[rows, keys, keys], out_specs=rows
    )
    (got,) = on_blocks(call, q, k, v)
    scores = np.exp(q.astype(np.float64) @ k.transpose(0, 2, 1))
    np.testing.assert_allclose(got, scores / scores.sum(-1, keepdims=True) @ v, rtol=1e-4, atol=1e-4)


def test_a_grid_without_parallel_dimensions():
    """The host launches the operations of each program."""
    x = normal(6, 64)

    def body(x, o):
        o[...] += x[...] * 2

    call = kernel.kernel_call(
        body,
        S((64,), "float32"),
        grid=(6,),
        in_specs=[Block((None, 64), lambda i: (i, 0))],
        out_specs=Block((64,), lambda i: 0),
    )
    (got,) = OnKernels(call, x).run()
    np.testing.assert_allclose(got, x.sum(0) * 2, rtol=1e-5, atol=1e-5)


def test_a_routine_of_the_library():
    x = normal(6, 20)

    def body(x, o):
        o[...] = pnp.sort(x[...], axis=1)

    (got,) = OnKernels(along_rows(body, x, 3), x).run()
    np.testing.assert_array_equal(got, np.sort(x, axis=1))


PRODUCTS = [
    ("bfloat16", "mk,kn->mn"),
    ("float16", "km,kn->mn"),
    ("float16", "mk,nk->nm"),
    ("int8", "mk,nk->mn"),
    ("float32", "mk,kn->mn"),
]


@pytest.mark.parametrize(("dtype", "equation"), PRODUCTS, ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(32, 48, 64), (16, 8, 32), (20, 12, 10)])
def test_products(dtype, equation, m, n, k):
    """By the tensor cores, if the sizes allow it."""
    sizes = {"m": m, "n": n, "k": k}
    terms, result = equation.split("->")
    x, y = (RNG.integers(-5, 5, [2] + [sizes[d] for d in term]).astype(dtype) for term in terms.split(","))
    sum_type = "int32" if dtype == "int8" else "float32"

    def body(x, y, o):
        o[...] = pnp.einsum(equation, x[...], y[...], preferred_element_type=sum_type, precision="tensorfloat32") + 1

    def whole(array):
        return Block((None, *array.shape[1:]), lambda i: (i, 0, 0))

    out = S((2, *(sizes[d] for d in result)), sum_type)
    call = kernel.kernel_call(body, out, grid=(2,), in_specs=[whole(x), whole(y)], out_specs=whole(out))
    program = OnKernels(call, x, y)
    assert ("mma" in program.kernels) == (m != 20)
    batched = ",".join("b" + term for term in terms.split(",")) + "->b" + result
    np.testing.assert_array_equal(program.run()[0], np.einsum(batched, x.astype(float), y.astype(float)) + 1)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.complex64], ids=str)
def test_wide_elements(dtype):
    x = RNG.integers(-9, 9, (8, 40)).astype(dtype)

    def body(x, o):
        o[...] = x[...] * x[...].sum(1, keepdims=True)

    with enable_x64(True):
        (got,) = on_blocks(along_rows(body, x, 2), x)
    np.testing.assert_array_equal(got, x * x.sum(1, keepdims=True))


EXAMPLES = {
    "softmax": (examples.softmax, {"rows": 16, "columns": 300, "block": 4}),
    "matmul": (examples.matmul, {"size": 64, "rows": 32, "columns": 32}),
    "attention": (examples.attention, {"heads": 2, "length": 64, "depth": 16, "block": 32, "step": 16}),
    "causal": (examples.attention, {"heads": 1, "length": 64, "depth": 16, "block": 16, "step": 16, "causal": True}),
    "stencil": (examples.stencil, {"size": 64, "block": 16}),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    make, sizes = EXAMPLES[name]
    own, composed, shapes = make(**sizes)
    args = [normal(*shape) for shape in shapes]
    (got,) = on_blocks(own, *args, others=("fill", "map", "copy"))
    np.testing.assert_allclose(got, pc.jit(composed)(*args), rtol=2e-4, atol=2e-5)
