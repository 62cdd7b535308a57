"""vmap of public functions, compiled: against a loop, by axes that are not the first; and nothing is unrolled."""

import itertools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
import pycompiler.scipy.linalg
import pycompiler.scipy.special
from pycompiler import lax
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES

RNG = np.random.default_rng(0)
SIZE = 3


def draw(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def places(*shape):
    return RNG.integers(0, 4, shape).astype(np.int32)


SQUARE = draw(SIZE, 4, 4) + 4 * np.eye(4, dtype=np.float32)
DEFINITE = np.einsum("nij,nkj->nik", SQUARE, SQUARE)
linalg, scipy = pnp.linalg, pc.scipy

# (function, its arguments with the mapped axis in front). Results with free signs are multiplied out.
FUNCTIONS = {
    "cholesky": (linalg.cholesky, DEFINITE),
    "solve": (linalg.solve, SQUARE, draw(SIZE, 4, 2)),
    "solve a vector": (linalg.solve, SQUARE, draw(SIZE, 4)),
    "triangular_solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), SQUARE, draw(SIZE, 4, 2)),
    "inv": (linalg.inv, SQUARE),
    "det": (linalg.det, SQUARE),
    "slogdet": (linalg.slogdet, SQUARE),
    "eigh": (lambda a: (linalg.eigh(a)[0], linalg.eigh(a)[1] ** 2), DEFINITE),
    "eigvals": (lambda a: pnp.sort(abs(linalg.eigvals(a))), SQUARE),
    "svd": (lambda a: (linalg.svd(a)[1], linalg.svd(a)[0] ** 2), SQUARE),
    "qr": (lambda a: pnp.matmul(*linalg.qr(a)), draw(SIZE, 4, 3)),
    "lu": (scipy.linalg.lu, SQUARE),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], draw(SIZE, 5, 3), draw(SIZE, 5)),
    "pinv": (linalg.pinv, draw(SIZE, 3, 4)),
    "expm": (scipy.linalg.expm, SQUARE / 8),
    "matrix_power": (lambda a: linalg.matrix_power(a, 5), SQUARE / 4),
    "fft": (lambda x: pnp.fft.fft(x, axis=0), draw(SIZE, 8, 3)),
    "irfft": (lambda x: pnp.fft.irfft(x + 1j * x[::-1], n=7), draw(SIZE, 5)),
    "fft2": (lambda x: abs(pnp.fft.fft2(x)), draw(SIZE, 4, 6)),
    "sort": (lambda x: pnp.sort(x, axis=0), draw(SIZE, 9, 2)),
    "sort of several": (lambda x, y: lax.sort((x, y), num_keys=1), places(SIZE, 9), draw(SIZE, 9)),
    "argsort": (lambda x: pnp.argsort(x, stable=True), places(SIZE, 9)),
    "top_k": (lambda x: lax.top_k(x, 3), draw(SIZE, 9)),
    "searchsorted": (lambda a, v: pnp.searchsorted(pnp.sort(a), v), draw(SIZE, 9), draw(SIZE, 4)),
    "median": (pnp.median, draw(SIZE, 9)),
    "unique": (lambda x: pnp.unique(x, size=4, fill_value=9), places(SIZE, 9)),
    "nonzero": (lambda x: pnp.nonzero(x, size=9, fill_value=-1), places(SIZE, 9)),
    "bincount": (lambda x: pnp.bincount(x, length=4), places(SIZE, 9)),
    "gammaln": (scipy.special.gammaln, abs(draw(SIZE, 5))),
    "betainc": (scipy.special.betainc, abs(draw(SIZE, 5)), abs(draw(SIZE, 5)), abs(np.sin(draw(SIZE, 5)))),
    "take": (lambda x, i: x[i], draw(SIZE, 4, 3), places(SIZE, 5)),
    "take of pairs": (lambda x, i, j: x[i, :, j], draw(SIZE, 4, 3, 4), places(SIZE, 5), places(SIZE, 5)),
    "take_along_axis": (lambda x, i: pnp.take_along_axis(x, i, 1), draw(SIZE, 4, 4), places(SIZE, 4, 2)),
    "at set": (lambda x, i, y: x.at[i].set(y, unique_indices=True), draw(SIZE, 6), places(SIZE, 1), draw(SIZE, 1)),
    "at add": (lambda x, i, y: x.at[i].add(y), draw(SIZE, 4, 2), places(SIZE, 7), draw(SIZE, 7, 2)),
    "at max": (lambda x, i, y: x.at[:, i].max(y), draw(SIZE, 2, 4), places(SIZE, 7), draw(SIZE, 2, 7)),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 2)), draw(SIZE, 5, 4), places(SIZE)),
    "dynamic_update_slice": (
        lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)),
        draw(SIZE, 6, 4),
        draw(SIZE, 2, 2),
        places(SIZE),
    ),
    "matmul": (pnp.matmul, draw(SIZE, 4, 3), draw(SIZE, 3, 2)),
    "einsum": (lambda x, y, z: pnp.einsum("ij,jk,k->i", x, y, z), draw(SIZE, 2, 3), draw(SIZE, 3, 4), draw(SIZE, 4)),
    "conv": (lambda x, w: lax.conv(x, w, (1, 1), "SAME"), draw(SIZE, 2, 4, 6, 6), draw(SIZE, 3, 4, 3, 3)),
    "conv in groups": (
        lambda x, w: lax.conv_general_dilated(x, w, (2,), "VALID", feature_group_count=2),
        draw(SIZE, 2, 4, 9),
        draw(SIZE, 6, 2, 3),
    ),
    "conv_transpose": (
        lambda x, w: lax.conv_transpose(x, w, (2,), "SAME", dimension_numbers=("NCH", "IOH", "NCH")),
        draw(SIZE, 2, 3, 5),
        draw(SIZE, 3, 4, 3),
    ),
    "reduce_window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"), draw(SIZE, 4, 6)),
    "cumsum": (lambda x: pnp.cumsum(x, axis=1), draw(SIZE, 3, 5)),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, reverse=True), draw(SIZE, 5, 2)),
    "softmax": (pc.nn.softmax, draw(SIZE, 4, 5)),
    "attention": (pc.nn.dot_product_attention, *(draw(SIZE, 2, 5, 2, 4) for _ in range(3))),
    "interp": (lambda x, xp, fp: pnp.interp(x, pnp.sort(xp), fp), draw(SIZE, 4), draw(SIZE, 6), draw(SIZE, 6)),
    "histogram": (lambda x: pnp.histogram(x, 4, (-1, 1))[0], draw(SIZE, 20)),
    "polyval": (pnp.polyval, draw(SIZE, 4), draw(SIZE, 5)),
    "where of masks": (lambda x: pnp.sum(x, where=x > 0), draw(SIZE, 5)),
    "choose": (lambda i, x: pnp.choose(i, x, mode="clip"), places(SIZE, 3), draw(SIZE, 4, 3)),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_mapped_is_a_loop(name):
    function, *args = FUNCTIONS[name]
    alone = pc.jit(function)
    every = [pc.tree.leaves(alone(*(x[i] for x in args))) for i in range(SIZE)]
    # All of them mapped by another axis than the first; then only the first argument.
    moved = [np.moveaxis(x, 0, -1) for x in args]
    together = pc.tree.leaves(pc.jit(pc.vmap(function, in_axes=-1, out_axes=-1))(*moved))
    for i, out in enumerate(together):
        want = np.stack([np.asarray(outs[i]) for outs in every], -1)
        assert out.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(out), want, rtol=2e-4, atol=2e-5)
    if len(args) > 1:
        rest = [x[0] for x in args[1:]]
        first = pc.jit(pc.vmap(function, (1, *(None for _ in rest))))(np.moveaxis(args[0], 0, 1), *rest)
        wants = [pc.tree.leaves(alone(x, *rest)) for x in args[0]]
        for i, out in enumerate(pc.tree.leaves(first)):
            want = np.stack([np.asarray(outs[i]) for outs in wants])
            np.testing.assert_allclose(np.asarray(out), want, rtol=2e-4, atol=2e-5)


