"""Own kernels, by value beside the composed function, compiled and by the loop over the grid."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler.core.errors import ArgumentError, NotDifferentiableError

S = pc.ShapeDtypeStruct
rng = np.random.default_rng(0)
WAYS = pytest.mark.parametrize("interpret", [True, False], ids=["interpreted", "compiled"])


def random(*shape):
    return rng.standard_normal(shape, np.float32)


def double(x, o):
    o[...] = x[...] * 2


@WAYS
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint32", "bool", "complex64", "float16"])
def test_blocks_of_every_kind_of_elements(interpret, dtype):
    x = rng.integers(0, 2, (6, 8)).astype(dtype)

    def negated(x, o):
        o[...] = pnp.where(kernel.program_id(0) == 1, x[...], pnp.zeros_like(x[...]))

    spec = kernel.BlockSpec((2, 4), lambda i, j: (i, j))
    call = kernel.kernel_call(
        negated, S(x.shape, dtype), grid=(3, 2), in_specs=[spec], out_specs=spec, interpret=interpret
    )
    want = np.where(np.arange(6)[:, None] // 2 == 1, x, np.zeros_like(x))
    np.testing.assert_array_equal(call(x), want)


def matmul(relu, shape, blocks, interpret):
    def body(x, w, o):
        product = kernel.dot(x[...], w[...])
        o[...] = pnp.maximum(product, 0) if relu else product

    m, n, k = shape
    bm, bn = blocks
    return kernel.kernel_call(
        body,
        S((m, n), "float32"),
        grid=(kernel.cdiv(m, bm), kernel.cdiv(n, bn)),
        in_specs=[kernel.BlockSpec((bm, k), lambda i, j: (i, 0)), kernel.BlockSpec((k, bn), lambda i, j: (0, j))],
        out_specs=kernel.BlockSpec((bm, bn), lambda i, j: (i, j)),
        interpret=interpret,
    )


@WAYS
@pytest.mark.parametrize("shape", [(64, 64, 32), (70, 50, 40), (256, 192, 64)])
def test_a_matmul_with_an_epilogue(interpret, shape):
    m, n, k = shape
    x, w = random(m, k), random(k, n)
    found = matmul(True, shape, (32, 32), interpret)(x, w)
    np.testing.assert_allclose(found, np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)


@WAYS
def test_an_output_is_visited_again_along_the_last_dimension(interpret):
    x, w = random(48, 64), random(64, 32)

    def body(x, w, o):
        @kernel.when(kernel.program_id(2) == 0)
        def _():
            o[...] = pnp.zeros(o.shape)

        o[...] += kernel.dot(x[...], w[...])

    call = kernel.kernel_call(
        body,
        S((48, 32), "float32"),
        grid=(3, 2, 4),
        in_specs=[
            kernel.BlockSpec((16, 16), lambda i, j, k: (i, k)),
            kernel.BlockSpec((16, 16), lambda i, j, k: (k, j)),
        ],
        out_specs=kernel.BlockSpec((16, 16), lambda i, j, k: (i, j)),
        interpret=interpret,
    )
    np.testing.assert_allclose(call(x, w), x @ w, rtol=1e-4, atol=1e-4)


@WAYS
def test_scratch_memory_is_kept_along_sequential_dimensions(interpret):
    x = random(6, 4)

    def running_sum(x, o, total):
        total[...] += x[...]
        o[...] = total[...]

    spec = kernel.BlockSpec((None, 2), lambda i, j: (i, j))
    call = kernel.kernel_call(
        running_sum,
        S((6, 4), "float32"),
        grid=(6, 2),
        in_specs=[spec],
        out_specs=spec,
        scratch_shapes=[S((2,), "float32")],
        dimension_semantics=("arbitrary", "parallel"),
        interpret=interpret,
    )
    np.testing.assert_allclose(call(x), np.cumsum(x, 0), rtol=1e-5, atol=1e-5)


@WAYS
def test_masks_at_the_end_of_an_array(interpret):
    x = random(12)

    def body(x, o):
        i = kernel.program_id(0)
        inside = i * 5 + pnp.arange(5) < 12
        value = kernel.load(x, kernel.ds(i * 5, 5), mask=inside, other=7.0)
        kernel.store(o, kernel.ds(i * 5, 5), value * 2, mask=inside)

    call = kernel.kernel_call(body, S((12,), "float32"), grid=(3,), interpret=interpret)
    np.testing.assert_array_equal(call(x), x * 2)


def attention(interpret, block=16, step=16):
    def body(q, k, v, o):
        rows, depth = q.shape

        def add(j, carry):
            top, total, out = carry
            s = kernel.dot(q[...], k[kernel.ds(j * step, step)], trans_b=True) / np.float32(depth**0.5)
            now = pnp.maximum(top, s.max(1))
            p, scale = pnp.exp(s - now[:, None]), pnp.exp(top - now)
            out = out * scale[:, None] + kernel.dot(p, v[kernel.ds(j * step, step)])
            return now, total * scale + p.sum(1), out

        start = pnp.full(rows, -np.inf, "float32"), pnp.zeros(rows), pnp.zeros((rows, depth))
        _, total, out = lax.fori_loop(0, k.shape[0] // step, add, start)
        o[...] = out / total[:, None]

    def call(q, k, v):
        heads, length, depth = q.shape
        mine = kernel.BlockSpec((None, block, depth), lambda h, i: (h, i, 0))
        whole = kernel.BlockSpec((None, length, depth), lambda h, i: (h, 0, 0))
        return kernel.kernel_call(
            body,
            S(q.shape, q.dtype),
            grid=(heads, length // block),
            in_specs=[mine, whole, whole],
            out_specs=mine,
            interpret=interpret,
        )(q, k, v)

    return call


def plain_attention(q, k, v):
    s = np.einsum("hid,hjd->hij", q, k) / q.shape[-1] ** 0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hij,hjd->hid", p / p.sum(-1, keepdims=True), v)


@WAYS
def test_flash_attention(interpret):
    q, k, v = random(2, 64, 8), random(2, 64, 8), random(2, 64, 8)
    np.testing.assert_allclose(attention(interpret)(q, k, v), plain_attention(q, k, v), rtol=1e-4, atol=1e-4)


def test_many_programs_share_threads_and_give_the_same():
    q, k, v = random(4, 512, 32), random(4, 512, 32), random(4, 512, 32)
    found = [np.asarray(attention(False, 64, 128)(q, k, v)) for _ in range(5)]
    np.testing.assert_allclose(found[0], plain_attention(q, k, v), rtol=1e-3, atol=1e-4)
    assert all((x == found[0]).all() for x in found)


@WAYS
def test_overlapping_blocks(interpret):
    x = random(34)

    def body(x, o):
        o[...] = x[:-2] + x[1:-1] + x[2:]

    call = kernel.kernel_call(
        body,
        S((32,), "float32"),
        grid=(4,),
        in_specs=[kernel.BlockSpec((kernel.Element(10),), lambda i: i * 8)],
        out_specs=kernel.BlockSpec((8,), lambda i: i),
        interpret=interpret,
    )
    np.testing.assert_allclose(call(x), x[:-2] + x[1:-1] + x[2:], rtol=1e-6)


@WAYS
def test_an_alias_keeps_what_is_not_written(interpret):
    def body(x, o):
        o[1:] = x[1:] * 2

    call = kernel.kernel_call(body, S((4,), "float32"), input_output_aliases={0: 0}, interpret=interpret)
    np.testing.assert_array_equal(call(np.arange(1, 5, dtype=np.float32)), [1, 4, 6, 8])
    zeros = kernel.kernel_call(body, S((4,), "float32"), interpret=interpret)
    np.testing.assert_array_equal(zeros(np.arange(1, 5, dtype=np.float32)), [0, 4, 6, 8])


@WAYS
def test_a_mapped_kernel_has_one_more_dimension(interpret):
    x, w = random(3, 64, 32), random(32, 64)
    call = matmul(False, (64, 64, 32), (32, 32), interpret)
    np.testing.assert_allclose(pc.vmap(call, (0, None))(x, w), x @ w, rtol=1e-4, atol=1e-4)
    graph = str(pc.make_jaxpr(pc.vmap(matmul(False, (64, 64, 32), (32, 32), False), (0, None)))(x, w))
    assert "grid=(3, 2, 2)" in graph
    assert "parallel=(0, 1, 2)" in graph


@WAYS
def test_in_loops_and_with_a_value_from_outside(interpret):
    def step(x, factor):
        def body(x, o):
            o[...] = x[...] * factor

        spec = kernel.BlockSpec((2,), lambda i: i)
        call = kernel.kernel_call(
            body, S((6,), "float32"), grid=(3,), in_specs=[spec], out_specs=spec, interpret=interpret
        )
        return call(x), None

    x, factors = random(6), pnp.array([2.0, 3.0, 4.0])
    found, _ = pc.jit(lambda x: lax.scan(step, x, factors))(x)
    np.testing.assert_allclose(found, x * 24, rtol=1e-5)


@WAYS
@pytest.mark.parametrize("block", [(1, 1), (8, 4), (8, 128)])
@pytest.mark.parametrize("branch", [0, 1, 2])
def test_branches_in_many_programs(interpret, block, branch):
    """Threads share the programs, and the branches copy between the temporaries of one."""
    branches = [lambda x, y: x + y, lambda x, y: x + y + 1, lambda x, y: x - y]
    rows, columns = block
    x, y = np.arange(64, dtype=np.float32)[:, None], np.arange(128, dtype=np.float32)[None]

    def body(i, x, y, o):
        o[...] = lax.switch(i[...], branches, x[...], y[...])

    call = kernel.kernel_call(
        body,
        S((64, 128), "float32"),
        grid=(64 // rows, 128 // columns),
        in_specs=[
            kernel.BlockSpec((), lambda i, j: ()),
            kernel.BlockSpec((rows, 1), lambda i, j: (i, 0)),
            kernel.BlockSpec((1, columns), lambda i, j: (0, j)),
        ],
        out_specs=kernel.BlockSpec(block, lambda i, j: (i, j)),
        interpret=interpret,
    )
    np.testing.assert_array_equal(call(np.int32(branch), x, y), branches[branch](x, y))


def test_a_derivative_by_custom_vjp():
    square = kernel.kernel_call(lambda x, o: o.set(x[...] * x[...]), S((4,), "float32"))
    ours = pc.custom_vjp(lambda x: square(x))
    ours.defvjp(lambda x: (square(x), x), lambda x, g: (2 * x * g,))
    np.testing.assert_allclose(pc.grad(lambda x: ours(x).sum())(pnp.arange(4.0)), [0, 2, 4, 6])
    with pytest.raises(NotDifferentiableError, match="custom_vjp"):
        pc.grad(lambda x: square(x).sum())(pnp.arange(4.0))


def test_the_loop_over_the_grid_has_a_derivative():
    square = kernel.kernel_call(lambda x, o: o.set(x[...] * x[...]), S((4,), "float32"), interpret=True)
    np.testing.assert_allclose(pc.grad(lambda x: square(x).sum())(pnp.arange(4.0)), [0, 2, 4, 6])


X = np.arange(12, dtype=np.float32).reshape(3, 4)
OUT = S((3, 4), "float32")
B = kernel.BlockSpec


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"in_specs": [B((4,))]}, r"in_specs\[0\] has the block shape \(4,\).*expected 2 sizes"),
        ({"in_specs": [B((1, 5))]}, None),
        ({"in_specs": [B((1, 0))]}, "expected a positive size"),
        ({"grid": 3, "in_specs": [B((1, 4), lambda i: i)]}, "returned 1 indices, expected 2"),
        ({"grid": 4, "in_specs": [B((1, 4), lambda i: (i, 0))]}, "gives 3 along dimension 0, expected from 0 to 2"),
        ({"grid": 4, "in_specs": [B((1, 4), lambda i: (i // 2 + 2, 0))]}, "gives 3 along dimension 0"),
        ({"in_specs": [B(), B()]}, "has 2 BlockSpecs, and there are 1 arrays"),
        ({"input_output_aliases": {1: 0}}, "there are 1 inputs and 1 outputs"),
        ({"grid": 2, "dimension_semantics": ["fast"]}, "expected 1 names"),
        ({"grid": 2, "dimension_semantics": ["parallel"]}, "gives the same block along it"),
        ({"grid": -1}, "expected numbers of programs"),
    ],
)
def test_what_does_not_fit_is_refused(options, text):
    if text is None:  # a block may leave the array at its end
        options = {"grid": 3, "in_specs": [B((1, 5), lambda i: (i, 0))]}
        kernel.kernel_call(lambda x, o: None, OUT, **options)(X)
        return
    with pytest.raises(ArgumentError, match=text):
        kernel.kernel_call(double, OUT, **options)(X)


def test_what_a_kernel_can_not_do():
    def stores(x, o):
        x[...] = x[...] + 1

    with pytest.raises(ArgumentError, match="argument x, can't be written"):
        kernel.kernel_call(stores, OUT)(X)
    with pytest.raises(TypeError, match="expected None"):
        kernel.kernel_call(lambda x, o: x[...], OUT)(X)
    with pytest.raises(ArgumentError, match="functions of the host"):
        kernel.kernel_call(lambda x, o: pc.debug.print("x"), OUT)(X)
    with pytest.raises(ArgumentError, match="there is no grid"):
        kernel.program_id(0)


def test_a_grid_without_programs_gives_zeros():
    np.testing.assert_array_equal(kernel.kernel_call(double, OUT, grid=(0,))(X), np.zeros_like(X))


def test_kernels_that_repeat_in_one_program_and_in_loops():
    def calls(interpret):
        def body(x, w, o):
            y = kernel.dot(pnp.tanh(x[...]), w[...])
            e = pnp.exp(y - y.max(1, keepdims=True))
            o[...] = x[...] + e / e.sum(1, keepdims=True)

        spec = kernel.BlockSpec((64, 256), lambda i: (i, 0))
        out = S((1024, 256), "float32")
        k = kernel.kernel_call(body, out, grid=(16,), in_specs=[spec, None], out_specs=spec, interpret=interpret)
        return pc.jit(lambda x, w: (k(x, w) + k(x * 2, w), lax.fori_loop(0, 3, lambda i, y: k(y, w) * 0.5, x)))

    x, w = random(1024, 256), random(256, 256) * np.float32(0.05)
    compiled, want = calls(False), calls(True)(x, w)
    for _ in range(4):
        for found, value in zip(compiled(x, w), want, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-3, atol=1e-3)


def test_routines_of_libraries_in_a_kernel_run_in_one_thread():
    x = random(256, 512)
    spec = kernel.BlockSpec((16, 512), lambda i: (i, 0))
    call = kernel.kernel_call(
        lambda x, o: o.set(pnp.sort(x[...], 1)), S(x.shape, "float32"), grid=(16,), in_specs=[spec], out_specs=spec
    )
    np.testing.assert_array_equal(call(x), np.sort(x, 1))
