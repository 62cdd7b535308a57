"""The mesh axes over which results of loops and branches may differ: those of the values that they depend on."""

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
V = np.arange(8, dtype=np.float32)
PARTS = V.reshape(4, 2)


@pc.custom_jvp
def summed(v):
    return lax.psum(v, "x") * pnp.ones(2)


summed.defjvp(lambda primals, tangents: (summed(*primals), lax.psum(tangents[0], "x") * pnp.ones(2)))


def chosen(x):
    """The index differs, and so do the branches' constants."""
    return lax.cond(x.sum() > 3, lambda: x * 2, lambda: x + pnp.ones(2))


def looped(x):
    return lax.while_loop(lambda c: c.sum() < 30, lambda c: c * 2 + pnp.ones(2), x)


def until_thirty(part):
    while part.sum() < 30:
        part = part * 2 + 1
    return part


ONLY_X = {
    "cond": (chosen, [part * 2 if part.sum() > 3 else part + 1 for part in PARTS]),
    "switch": (
        lambda x: lax.switch(x.astype(int)[0], [lambda v: v * 2, lambda v: v + pnp.ones(2)], x),
        [part * 2 if part[0] == 0 else part + 1 for part in PARTS],
    ),
    "scan": (lambda x: lax.scan(lambda c, r: (c * 2 + r, c), 0.0, x)[1], [[0, part[0]] for part in PARTS]),
    "fori": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + pnp.arange(2.0), x), PARTS * 8 + [0, 7]),
    "while": (looped, list(map(until_thirty, PARTS))),
    "checkpoint": (lambda x: pc.checkpoint(lambda v: v * pnp.arange(2.0))(x), PARTS * [0, 1]),
    "nested": (
        lambda x: lax.fori_loop(0, 2, lambda i, c: lax.cond(i > 0, chosen, lambda c: c, c), x),
        [part * 2 if part.sum() > 3 else part + 1 for part in PARTS],
    ),
}
# Sums over the axis are equal on its devices.
NOTHING = {
    "cond": (lambda x: lax.cond(lax.psum(x.sum(), "x") > 3, lambda v: v * 2, lambda v: v, pnp.ones(2)), [2, 2]),
    "scan": (lambda x: lax.scan(lambda c, r: (c + lax.psum(r, "x"), r), 0.0, x)[0], 28),
    "fori": (lambda x: lax.fori_loop(0, 2, lambda i, c: c + lax.psum(x * i, "x"), pnp.zeros(2)), [12, 16]),
    "while": (lambda x: lax.while_loop(lambda c: c < 9, lambda c: c + lax.pmax(x.sum(), "x"), 0.0), 13),
    "checkpoint": (lambda x: pc.checkpoint(lambda v: lax.psum(v, "x") * pnp.ones(2))(x), [12, 16]),
    "custom_jvp": (summed, [12, 16]),
}


@pytest.mark.parametrize("name", ONLY_X)
def test_they_differ_over_the_axes_of_what_they_are_given(name):
    f, wanted = ONLY_X[name]
    found = pc.shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(V)
    np.testing.assert_array_equal(found, np.ravel(wanted))
    with pytest.raises(ValueError, match=r"may differ over the mesh axes 'x'\. Its"):
        pc.shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P())(V)


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_summed_inside_does_not_differ(name):
    f, wanted = NOTHING[name]
    np.testing.assert_array_equal(pc.shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P())(V), wanted)


def test_what_chooses_or_ends_differs():
    def choose(x):
        return lax.cond(x.sum() > 3, lambda: 1.0, lambda: 2.0)

    def count(x):
        return lax.while_loop(lambda c: c[0] < 30, lambda c: (c[0] * 2 + 1, c[1] + 1), (x.sum(), 0))[1]

    def index(x):
        return lax.cond(lax.axis_index("y") > 0, lambda: x, lambda: -x)

    for f, axes in ((choose, "'x'"), (count, "'x'"), (index, "'x', 'y'")):
        with pytest.raises(ValueError, match=rf"may differ over the mesh axes {axes}\. Its"):
            pc.shard_map(f, mesh=MESH, in_specs=P("x"), out_specs=P())(V)
    found = pc.shard_map(index, mesh=MESH, in_specs=P("x"), out_specs=P(("x", "y")))(V)
    np.testing.assert_array_equal(found, np.stack([-PARTS, PARTS], 1).ravel())