# No rule unrolls: the graph of a map over 2 equals that of one over 9, except the sizes.


def batched(name, sample, chosen, size):
    primitive = PRIMITIVES[name]
    shapes = [(size, *x.shape) if c else x.shape for x, c in zip(sample.args, chosen, strict=True)]
    avals = [pc.ShapeDtypeStruct(shape, x.dtype) for x, shape in zip(sample.args, shapes, strict=True)]
    in_axes = tuple(0 if c else None for c in chosen)
    return pc.make_jaxpr(pc.vmap(lambda *xs: primitive.bind(*xs, **sample.params), in_axes))(*avals).graph


def count(graph):
    names = []
    for equation in graph.equations:
        names.append(equation.primitive.name)
        for value in equation.params.values():
            for part in value if type(value) is tuple else (value,):
                names += count(part.graph) if hasattr(part, "graph") else []
    return names


@pytest.mark.parametrize("name", [name for name in sorted(PRIMITIVES) if name != "iota"])
def test_nothing_is_unrolled(name):
    sample = next(iter(PRIMITIVES[name].sampler(np.random.default_rng(0))))
    chosen = [c for c in itertools.product((True, False), repeat=len(sample.args)) if any(c)]
    for one in chosen[: 1 if len(sample.args) > 4 else 15]:
        few, many = (count(batched(name, sample, one, size)) for size in (2, 9))
        assert few == many, one
        # And it contains the operation itself, once, with operations that move axes. Only loops contain loops.
        if name not in ("while", "scan", "cond"):
            assert not {"while", "scan"} & set(few)
            assert len(few) <= 30, few


