"""Collectives over a named axis: against their references on all members at once, and against jax's."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.primitives import COLLECTIVES, rules
from pycompiler.primitives.collective import reductions

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3) ** 2 % 7
SUMMED = np.stack([X.sum(0)] * 4)


def equal(ours, theirs, rtol=1e-6):
    ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        mine, other = np.asarray(mine), np.asarray(other)
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(mine, other, rtol=rtol)


def both(program, *args, **mapped):
    """The results of `vmap(program(numpy, lax, transforms))` here and in jax."""
    ours = pc.vmap(program(pnp, lax, pc), **mapped)(*args)
    theirs = jax.vmap(program(jnp, jax.lax, jax), **mapped)(*args)
    return ours, theirs


# All collectives: the samples of the table have all members of the axis 'i'.


def samples(name):
    return list(COLLECTIVES[name].sampler(np.random.default_rng(0)))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_mapped_is_the_reference(name):
    primitive = COLLECTIVES[name]
    for args, params in samples(name):
        want = primitive.reference(*args, **params)
        one = pc.vmap(lambda *xs, p=params: primitive.bind(*xs, **p), axis_name="i", axis_size=reductions.MEMBERS)
        np.testing.assert_allclose(one(*args), want, rtol=1e-6, err_msg=str(params))
        if not args:
            continue
        # The axis in the middle, an axis of another vmap around it, and one inside.
        x = args[0]
        inner = pc.vmap(one, in_axes=-1, out_axes=-1)
        stacked = np.stack([x, 2 * x], axis=-1)
        np.testing.assert_allclose(inner(stacked), np.stack([want, 2 * want], -1), rtol=1e-6, err_msg=str(params))
        for dim in range(x.ndim):
            apply = pc.vmap(lambda y, p=params: primitive.bind(y, **p), in_axes=dim, out_axes=dim)
            apply = pc.vmap(apply, axis_name="i")
            stacked = np.stack([x, 2 * x], axis=dim + 1)
            outside = [out if out.ndim >= dim + 1 else None for out in [want]]
            if outside[0] is None or np.ndim(want) <= dim:
                continue
            np.testing.assert_allclose(apply(stacked), np.stack([want, 2 * want], dim + 1), rtol=1e-6)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_shape_rules_say_what_comes(name):
    primitive = COLLECTIVES[name]
    for args, params in samples(name):
        avals = [pc.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in args]
        graph = pc.make_jaxpr(lambda *xs, p=params: primitive.bind(*xs, **p), axis_env=[("i", 4)])(*avals)
        want = primitive.reference(*args, **params)
        (aval,) = graph.out_avals
        assert (aval.shape, aval.dtype) == (want.shape[1:], want.dtype)
        assert graph.axis_names == {"i"}


@pytest.mark.parametrize("name", [name for name in COLLECTIVES if COLLECTIVES[name].jvp])
def test_derivatives_of_the_mapped_function(name):
    """The function of all members: forward mode by differences, reverse mode as its transpose."""
    primitive = COLLECTIVES[name]
    rng = np.random.default_rng(1)
    floats = [((x,), params) for (x,), params in samples(name) if rules.kind(x.dtype) == "f"]
    assert floats
    for (x,), params in floats:
        mapped = pc.vmap(lambda y, p=params: primitive.bind(y, **p), axis_name="i")
        t = rng.normal(size=x.shape).astype(np.float32)
        out, tangent = pc.jvp(mapped, (x,), (t,))
        step = 1e-3
        wide = [primitive.reference(x.astype(np.float64) + s * step * t, **params) for s in (1, -1)]
        np.testing.assert_allclose(tangent, (wide[0] - wide[1]) / (2 * step), rtol=1e-3, atol=1e-4)
        _, pull_back = pc.vjp(mapped, x)
        ct = rng.normal(size=out.shape).astype(np.float32)
        np.testing.assert_allclose(np.sum(pull_back(ct)[0] * t), np.sum(tangent * ct), rtol=1e-4, atol=1e-4)


# The functions of lax.

FUNCTIONS = {
    "psum": lambda np, lax: lambda x: lax.psum(x, "i"),
    "psum of a tree": lambda np, lax: lambda x: lax.psum({"a": x, "b": (x > 2, x[0])}, "i"),
    "psum of dimensions": lambda np, lax: lambda x: lax.psum(x, (0, "i")),
    "pmean": lambda np, lax: lambda x: lax.pmean((x, np.int32(3) * (x > 1)), "i"),
    "pmax": lambda np, lax: lambda x: lax.pmax(x, "i"),
    "pmin": lambda np, lax: lambda x: lax.pmin([x, x.sum()], "i"),
    "pmax of bools": lambda np, lax: lambda x: (lax.pmax(x > 3, "i"), lax.pmin(x > 3, "i")),
    "axis_index": lambda np, lax: lambda x: x[0] * lax.axis_index("i"),
    "axis_size": lambda np, lax: lambda x: x * lax.axis_size("i"),
    "all_gather": lambda np, lax: lambda x: lax.all_gather(x, "i"),
    "all_gather at 1": lambda np, lax: lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather tiled": lambda np, lax: lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
    "psum_scatter": lambda np, lax: lambda x: lax.psum_scatter(np.stack([x, x + 1, x * 2, x - 1]), "i"),
    "psum_scatter tiled": lambda np, lax: (
        lambda x: lax.psum_scatter(np.concatenate([x, x, x, x], 1), "i", scatter_dimension=1, tiled=True)
    ),
    "ppermute": lambda np, lax: lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "pshuffle": lambda np, lax: lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]),
    "pswapaxes": lambda np, lax: lambda x: lax.pswapaxes(np.stack([x, x + 1, x * 2, x - 1], 1), "i", 1),
    "pbroadcast": lambda np, lax: lambda x: lax.pbroadcast(x, "i", 2),
    "psum of a constant": lambda np, lax: lambda x: x + lax.psum(2.5, "i"),
    "pmax of a constant": lambda np, lax: lambda x: x + lax.pmax(2.5, "i"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_beside_jax(name):
    ours, theirs = both(lambda np, lax, _: FUNCTIONS[name](np, lax), X, axis_name="i")
    equal(ours, theirs)
    jitted = pc.jit(pc.vmap(pc.jit(FUNCTIONS[name](pnp, lax)), axis_name="i"))
    equal(jitted(X), theirs)


@pytest.mark.parametrize(
    ("split", "concat", "tiled"), [*itertools.product((0, 1, 2), (0, 1, 2), (False,)), (0, 2, True), (2, 2, True)]
)
def test_all_to_all_beside_jax(split, concat, tiled):
    x = np.arange(4**4, dtype=np.int32).reshape(4, 4, 4, 4)
    ours, theirs = both(
        lambda np, lax, _: lambda x: lax.all_to_all(x, "i", split, concat, tiled=tiled), x, axis_name="i"
    )
    equal(ours, theirs)


def test_groups():
    # jax's vmap has none.
    groups = [[0, 2], [3, 1]]
    x = np.arange(16, dtype=np.int32).reshape(4, 4)
    scatter = pc.vmap(lambda x: lax.psum_scatter(x, "i", axis_index_groups=groups, tiled=True), axis_name="i")
    np.testing.assert_array_equal(scatter(x), [[8, 10], [20, 22], [12, 14], [16, 18]])
    mean = pc.vmap(lambda x: lax.pmean(x, "i", axis_index_groups=groups), axis_name="i")
    np.testing.assert_array_equal(mean(x[:, 0]), [4, 8, 4, 8])
    size = pc.vmap(lambda x: lax.psum(1, "i", axis_index_groups=groups), axis_name="i", out_axes=None)
    assert size(x) == 2
    with pytest.raises(ValueError, match="psum: axis_index_groups must be of one size, and hold every index"):
        pc.vmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [1, 2]]), axis_name="i")(x)
    with pytest.raises(ValueError, match="must hold every index of the axis 'i' once, which has 4"):
        pc.vmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]), axis_name="i")(x)


# Several names.

NAMES = [("i", "j"), ("j", "i"), ("j",), "i"]
OVER_SEVERAL = {
    "psum": lambda x, names: lax.psum(x, names),
    "pmax": lambda x, names: lax.pmax(x, names),
    "axis_index": lambda x, names: lax.axis_index(names) + lax.axis_size(names) * 100,
    "all_gather": lambda x, names: lax.all_gather(x, names, axis=1),
    "tiled": lambda x, names: lax.all_gather(x, names, axis=1, tiled=True),
    "psum_scatter": lambda x, names: lax.psum_scatter(pnp.arange(6.0)[: lax.axis_size(names), None] * x[0], names),
    "divided": lambda x, names: lax.psum_scatter(pnp.arange(12.0) * x[0, 0], names, tiled=True),
    "all_to_all": lambda x, names: lax.all_to_all(x[0, 0] * pnp.arange(24.0).reshape(2, 12), names, 1, 0, tiled=True),
    "ppermute": lambda x, names: lax.ppermute(x, names, [(0, 1), (1, 0)]),
    "pbroadcast": lambda x, names: lax.pbroadcast(x, names, 1),
}


@pytest.mark.parametrize("name", OVER_SEVERAL)
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_several_axes_are_one(name, names):
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 2)).astype(np.float32)
    function = OVER_SEVERAL[name]
    nested = pc.vmap(pc.vmap(lambda y: function(y, names), axis_name="j"), axis_name="i")(x)
    if len(names) == 2:
        flat = x if names == ("i", "j") else x.swapaxes(0, 1)
        one = np.asarray(pc.vmap(lambda y: function(y, "n"), axis_name="n")(flat.reshape(6, 2, 2)))
        want = one.reshape(*flat.shape[:2], *one.shape[1:])
        want = want if names == ("i", "j") else want.swapaxes(0, 1)
    elif names == "i":
        want = pc.vmap(pc.vmap(lambda y: function(y, "i"), axis_name="i"), in_axes=1, out_axes=1)(x)
    else:
        want = pc.vmap(pc.vmap(lambda y: function(y, "j"), axis_name="j"))(x)
    np.testing.assert_allclose(nested, want, rtol=1e-5)


# Errors.


def test_an_unbound_name_is_told():
    def here(x):
        return lax.psum(x, "k")

    message = (
        r"(?s)test_parallel.py:\d+ \(.*here\).*psum: there is no axis named 'k' here; the names in scope are: 'i', 'j'"
    )
    with pytest.raises(NameError, match=message):
        pc.vmap(pc.vmap(here, axis_name="j"), axis_name="i")(X)
    with pytest.raises(NameError, match="axis_index: there is no axis named 'i' here; the names in scope are: none"):
        lax.axis_index("i")
    # The name ends with the function, also if it raises.
    with pytest.raises(ZeroDivisionError):
        pc.vmap(lambda x: x / (1 // 0), axis_name="i")(X)
    with pytest.raises(NameError, match="names in scope are: none"):
        pc.jit(lambda x: lax.pmean(x, "i"))(1.0)


def test_what_is_mapped_outside_is_not_compiled_alone():
    def fun(x):
        return pc.jit(lambda y: lax.psum(y, "i")).lower(x).as_text()

    with pytest.raises(NameError, match=r"(?s)test_parallel.py.*psum: the axis 'i' is mapped outside of this function"):
        pc.vmap(fun, axis_name="i")(X)


BAD = [
    (lambda x: lax.psum(x, ["i", "i"]), ValueError, "psum: an axis is named twice"),
    (lambda x: lax.psum(x, {}), TypeError, "psum: axis_name must be hashable, got {} of type dict"),
    (lambda x: lax.psum("x", "i"), TypeError, "psum: takes arrays and scalars, got 'x' of type str"),
    (lambda x: lax.all_gather(x, "i", axis=3), ValueError, "all_gather: axis 3 is out of range"),
    (lambda x: lax.psum_scatter(x, "i"), ValueError, "psum_scatter: dimension 0 .* one element for each of the 4"),
    (lambda x: lax.psum_scatter(x, "i", tiled=True), ValueError, "psum_scatter: dimension 0 .* can't be divided"),
    (lambda x: lax.all_to_all(x, "i", 0, 0), ValueError, r"all_to_all: dimension 0 of f32\[2,3\] must have"),
    (lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), ValueError, "all_to_all: dimension 0 .* can't be divided"),
    (lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]), ValueError, "the sources in perm must be distinct indices"),
    (lambda x: lax.ppermute(x, "i", [(0, 4)]), ValueError, "the destinations in perm must be distinct"),
    (lambda x: lax.pshuffle(x, "i", [0, 1, 1, 2]), ValueError, "pshuffle: perm must be a permutation of the 4"),
    (lambda x: lax.pbroadcast(x, "i", 4), ValueError, "pbroadcast: source 4 is none of the 4 members of 'i'"),
    (lambda x: lax.psum(x, (0, "i"), axis_index_groups=[[0], [1]]), ValueError, "axis_index_groups need a named axis"),
]


@pytest.mark.parametrize(("fun", "error", "message"), BAD)
def test_bad_arguments_are_told(fun, error, message):
    with pytest.raises(error, match=message):
        pc.vmap(fun, axis_name="i")(X)


@pytest.mark.parametrize("dtype", ["int32", "int8", "bool"])
def test_the_mean_of_integers_promotes_nothing(dtype):
    with pc.numpy_dtype_promotion("strict"):
        mean = pc.vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(np.asarray([1, 0], dtype))
    np.testing.assert_array_equal(mean, np.float32([0.5, 0.5]))
    assert mean.dtype == np.float32
