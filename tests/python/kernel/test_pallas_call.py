"""`pallas_call` and its names: programs as users of Pallas write them, compiled and by the loop over the grid."""

import jax
import numpy as np
import pytest
from jax.experimental import pallas as jax_pallas

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler.core.errors import ArgumentError
from pycompiler.experimental import checkify
from pycompiler.experimental import pallas as pl

S = pc.ShapeDtypeStruct
rng = np.random.default_rng(1)
WAYS = pytest.mark.parametrize("interpret", [True, False], ids=["interpreted", "compiled"])
A = rng.standard_normal((8, 16), np.float32)
V = rng.standard_normal(10, np.float32)
LIKE_A = S(A.shape, "float32")
ROWS = pl.BlockSpec((2, 16), lambda i: (i, 0))


def doubled(x, o):
    o[...] = x[...] * 2


@WAYS
def test_a_grid_spec_stands_for_four_arguments(interpret):
    def body(x, o, kept):
        kept[...] = x[...] + pl.num_programs(0)
        o[...] = kept[...] * 2

    spec = pl.GridSpec(grid=4, in_specs=[ROWS], out_specs=ROWS, scratch_shapes=[pl.ANY((2, 16), "float32")])
    found = pl.pallas_call(body, LIKE_A, grid_spec=spec, interpret=interpret)(A)
    np.testing.assert_allclose(found, (A + 4) * 2)
    with pytest.raises(ArgumentError, match="give either"):
        pl.pallas_call(body, LIKE_A, grid_spec=spec, grid=(4,))
    with pytest.raises(TypeError, match="expected a GridSpec"):
        pl.pallas_call(body, LIKE_A, grid_spec=(4,))


@WAYS
def test_loops_of_references_and_carries(interpret):
    def body(x, o, total):
        total[...] = pnp.zeros_like(total)

        @pl.loop(0, 8, step=2)
        def _(i):
            total[...] += x[i]

        @pl.loop(1, 8, step=3, init_carry=pnp.zeros(16))
        def carried(i, c):
            return c * 0.5 + x[i]

        o[...] = total[...] + carried

    call = pl.pallas_call(body, S((16,), "float32"), scratch_shapes=pl.ANY((16,), "float32"), interpret=interpret)
    want = A[::2].sum(0) + (A[1] * 0.25 + A[4] * 0.5 + A[7])
    np.testing.assert_allclose(call(A), want, rtol=1e-5, atol=1e-6)


@WAYS
def test_a_memory_space_without_blocks_is_the_array(interpret):
    spec = pl.BlockSpec(memory_space=pl.ANY)

    def body(x, o):
        i = pl.multiple_of(pl.program_id(0) * 4, 4)
        o[pl.ds(i, 4)] = pl.reciprocal(x[pl.ds(i, 4)], approx=True)

    call = pl.pallas_call(body, LIKE_A, grid=(2,), in_specs=[spec], out_specs=spec, interpret=interpret)
    np.testing.assert_allclose(call(A), 1 / A, rtol=1e-6)
    with pytest.raises(ValueError, match="expected None or a MemorySpace"):
        pl.BlockSpec(memory_space="vmem")


@WAYS
def test_trees_of_specs_have_the_structure_of_the_arrays(interpret):
    def body(x, nothing, o, p):
        assert nothing is None
        o["a"][...] = x["u"][...] + x["w"][...]
        p[...] = x["u"][...].argmax(1).astype("int32")

    call = pl.pallas_call(
        body,
        [{"a": LIKE_A}, S((8,), "int32")],
        grid=(4,),
        in_specs=[{"u": ROWS, "w": ROWS}, None],
        out_specs=({"a": ROWS}, pl.BlockSpec((2,), lambda i: i)),
        interpret=interpret,
    )
    found, places = call({"u": A, "w": A * 2}, None)
    np.testing.assert_allclose(found["a"], A * 3, rtol=1e-6)
    np.testing.assert_array_equal(places, A.argmax(1))
    with pytest.raises(ArgumentError, match=r"in_specs is a tree .*expected the same structure"):
        pl.pallas_call(body, LIKE_A, in_specs=[(ROWS, ROWS)])(A, A)