LOSSES = {
    "scan": lambda w, x: lax.scan(lambda c, r: (pnp.sin(c * w) + r * w, c * w), x[0], x)[0],
    "fori": lambda w, x: lax.fori_loop(0, 3, lambda i, c: c * w + x.sum(), x[0]),
    "cond": lambda w, x: lax.cond(x.sum() > 6, lambda: w * x.sum(), lambda: w * w),
    "sum in a branch": lambda w, x: lax.cond(
        lax.psum(x.sum(), "x") > 6, lambda w: lax.psum(w * x.sum(), "x"), lambda w: w * w, w
    ),
    "while": lambda w, x: lax.while_loop(lambda c: c < 20, lambda c: c * w + 1, x.sum(), max_steps=8),
}


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_that_are_not_checked(name):
    f = LOSSES[name]
    w, scale = np.float32(1.5), np.arange(1, 5, dtype=np.float32)

    def gradient(check_vma):
        mapped = pc.shard_map(
            lambda w, x: f(w, x)[None], mesh=MESH, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=check_vma
        )
        return pc.jit(pc.grad(lambda w, x: (mapped(w, x) * scale).sum(), (0, 1)))(w, V), mapped

    (checked, mapped), (unchecked, _) = gradient(True), gradient(False)
    for a, b in zip(checked, unchecked, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    inside = pc.shard_map(
        lambda w, x: pc.grad(lambda w: lax.psum(f(w, x), "x"))(w), mesh=MESH, in_specs=(P(), P("x")), out_specs=P()
    )
    np.testing.assert_allclose(inside(w, V), pc.grad(lambda w: mapped(w, V).sum())(w), rtol=1e-5)


def test_what_is_mapped_inside_differs_as_before():
    def power(v, p):
        return lax.cond(v > 0, lambda: v**p, lambda: v * 3)

    def mapped(x, p):
        return pc.vmap(power, (0, None))(x, p)

    x = V - 3
    over = pc.shard_map(mapped, mesh=MESH, in_specs=(P("x"), P()), out_specs=P("x"))
    np.testing.assert_array_equal(over(x, np.float32(2)), mapped(x, np.float32(2)))
    found = pc.grad(lambda x, p: over(x, p).sum(), (0, 1))(x, np.float32(2))
    for a, b in zip(found, pc.grad(lambda x, p: mapped(x, p).sum(), (0, 1))(x, np.float32(2)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_branches_without_results_have_their_effects(capsys):
    def show(x):
        lax.cond(x.sum() > 9, lambda: pc.debug.print("sum {}", x.sum()), lambda: None)
        return x

    pc.shard_map(show, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(V)
    pc.effects_barrier()
    assert sorted(capsys.readouterr().out.split("\n")[:-1]) == ["sum 13.0"] * 2


def test_types_on_a_device_are_types_of_arrays():
    seen = []

    def look(x):
        kind = pc.typeof(x)
        seen.append((repr(kind), str(kind), kind.mat.varying, x.ndim))
        assert kind == pc.typeof(2 * x)
        assert {kind: 1}[pc.typeof(2 * x)] == 1
        assert not pc.typeof(np.float32(1)).mat.varying
        with pytest.raises(AttributeError, match=r"typeof\(x\).mat tells along which axes x varies"):
            _ = kind.aval.mat
        return x

    pc.shard_map(look, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(V)
    assert seen == [("ShapedArray(float32[2])", "f32[2]", {"x"}, 1)]
