"""`shard_map` on a mesh of eight devices, against eight threads of plain Python."""

import numpy as np
import plain
import pytest
import slopes
from meshes import auto_mesh
from plain_devices import Devices
from plain_transforms import Transforms

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
PLAIN = Devices(x=4, y=2)
A = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
B = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
V = np.arange(8, dtype=np.float32)


def both(fun, in_specs, out_specs, **options):
    """The function for pycompiler and in plain Python; `fun` takes the modules."""
    ours = pc.shard_map(lambda *xs: fun(pc, lax, *xs), mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)
    return ours, PLAIN.shard_map(lambda *xs: fun(PLAIN.module, PLAIN.lax, *xs), in_specs, out_specs)


def close(got, wanted, tolerance=1e-5):
    for x, y in zip(pc.tree.leaves(got), pc.tree.leaves(wanted), strict=True):
        assert x.shape == y.shape
        assert x.dtype == np.float32
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


CASES = {
    "local": (lambda m, c, x: x * 2 + 1, (P("x", "y"),), P("x", "y"), (A,)),
    "psum": (lambda m, c, x: c.psum(x, "x"), (P("x"),), P(), (V,)),
    "psum of both": (lambda m, c, x: c.psum(x, ("x", "y")), (P(("x", "y")),), P(), (V,)),
    "pmean": (lambda m, c, x: c.pmean(x, "y"), (P("x", "y"),), P("x"), (A,)),
    "pmax": (lambda m, c, x: c.pmax(x, "x") - c.pmin(x, "x"), (P("x"),), P(), (V,)),
    "gather": (lambda m, c, x: c.all_gather(x, "x", tiled=True) * 2, (P("x"),), P("x"), (V,)),
    "stacked": (lambda m, c, x: c.all_gather(x, "y"), (P(None, "y"),), P("y"), (A,)),
    "scatter": (lambda m, c, x: c.psum_scatter(x, "x", tiled=True), (P(None, "y"),), P("x", "y"), (A,)),
    "exchange": (
        lambda m, c, x: c.all_to_all(x, "y", 0, 1, tiled=True),
        (P("x", "y"),),
        P(("x", "y"), None),
        (A,),
    ),
    "permute": (
        lambda m, c, x: c.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]),
        (P("x"),),
        P("x"),
        (V,),
    ),
    "index": (lambda m, c, x: x + 10 * c.axis_index("x") + c.axis_index("y"), (P("x", "y"),), P("x", "y"), (A,)),
    "product": (
        lambda m, c, a, b: c.psum(a @ b, "y"),
        (P("x", "y"), P("y")),
        P("x"),
        (A, B),
    ),
    "tree": (
        lambda m, c, t, s: {"a": t["a"] + s, "b": (c.psum(t["b"].sum(), ("x", "y")), s * 3)},
        ({"a": P("x"), "b": P(None, ("x", "y"))}, P()),
        {"a": P("x"), "b": (P(), P())},
        ({"a": V, "b": np.ones((3, 8), np.float32)}, np.float32(2)),
    ),
    "constant": (lambda m, c, x: m.numpy.ones((2,)), (P("x"),), P("x"), (V,)),
    "scan": (
        lambda m, c, x: c.scan(lambda s, r: (s + c.psum(r, "x"), s * r), m.numpy.zeros(2), x.reshape(2, 2))[1],
        (P("x"),),
        P("x"),
        (np.arange(16, dtype=np.float32),),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    fun, in_specs, out_specs, args = CASES[name]
    options = {"check_vma": False} if name == "scan" else {}
    ours, theirs = both(fun, in_specs, out_specs, **options)
    close(ours(*args), theirs(*args))


def test_it_is_part_of_what_is_compiled():
    fun, in_specs, out_specs, args = CASES["product"]
    ours, _ = both(fun, in_specs, out_specs)
    close(pc.jit(lambda a, b: pnp.sin(ours(a * 2, b)).sum(0))(*args), np.sin(2 * A @ B).sum(0), 1e-4)


def test_results_are_where_the_specs_say():
    x = pc.shard_map(lambda x: x + 1, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(V)
    assert x.sharding == NamedSharding(MESH, P("x"))
    assert {shard.data.shape for shard in x.addressable_shards} == {(2,)}
    y = pc.shard_map(lambda x: lax.psum(x, "x"), mesh=MESH, in_specs=P("x"), out_specs=P())(x)
    assert y.is_fully_replicated
    assert y.shape == (2,)


GRADIENTS = [
    *((name, True) for name in ["psum", "gather", "scatter", "exchange", "permute", "product"]),
    *((name, False) for name in ["local", "psum of both", "pmean", "product", "scan"]),
]


@pytest.mark.parametrize(("name", "check_vma"), GRADIENTS)
def test_gradients(name, check_vma):
    fun, in_specs, out_specs, args = CASES[name]
    ours, theirs = both(fun, in_specs, out_specs, check_vma=check_vma)
    numbers = tuple(range(len(args)))

    def loss(f):
        return lambda *xs: (f(*xs) ** 2).sum()

    wanted = slopes.gradients(loss(theirs), args)
    close(pc.jit(pc.grad(loss(ours), numbers))(*args), wanted, 1e-4)
    if name == "product":
        close(pc.grad(loss(ours), numbers)(*args), wanted, 1e-4)


def test_the_derivative_of_the_derivative():
    fun, in_specs, out_specs, args = CASES["product"]
    ours, _ = both(fun, in_specs, out_specs)
    inner = pc.grad(lambda a, b: (ours(a, b) ** 3).sum())
    got = pc.jit(pc.grad(lambda a, b: (inner(a, b) ** 2).sum(), (0, 1)))(*args)
    # The whole function is a product, and this is the first derivative of its third power.
    close(got, slopes.gradients(lambda a, b: ((3 * (a @ b) ** 2 @ b.T) ** 2).sum(), args), 1e-2)


def test_jvp_and_vmap():
    fun, in_specs, out_specs, args = CASES["product"]
    ours, theirs = both(fun, in_specs, out_specs)
    tangents = tuple(x * 0.5 + 1 for x in args)
    close(pc.jvp(ours, args, tangents), slopes.derivatives(theirs, args, tangents))
    many = tuple(np.stack([x, x + 1, x * 2]) for x in args)
    close(pc.vmap(ours)(*many), Transforms().vmap(theirs)(*many), 1e-4)
    wanted = np.moveaxis(Transforms().vmap(theirs, (0, None))(many[0], args[1]), 0, 1)
    close(pc.vmap(ours, (0, None), 1)(many[0], args[1]), wanted, 1e-4)
    named = pc.shard_map(lambda x: lax.psum(x, ("x", "v")), mesh=MESH, in_specs=P("x"), out_specs=P())
    got = pc.vmap(named, axis_name="v")(np.stack([V, V + 1]))
    total = (V.reshape(4, 2).sum(0) * 2) + 4
    np.testing.assert_allclose(np.asarray(got), [total, total])


# Derivatives inside, by a value that is equal on all devices: those of the sum of the devices' values, where a value
# that is equal on several devices by its type counts once. The number says on how many.
INSIDE = {
    "loss": (lambda m, c, w, x: c.psum(((x @ w) ** 2).sum(), ("x", "y")), 8),
    "local loss": (lambda m, c, w, x: ((x @ w) ** 2).sum(), 1),
    "mean": (lambda m, c, w, x: c.pmean(m.numpy.sin(x @ w).sum(), ("x", "y")), 8),
    "penalty": (lambda m, c, w, x: (w**2).sum() + c.psum((x @ w).sum(), ("x", "y")), 8),
    "product": (lambda m, c, w, x: c.psum((x @ w).sum() ** 2, "x") * (w**2).sum(), 4),
    "gathered": (lambda m, c, w, x: (c.all_gather(x @ w, "x") ** 2).sum() * w.sum(), 1),
}


@pytest.mark.parametrize("name", INSIDE)
def test_gradients_inside(name):
    fun, copies = INSIDE[name]
    w, specs = B[:, 0], (P(), P(("x", "y")))

    def step(w, x):
        return pc.grad(lambda w: fun(pc, lax, w, x))(w)

    def total(w):
        each = PLAIN.shard_map(lambda w, x: fun(PLAIN.module, PLAIN.lax, w, x)[None], specs, P(("x", "y")))
        return each(w, A).sum() / copies

    ours = pc.shard_map(step, mesh=MESH, in_specs=specs, out_specs=P())
    close(ours(w, A), slopes.gradient(total, w), 1e-4)


def test_a_step_of_training():
    def step(w, x, y):
        def loss(w):
            h = pnp.tanh(x @ w["a"] + w["b"])
            return ((h.sum(1) - y) ** 2).mean()

        value, gradient = pc.value_and_grad(loss)(w)
        gradient = lax.pmean(gradient, ("x", "y"))
        new = pc.tree.map(lambda a, g: a - 0.1 * g, w, gradient)
        return new, lax.pmean(value, ("x", "y"))

    def losses(a, b):
        """Those of the devices, of which each has one row."""
        return (np.tanh(A @ a + b).sum(1) - V) ** 2

    a, b = B, np.zeros(6, np.float32)
    specs = (P(), P(("x", "y")), P(("x", "y")))
    ours = pc.shard_map(step, mesh=MESH, in_specs=specs, out_specs=(P(), P()))
    # The derivative by a value that is on all devices is that of their sum.
    of_a, of_b = slopes.gradients(lambda a, b: losses(a, b).sum(), (a, b))
    close(ours({"a": a, "b": b}, A, V), ({"a": a - 0.1 * of_a, "b": b - 0.1 * of_b}, losses(a, b).mean()), 1e-4)


def test_loops_need_no_casts():
    def local(x):
        return lax.scan(lambda s, r: (s + lax.psum(r, "x"), s * r), pnp.zeros(2), x.reshape(2, 2))[1]

    x = np.arange(16, dtype=np.float32)
    checked = pc.shard_map(local, mesh=MESH, in_specs=P("x"), out_specs=P("x"))
    unchecked = pc.shard_map(local, mesh=MESH, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    close(checked(x), unchecked(x))
    loss = [lambda x, f=f: (f(x) ** 2).sum() for f in (checked, unchecked)]
    close(pc.grad(loss[0])(x), pc.grad(loss[1])(x))


def test_a_cast_says_where_shares_are_summed():
    def local(w, x):
        varying = lax.pcast(w, ("x", "y"), to="varying")
        return pc.grad(lambda v: (v * x).sum())(varying)[None]

    f = pc.shard_map(local, mesh=MESH, in_specs=(P(), P(("x", "y"))), out_specs=P(("x", "y")))
    close(f(np.ones(1, np.float32), V), V[:, None])
    with pytest.raises(ValueError, match="'varying'"):
        lax.pcast(V, "x", to="reduced")


def test_what_is_closed_over_is_on_every_device():
    w = pnp.arange(2.0)
    f = pc.shard_map(lambda x: x * w, mesh=MESH, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(np.asarray(f(V)), V * np.tile([0, 1], 4))

    def loss(w):
        return pc.shard_map(lambda x: x * w, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(V).sum()

    np.testing.assert_allclose(np.asarray(pc.grad(loss)(w)), V.reshape(4, 2).sum(0))


def test_loops_and_branches_around_it():
    f, g = both(lambda m, c, x: c.psum(x, "x") * 0.1 + x, (P("x"),), P("x"))

    def program(module, f):
        def run(x):
            x, ys = module.lax.scan(lambda c, _: (f(c), c.sum()), x, None, length=3)
            x = module.lax.fori_loop(0, 3, lambda i, c: f(c) * 0.5, x)
            return module.lax.cond(x.sum() > 0, f, lambda x: x, x), ys

        return run

    close(pc.jit(program(pc, f))(V), program(plain, g)(V), 1e-4)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: pc.shard_map(lambda a: a, mesh=MESH, in_specs=P("x"), out_specs=P("x"))(np.ones(7, np.float32)),
            ValueError,
            r"shard_map: in_specs for argument 'a' .*of size 7.*'x' \(of size 4\).*What to do",
        ),
        (
            lambda: pc.shard_map(lambda a: a, mesh=MESH, in_specs=P("x"), out_specs=P())(V),
            ValueError,
            "may differ over the mesh axes 'x'(.|\n)*lax.psum",
        ),
        (
            lambda: pc.shard_map(lambda a: lax.psum(a, "z"), mesh=MESH, in_specs=P("x"), out_specs=P())(V),
            NameError,
            "'z'",
        ),
        (lambda: pc.shard_map(lambda a: a, mesh=MESH, out_specs=P()), ValueError, "in_specs must be given"),
        (
            lambda: pc.shard_map(lambda a: a, mesh=MESH, in_specs=(P(), P()), out_specs=P())(V),
            ValueError,
            "in_specs is not a prefix",
        ),
        (
            lambda: pc.shard_map(lambda a: a, mesh=MESH, in_specs=P(), out_specs=P("x", "y"))(V),
            ValueError,
            "2 entries, for an array of 1 dim",
        ),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_an_unchecked_result_may_differ():
    f = pc.shard_map(lambda a: a, mesh=MESH, in_specs=P("x"), out_specs=P(), check_vma=False)
    np.testing.assert_array_equal(np.asarray(f(V)), [0, 1])


def test_its_module_is_that_of_one_participant():
    f = pc.shard_map(lambda a: a * 2, mesh=MESH, in_specs=P("x"), out_specs=P("x"))
    assert "shard_map" in str(pc.make_jaxpr(f)(V))
    lowered = pc.jit(f).lower(V)
    assert f"tensor<{V.shape[0] // 4}x" in lowered.as_text()
    np.testing.assert_array_equal(lowered.compile()(V), 2 * np.asarray(V))


def test_it_is_traced_once():
    count = []

    def local(x):
        count.append(1)
        return x

    f = pc.shard_map(local, mesh=MESH, in_specs=P("x"), out_specs=P("x"))
    for _ in range(3):
        f(V)
    assert len(count) == 1


def test_no_value_is_kept_after_the_call():
    mesh = pc.make_mesh((1,), ("x",))
    doubled = pc.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    with pc.checking_leaks():
        np.testing.assert_array_equal(doubled(np.arange(3)), [0, 2, 4])
        np.testing.assert_array_equal(pc.jit(doubled)(np.arange(3)), [0, 2, 4])


SMAPS = {
    "in front": (0, 0, lambda m, x: x * 2 + m.lax.axis_index("x").astype(np.float32)),
    "behind": (1, 0, lambda m, x: x.T * 2),
    "equal": (None, None, lambda m, x: x + 1),
    "a sum": (0, None, lambda m, x: m.lax.psum(x, "x")),
    "several": ((0, {"b": None}), [1, None], lambda m, x, t: [x.T, t["b"] - 1]),
}


def _specs(axes):
    if isinstance(axes, dict):
        return {key: _specs(axis) for key, axis in axes.items()}
    if isinstance(axes, tuple | list):
        return type(axes)(map(_specs, axes))
    return P() if axes is None else P(*[None] * axes, "x")


@pytest.mark.parametrize("transform", ["plain", "jit", "grad"])
@pytest.mark.parametrize("name", SMAPS)
def test_smap(name, transform):
    in_axes, out_axes, function = SMAPS[name]
    args = (A, {"b": B}) if name == "several" else (A,)

    def total(numpy, f):
        return lambda *xs: sum(numpy.sin(leaf).sum() for leaf in pc.tree.leaves(f(*xs)))

    f = pc.smap(lambda *xs: function(pc, *xs), in_axes=in_axes, out_axes=out_axes, axis_name="x")
    specs = _specs(in_axes if isinstance(in_axes, tuple) else (in_axes,)), _specs(out_axes)
    theirs = PLAIN.shard_map(lambda *xs: function(PLAIN.module, *xs), *specs)
    if transform == "grad":
        f, wanted = pc.grad(total(pnp, f)), slopes.gradient(lambda x: total(np, theirs)(x, *args[1:]), A)
    else:
        wanted = theirs(*args)
    with pc.set_mesh(MESH):
        close((pc.jit(f) if transform != "plain" else f)(*args), wanted)


def test_smap_takes_the_types_of_explicit_axes():
    mesh = pc.make_mesh((8,), ("x",), (pc.sharding.AxisType.Explicit,))
    with pc.set_mesh(mesh):
        x = pc.device_put(V, NamedSharding(mesh, P("x")))
        out = pc.smap(lambda x: x * 2, out_axes=0, axis_name="x")(x)
        assert out.sharding.spec == P("x")
    np.testing.assert_array_equal(out, V * 2)


def test_bad_arguments_of_smap():
    f = pc.smap(lambda x: x, out_axes=0, axis_name="x")
    with pc.set_mesh(MESH), pytest.raises(TypeError, match="smap: in_specs must be given"):
        f(V)
    with pytest.raises(ValueError, match="smap: there is no mesh here"):
        f(V)
    for kind, message, options in [
        (TypeError, "axis_name is the name of one axis", {"axis_name": ("x",)}),
        (TypeError, "in_axes must be an int, None, or a tuple", {"in_axes": [0]}),
        (TypeError, "in_axes holds ints and None, got 'a'", {"in_axes": ("a",)}),
        (TypeError, "out_axes holds ints and None, got P", {"out_axes": P("x")}),
        (ValueError, "out_axes counts dimensions from the front, got -1", {"out_axes": -1}),
    ]:
        with pytest.raises(kind, match=message):
            pc.smap(lambda x: x, **{"in_axes": 0, "out_axes": 0, "axis_name": "x", **options})