@pytest.mark.parametrize("name", [name for name in sorted(PRIMITIVES) if name not in ("iota", "dim_as_value")])
def test_axes_of_one_member_and_of_none(name):
    primitive = PRIMITIVES[name]
    sample = next(iter(primitive.sampler(np.random.default_rng(0))))
    found = primitive.shape_rule(*map(get_aval, sample.args), **sample.params)
    avals = found if primitive.multiple_results else (found,)
    last = len(sample.args) - 1
    for size in (0, 1):
        for chosen in ((True,) * (last + 1), *(tuple(i == j for i in range(last + 1)) for j in {0, last})):
            outs = [out.aval for out in batched(name, sample, chosen, size).outputs]
            assert [(size, *aval.shape) for aval in avals] == [out.shape for out in outs]
            assert [aval.dtype for aval in avals] == [out.dtype for out in outs]


def test_nothing_is_mapped_over():
    none = np.zeros((0, 4, 4), np.float32)
    assert pc.jit(pc.vmap(lambda x: (linalg.inv(x), pnp.sort(x), x[places(2)])))(none)[2].shape == (0, 2, 4)

    @pc.jit
    def draws():
        keys = pc.random.split(pc.random.key(0), 3)[:0]
        drawn = pc.vmap(lambda key: pc.random.gamma(pc.random.fold_in(key, 1), 2.0, (2,)))(keys)
        return drawn, pc.random.key_data(pc.vmap(pc.random.split)(keys))

    assert [x.shape for x in draws()] == [(0, 2), (0, 2, 2)]

    def named(x):
        total = lax.psum(x.sum(), "i")
        return total, pc.jit(lambda y: lax.psum(y[np.array([1])], "i"))(x), x.at[0].set(total)

    total, row, rest = pc.jit(pc.vmap(named, axis_name="i", out_axes=(None, None, 0)))(none)
    assert (float(total), row.shape, rest.shape) == (0.0, (1, 4), (0, 4, 4))


def test_a_callable_whose_name_is_no_string():
    """Objects such as Equinox's modules under a transformation forward any attribute."""

    class Model:
        __name__ = 3

        def __call__(self, x):
            return x + 1

    np.testing.assert_array_equal(pc.vmap(Model())(np.zeros(2, np.float32)), [1, 1])
    assert pc.vmap(Model()).__doc__.startswith("vmap of Model")
