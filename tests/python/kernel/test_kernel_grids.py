"""Grids with names, and arguments that index maps read."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler.core.errors import ArgumentError

S = pc.ShapeDtypeStruct
WAYS = pytest.mark.parametrize("interpret", [True, False], ids=["interpreted", "compiled"])
X = np.arange(48, dtype=np.float32).reshape(6, 8)
BLOCK = kernel.BlockSpec((2, 4), lambda i, j: (i, j))


@WAYS
def test_names_of_a_grid_give_index_and_size(interpret):
    def body(x, o):
        inner = pc.jit(lambda v: v + 10 * lax.axis_index("rows"))
        o[...] = inner(x[...]) * lax.axis_size("rows") + lax.axis_index(("rows", "columns"))

    call = kernel.kernel_call(
        body, S(X.shape, "float32"), grid=(("rows", 3), ("columns", 2)), in_specs=[BLOCK], out_specs=BLOCK,
        interpret=interpret,
    )  # fmt: skip
    row, column = np.indices(X.shape) // np.array([2, 4])[:, None, None]
    want = (X + 10 * row) * 3 + 2 * row + column
    np.testing.assert_array_equal(call(X), want)
    np.testing.assert_array_equal(pc.vmap(call)(np.stack([X, X + 1])), [want, want + 3])


def test_a_name_beside_a_number():
    call = kernel.kernel_call(
        lambda x, o: o.set(x[...] + lax.axis_index("i") + kernel.num_programs(1)),
        S(X.shape, "float32"), grid=(("i", 3), 2), in_specs=[BLOCK], out_specs=BLOCK,
    )  # fmt: skip
    np.testing.assert_array_equal(call(X), X + 2 + np.arange(6)[:, None] // 2)


@pytest.mark.parametrize(
    ("grid", "body", "text"),
    [
        ((("i", 2), ("i", 2)), None, "a name occurs twice"),
        ((("i", -1),), None, "pairs of a name and a number"),
        ((("i", 3), 2), lambda x, o: o.set(lax.psum(x[...], "i")), r"has a collective over \['i'\]"),
    ],
)
def test_names_that_do_not_fit(grid, body, text):
    with pytest.raises(ArgumentError, match=text):
        kernel.kernel_call(
            body or (lambda x, o: None), S(X.shape, "float32"), grid=grid, in_specs=[BLOCK], out_specs=BLOCK
        )(X)


def chosen_rows(interpret):
    """Rows of blocks by their numbers, plus the number."""
    spec = kernel.PrefetchScalarGridSpec(
        1,
        grid=(3,),
        in_specs=[kernel.BlockSpec((2, 8), lambda i, rows: (rows[i], 0))],
        out_specs=kernel.BlockSpec((2, 8), lambda i, rows: (i, 0)),
    )

    def body(rows, x, o):
        o[...] = x[...] + rows[kernel.program_id(0)]

    return kernel.kernel_call(body, S(X.shape, "float32"), grid_spec=spec, interpret=interpret)


@WAYS
def test_scalars_choose_the_blocks(interpret):
    def want(rows):
        return (X.reshape(3, 2, 8)[rows] + np.array(rows)[:, None, None]).reshape(6, 8)

    call = chosen_rows(interpret)
    np.testing.assert_array_equal(call(pnp.array([2, 0, 2]), X), want([2, 0, 2]))
    np.testing.assert_array_equal(pc.jit(call)(np.array([1, 1, 0], np.int32), X), want([1, 1, 0]))
    several = pc.vmap(call, in_axes=(0, None))(np.array([[0, 1, 2], [2, 1, 0]], np.int32), X)
    np.testing.assert_array_equal(several, [want([0, 1, 2]), want([2, 1, 0])])
    _, tangent = pc.jvp(lambda x: call(np.array([2, 0, 2], np.int32), x), (X,), (X,))
    np.testing.assert_array_equal(tangent, X.reshape(3, 2, 8)[[2, 0, 2]].reshape(6, 8))


def test_an_index_map_without_the_scalars():
    spec = kernel.PrefetchScalarGridSpec(1, grid=(3,), in_specs=[kernel.BlockSpec((2, 8), lambda i: (i, 0))])
    with pytest.raises(TypeError, match="1 arguments are prefetched scalars"):
        kernel.kernel_call(lambda n, x, o: None, S(X.shape, "float32"), grid_spec=spec)(np.arange(3, dtype=np.int32), X)


@WAYS
def test_a_list_of_outputs_gives_a_tuple(interpret):
    def body(x, a, b):
        a[...], b[...] = x[...], x[...] + 1

    found = kernel.kernel_call(body, [S((8,), "float32")] * 2, interpret=interpret)(X[0])
    assert type(found) is tuple
    np.testing.assert_array_equal(found, [X[0], X[0] + 1])


def test_a_printed_reference_shows_its_elements(capfd):
    def body(x, o):
        pc.debug.print("x = {}, {}", x, x.at[1:])
        o[...] = x[...]

    kernel.kernel_call(body, S((3,), "float32"), interpret=True)(X[0, :3]).block_until_ready()
    pc.effects_barrier()
    assert "x = [0. 1. 2.], [1. 2.]" in capfd.readouterr().out


def test_a_traced_number_of_programs():
    def body(x, o, total):
        total[...] += x[...]
        o[...] = total[...] * kernel.num_programs(0) + kernel.program_id(1)

    @pc.jit
    def run(rows, columns, x, semantics=None):
        return kernel.kernel_call(
            body, S(X.shape, "float32"), grid=(rows, columns), in_specs=[BLOCK], out_specs=BLOCK, interpret=True,
            scratch_shapes=[S((2, 4), "float32")], dimension_semantics=("parallel", "arbitrary"),
        )(x)  # fmt: skip

    def want(rows, columns):
        found = np.zeros_like(X)
        for i in range(rows):
            total = 0
            for j in range(columns):
                total = total + X[2 * i : 2 * i + 2, 4 * j : 4 * j + 4]
                found[2 * i : 2 * i + 2, 4 * j : 4 * j + 4] = total * rows + j
        return found

    for rows, columns in ((3, 2), (2, 2), (3, 1), (0, 2), (1, 0)):
        np.testing.assert_array_equal(run(rows, columns, X), want(rows, columns))
    with pytest.raises(ArgumentError, match="give interpret=True"):
        pc.jit(lambda n: kernel.kernel_call(body, S((4,), "float32"), grid=(n,))(X))(2)
