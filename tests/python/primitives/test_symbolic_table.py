"""All primitives of the table at symbolic sizes: shape rule, jvp, transpose and batching give the static shapes.

The sizes of each sampler become symbols if the rule allows it: all equal sizes become one symbol, alone and together.
"""

import functools

import pytest
from symbolic_samples import NAMES, at, symbolic

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import PRIMITIVES, rules


def shapes_of(function, avals, sizes=None):
    """The shapes and dtypes of a function's results, for avals, or for their values at some sizes."""
    given = [pc.ShapeDtypeStruct(a.shape if sizes is None else at(a.shape, sizes), a.dtype) for a in avals]
    out = pc.make_jaxpr(function, return_shape=True)(*given)[1]
    return [(x.shape, x.dtype) for x in pc.tree.leaves(out)]


def itself(apply, avals):
    return apply, avals


def mapped(apply, avals):
    return pc.vmap(apply), [ShapedArray((Dim("batch"), *a.shape), a.dtype) for a in avals]


def mapped_in_part(apply, avals):
    """Over the last axis of the first argument alone."""
    axes = [len(avals[0].shape)] + [None] * (len(avals) - 1)
    first = ShapedArray((*avals[0].shape, Dim("batch")), avals[0].dtype)
    return pc.vmap(apply, in_axes=axes), [first, *avals[1:]]


def of_floats(apply, avals):
    """The function of the arguments that are not integers, with these results; these arguments come first."""
    places = [i for i, a in enumerate(avals) if rules.kind(a.dtype) in "fc"]

    def split(args):
        def part(*floats):
            given = dict(zip(places, floats, strict=True))
            out = apply(*[given.get(i, x) for i, x in enumerate(args)])
            return [x for x in (out if isinstance(out, tuple) else (out,)) if rules.kind(x.dtype) in "fc"]

        return part, [args[i] for i in places]

    return split


def pushed_forward(apply, avals):
    split = of_floats(apply, avals)

    def jvp(*args):
        part, floats = split(args)
        return pc.jvp(part, floats, floats)

    return jvp, avals


def pulled_back(apply, avals):
    split = of_floats(apply, avals)

    def vjp(*args):
        part, floats = split(args)
        out, pull = pc.vjp(part, *floats)
        return out, pull(out)

    return vjp, avals


def check(name, transformed):
    """Check that a transformation of a primitive has the static shapes, at the sampled sizes and at greater ones."""
    primitive = PRIMITIVES[name]
    compared = left_out = 0
    for avals, params, sampled, _ in symbolic(name):
        static = []
        try:
            for more in (0, 2):
                sizes = {"batch": 3 + more, **{key: size + more for key, size in sampled.items()}}
                fixed = {k: at(v, sizes) for k, v in params.items()}
                function, given = transformed(functools.partial(primitive.bind, **fixed), avals)
                static.append((sizes, shapes_of(function, given, sizes)))
        except (NotDifferentiableError, NotImplementedError, ValueError):
            continue  # there is no such derivative
        try:
            function, given = transformed(functools.partial(primitive.bind, **params), avals)
            found = shapes_of(function, given)
        except ValueError:
            left_out += 1
            continue
        for sizes, expected in static:
            assert [(at(shape, sizes), dtype) for shape, dtype in found] == expected, (avals, params)
        compared += 1
    return compared, left_out


# Samples that are an error at some symbolic sizes, with the reason.
LEFT_OUT = {
    **dict.fromkeys(
        [(name, way) for name in ("qr", "lu", "svd") for way in (pushed_forward, pulled_back)],
        "whether there are more rows or columns decides the rule",
    ),
    ("cumlogsumexp", pushed_forward): "along the axis it is a tree whose depth the size decides",
    ("cumlogsumexp", pulled_back): "along the axis it is a tree whose depth the size decides",
    ("conv_general_dilated", mapped): "each example is a group of its own, and the number of groups is fixed",
}


DERIVATIVES = (pushed_forward, pulled_back)
# Primitives without a derivative for some arguments: for all of them, the error says so at all sizes.
NOT_BY_ALL = {
    *("bessel_j", "betainc", "expn", "geqp3", "geqrf", "hessenberg", "householder_product", "hyp1f1_grad_a"),
    *("hyp1f1_grad_b", "hyp2f1_grad_a", "hyp2f1_grad_c", "igamma_grad_a", "ormqr", "polygamma", "random_gamma_grad"),
    *("schur", "sph_legendre", "tridiagonal", "zeta_grad_x"),
}


def ways(name):
    """The transformations of a primitive; without arguments, none that needs them."""
    if name in ("iota", "dim_as_value"):
        return (itself,)
    return (itself, mapped, mapped_in_part, *(DERIVATIVES if PRIMITIVES[name].jvp is not None else ()))


@pytest.mark.parametrize(("name", "transformed"), [(name, way) for name in NAMES for way in ways(name)])
def test_symbolic_sizes_give_the_static_shapes(name, transformed):
    with enable_x64(True):
        compared, left_out = check(name, transformed)
    assert bool(left_out) == ((name, transformed) in LEFT_OUT)
    without = transformed in DERIVATIVES and name in NOT_BY_ALL
    without |= (name, transformed) == ("conv_general_dilated", mapped)
    assert (compared == 0) == without, f"{compared} samples have symbols"