@WAYS
def test_views_slices_and_indices_of_references(interpret):
    order = np.array([3, 1, 0, 2], np.int32)

    def body(x, order, o):
        view = x.at[pl.ds(2, 4)]
        o[...] = pnp.zeros(o.shape)
        o[order[...]] = view[...] + view.at[1, pl.ds(3, 2)][...].sum()
        o[pl.ds(4, 2, 2), pl.ds(0, 4)] = x[pl.dslice(0, 2), pl.dslice(12, 4)]

    want = np.zeros((8, 16), np.float32)
    want[order] = A[2:6] + A[3, 3:5].sum()
    want[4:8:2, :4] = A[:2, 12:]
    np.testing.assert_allclose(pl.pallas_call(body, LIKE_A, interpret=interpret)(A, order), want, rtol=1e-5, atol=1e-6)


@WAYS
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "bfloat16", "float16", "float32", "float64"])
def test_blocks_that_do_not_divide(interpret, dtype):
    with pc.enable_x64(dtype == "float64"):
        x = pnp.asarray(V * 3).astype(dtype)
        spec = pl.BlockSpec((4,), lambda i: i)

        def body(x, o):
            o[...] = ~x[...] if dtype == "bool" else x[...] + x[...]

        call = pl.pallas_call(body, S((10,), dtype), grid=(3,), in_specs=[spec], out_specs=spec, interpret=interpret)
        np.testing.assert_array_equal(call(x), ~x if dtype == "bool" else x + x)


@WAYS
def test_aliases_of_blocks_that_are_and_are_not_the_outputs(interpret):
    backwards = pl.BlockSpec((2, 16), lambda i: (3 - i, 0))

    def same(x, o):
        o[0] = x[1] + o[0]
        o[1] = x[0]  # what it was before

    want = A.copy().reshape(4, 2, 16)
    want[:, 0], want[:, 1] = A[1::2] + A[::2], A[::2]
    options = {"grid": (4,), "out_specs": ROWS, "input_output_aliases": {0: 0}, "interpret": interpret}
    np.testing.assert_allclose(pl.pallas_call(same, LIKE_A, in_specs=[ROWS], **options)(A), want.reshape(8, 16))
    moved = pl.pallas_call(lambda x, o: o.set(x[...]), LIKE_A, in_specs=[backwards], **options)
    np.testing.assert_array_equal(moved(A), A.reshape(4, 2, 16)[::-1].reshape(8, 16))
    # The block of the output is visited again: the input keeps its values.
    again = pl.pallas_call(
        lambda x, o: o.set(o[...] + x[...]), LIKE_A, grid=(3,), input_output_aliases={0: 0}, interpret=interpret
    )
    np.testing.assert_allclose(again(A), A * 4, rtol=1e-6)
    mapped = pc.vmap(pl.pallas_call(same, LIKE_A, in_specs=[ROWS], **options))
    np.testing.assert_allclose(mapped(np.stack([A, A]))[1], want.reshape(8, 16))
    first = pc.vmap(
        pl.pallas_call(
            lambda x, y, o: o.set(o[...] + y[...]),
            S((16,), "float32"),
            input_output_aliases={0: 0},
            interpret=interpret,
        ),
        (None, 0),
    )
    np.testing.assert_allclose(first(A[0], A), A[0] + A, rtol=1e-6)
    loop = lax.fori_loop(
        0, 3, lambda _, c: pl.pallas_call(doubled, LIKE_A, in_specs=[ROWS], **options)(c), pnp.asarray(A)
    )
    np.testing.assert_allclose(loop, A * 8)


def test_an_alias_of_a_donated_argument_is_in_place():
    rows = kernel.BlockSpec((64, 256), lambda i: (i, 0))

    def bump(x, o):
        o[3] = x[3] + 1

    call = kernel.kernel_call(
        bump,
        S((256, 256), "float32"),
        grid=(4,),
        in_specs=[rows],
        out_specs=rows,
        input_output_aliases={0: 0},
    )
    f = pc.jit(call, donate_argnums=0)
    assert f.lower(S((256, 256), "float32")).compile().memory_analysis().temp_size_in_bytes <= 4096
    x = pnp.zeros((256, 256))
    place = x.unsafe_buffer_pointer()
    y = f(x)
    assert y.unsafe_buffer_pointer() == place
    assert x.is_deleted()
    np.testing.assert_array_equal(np.flatnonzero(np.asarray(y).any(1)), [3, 67, 131, 195])


def test_a_kernel_that_prints_is_interpreted(capfd):
    def body(x, o):
        pl.debug_print("program {}", pl.program_id(0))
        o[...] = x[...]

    pl.pallas_call(body, LIKE_A, grid=(2,), interpret=True)(A).block_until_ready()
    pc.effects_barrier()
    assert capfd.readouterr().out == "program 0\nprogram 1\n"
    with pytest.raises(ArgumentError, match="give interpret=True"):
        pl.pallas_call(body, LIKE_A, grid=(2,))(A)


def test_options_of_other_compilers():
    class Params:
        dimension_semantics = ("arbitrary",)

    cost = pl.CostEstimate(flops=1, transcendentals=0, bytes_accessed=2)
    for params in (Params, {"dimension_semantics": ("parallel",)}, {"num_warps": 4}, None):
        call = pl.pallas_call(
            doubled,
            LIKE_A,
            grid=(4,),
            in_specs=[ROWS],
            out_specs=ROWS,
            compiler_params=params,
            cost_estimate=cost,
            metadata={"a": "b"},
            name="twice",
        )
        np.testing.assert_array_equal(call(A), A * 2)
    with pytest.raises(ArgumentError, match="make_jaxpr"):
        pl.pallas_call(doubled, LIKE_A, debug=True)
    with pytest.raises(ValueError, match="flops"):
        pl.CostEstimate(flops=0.5, transcendentals=0, bytes_accessed=2)


@WAYS
def test_specs_of_whole_arrays_and_of_buffers(interpret):
    assert pl.BlockSpec is kernel.BlockSpec
    buffered = ROWS.replace(pipeline_mode=pl.Buffered(3, revisit=pl.RevisitMode.ANY))
    assert buffered.block_shape == ROWS.block_shape
    assert all(isinstance(dim, pl.BlockDim) for dim in (pl.squeezed, pl.Element(2), pl.Blocked(2)))
    for whole in ({"in_specs": pl.no_block_spec}, {"in_specs": [pl.no_block_spec], "out_specs": pl.no_block_spec}):
        np.testing.assert_array_equal(pl.pallas_call(doubled, LIKE_A, interpret=interpret, **whole)(A), A * 2)
    spec = pl.GridSpec(grid=4, in_specs=[buffered, pl.no_block_spec], out_specs=buffered)

    def body(x, whole, o):
        o[...] = x[...] + whole[0]

    np.testing.assert_array_equal(pl.pallas_call(body, LIKE_A, grid_spec=spec, interpret=interpret)(A, A), A + A[0])
    with pytest.raises(ValueError, match="expected None or a Buffered"):
        pl.BlockSpec((2, 16), pipeline_mode=2)
    with pytest.raises(ArgumentError, match="give either"):
        pl.pallas_call(body, LIKE_A, grid_spec=spec, out_specs=buffered)


@WAYS
def test_scoped_references(interpret):
    assert pl.HOST.from_type(LIKE_A) == pl.MemoryRef(LIKE_A, pl.HOST)

    def body(x, o, kept):
        @pl.with_scoped(pl.MemoryRef(S((16,), "float32"), pl.ANY), last=pl.HOST((16,), "float32"))
        def both(scale, total, last):
            total[...] += x[0]
            last[...] = x[1]
            return (total[...] + last[...]) * scale

        own = pl.empty_ref_like(S((16,), "float32"))
        own[...] += both(2.0)
        kept[...], more = pl.run_state(lambda refs: refs[0].set(refs[1][...] + 1))((own[...], x[2]))
        o[...] = kept[...] + more + own[...]

    call = pl.pallas_call(body, S((16,), "float32"), scratch_shapes=[pl.ANY((16,), "float32")], interpret=interpret)
    np.testing.assert_allclose(call(A), (A[0] + A[1]) * 2 + A[2] * 2 + 1, rtol=1e-5, atol=1e-6)


def test_checks_in_kernels():
    def body(x, o):
        pl.debug_check(x[0, 0] > 0, "the first element is positive")
        o[...] = x[...]

    for first, text in ((1.0, None), (-1.0, "the first element is positive")):
        x = pnp.full((8, 16), first)
        error, _ = checkify.checkify(pl.pallas_call(body, LIKE_A, interpret=True))(x)
        assert (error.get() or "").startswith(text or "")
        assert (error.get() is None) == (text is None)
        np.testing.assert_array_equal(pl.pallas_call(body, LIKE_A)(x), x)  # a compiled kernel does not check


def test_the_cost_of_a_function():
    def ours(lib):
        return lambda x, w: lib.tanh(x @ w) * 2 + lib.sqrt(w.sum(0)) - lib.maximum(x.sum(), 1)

    x, w = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    theirs = jax_pallas.estimate_cost(ours(jax.numpy), x, w)
    found = pl.estimate_cost(ours(pnp), x, S((3, 4), "float32"))
    assert (found.flops, found.transcendentals, found.bytes_accessed) == (
        theirs.flops,
        theirs.transcendentals,
        theirs.bytes_accessed,
    )
    loop = pl.estimate_cost(lambda x, n=3: lax.fori_loop(0, n, lambda _, c: pnp.exp(c) * 2, x), x, n=5)
    assert (loop.flops, loop.transcendentals) == (5 * 6 + 5, 5 * 6)
    branch = pl.estimate_cost(lambda x: lax.cond(x[0, 0] > 0, pnp.sin, lambda x: x, x), x)
    assert branch.transcendentals == 6
    assert pl.estimate_cost(pc.jit(pnp.exp), x).transcendentals == 6


def test_sizes():
    assert [pl.align_to(x, 4) for x in (0, 1, 4, 5)] == [0, 4, 4, 8]
    assert [pl.next_power_of_2(x) for x in (0, 1, 2, 3, 9)] == [1, 1, 2, 4, 16]
    assert pl.strides_from_shape((2, 3, 4)) == (12, 4, 1)
    with pytest.raises(ArgumentError, match="from 0"):
        pl.next_power_of_2(-1)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: pl.pallas_call(lambda x: None, LIKE_A)(A),
            TypeError,
            "gets 2 arguments: references to 1 inputs, 1 out",
        ),
        (
            lambda: pl.pallas_call(doubled, LIKE_A, grid=2, in_specs=[pl.BlockSpec((4, 16), lambda i, j: (i, 0))])(A),
            TypeError,
            "the index map of .*takes .*the grid has 1 dimensions",
        ),
        (lambda: pc.jit(lambda n: pl.pallas_call(doubled, LIKE_A, grid=(n,))(A))(2), ArgumentError, "below `when`"),
        (lambda: pl.pallas_call(lambda x, o: o.set(x[0:2]), LIKE_A)(A), ArgumentError, "the value is f32"),
        (lambda: pl.pallas_call(doubled, S((8, 16), "int32"))(A), ArgumentError, "convert it"),
    ],
)
def test_what_does_not_fit_says_so(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_programs_that_share_an_aliased_input_do_not_run_at_once():
    """The copy that keeps the input's elements is of the whole array: threads would write it over each other."""
    backwards = pl.BlockSpec((64, 256), lambda i: (3 - i, 0))
    rows = pl.BlockSpec((64, 256), lambda i: (i, 0))
    call = pl.pallas_call(
        doubled, S((256, 256), "float32"), grid=(4,), in_specs=[backwards], out_specs=rows, input_output_aliases={0: 0}
    )
    assert "parallel=()" in str(pc.make_jaxpr(call)(pnp.ones((256, 256))))
