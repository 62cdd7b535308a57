"""The placement of specs of the current mesh, compiled stages for several devices, and mapped axes over them."""

import operator
import pickle

import jax
import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.sharding import NamedSharding, SingleDeviceSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
X = np.arange(32.0, dtype=np.float32).reshape(8, 4)


@pytest.mark.parametrize("current", [lambda: MESH, lambda: pc.set_mesh(MESH)], ids=["with mesh", "set_mesh"])
def test_a_spec_is_over_the_current_mesh(current):
    wanted = NamedSharding(MESH, P("x"))
    with current():
        made = {
            "device_put": pc.device_put(X, P("x")),
            "tree": pc.device_put({"a": X, "b": X}, {"a": P("x"), "b": None})["a"],
            "zeros": pnp.zeros((8, 4), device=P("x")),
            "array": pnp.array(X, device=P("x")),
            "full_like": pnp.full_like(X, 3, device=P("x")),
            "arange": pnp.arange(8, device=P("x")),
            "inside": pc.jit(lambda x: pc.device_put(x * 2, P("x")))(X),
            "in_shardings": pc.jit(lambda x: x * 2, in_shardings=P("x"), out_shardings=P("x"))(X),
            "constraint": pc.jit(lambda x: pc.lax.with_sharding_constraint(x, P("x")))(X),
            "callback": pc.make_array_from_callback(X.shape, P("x"), lambda index: X[index]),
            "moved": pc.device_put(pc.device_put(X, P("y")), P("x")),
        }
    for name, x in made.items():
        assert x.sharding.is_equivalent_to(wanted, x.ndim), name
    np.testing.assert_array_equal(made["device_put"], X)
    np.testing.assert_array_equal(made["moved"], X)
    np.testing.assert_array_equal(made["inside"], 2 * X)


def test_a_spec_needs_a_mesh():
    for put in (lambda: pc.device_put(X, P("x")), lambda: pnp.zeros(8, device=P("x"))):
        with pytest.raises(ValueError, match="there is no mesh here"):
            put()
    with MESH, pytest.raises(ValueError, match="names the axis 'z'"):
        pc.device_put(X, P("z"))


PROGRAMS = {
    "pmap": (lambda: pc.pmap(lambda x: x / pc.lax.psum(x, "i"), axis_name="i"), X, X / X.sum(0)),
    "shard_map": (
        lambda: pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=MESH, in_specs=P("x"), out_specs=P()),
        X,
        X.reshape(4, 2, 4).sum(0),
    ),
    "sharded argument": (
        lambda: pc.jit(lambda x: x @ x.T),
        pc.device_put(X, NamedSharding(MESH, P("x", "y"))),
        X @ X.T,
    ),
    "struct": (lambda: pc.jit(lambda x: x.sum(0)), X, X.sum(0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_compiled_for_several_devices(name):
    make, x, wanted = PROGRAMS[name]
    spec = pc.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(MESH, P("x"))) if name == "struct" else x
    f = make()
    lowered = f.lower(spec)
    compiled = lowered.compile()
    np.testing.assert_allclose(compiled(x), wanted, rtol=1e-5)
    result = f(x) if name != "struct" else f(pc.device_put(x, spec.sharding))
    (shardings, named), out = compiled.input_shardings, compiled.output_shardings
    assert pc.tree.map(lambda shape: shape.sharding, compiled.out_info) == out
    assert pc.tree.map(lambda of: of.sharding, compiled.output_formats) == out
    assert named == {}
    assert out.is_equivalent_to(result.sharding, result.ndim)
    if isinstance(spec, (pc.Array, pc.ShapeDtypeStruct)):
        assert shardings[0].is_equivalent_to(spec.sharding, 2)
    assert len(shardings[0].device_set) == 8
    assert "func.func @main" in lowered.as_text()
    assert compiled.as_text()
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().output_size_in_bytes > 0
    assert compiled.runtime_executable() is not None
    np.testing.assert_allclose(f.trace(spec)(x), wanted, rtol=1e-5)


def test_shardings_of_one_device():
    device = pc.devices()[3]
    f = pc.jit(lambda x, y: {"a": x + y["b"]})
    x = pc.device_put(X, device)
    compiled = f.lower(x, y={"b": 1.0}).compile()
    one = SingleDeviceSharding(device)
    assert compiled.input_shardings == ((one,), {"y": {"b": one}})
    assert compiled.output_shardings == {"a": one}
    assert f.lower(X, y={"b": 1.0}).compile().output_shardings == {"a": SingleDeviceSharding(pc.devices()[0])}


@pytest.mark.parametrize("options", [{"device": pc.devices()[2]}, {"backend": "cpu"}])
def test_jit_on_a_device(options):
    seen = []

    def fun(x, n, y):
        seen.append(n)
        return {"r": x * n + y, "n": n}

    f = pc.jit(fun, static_argnums=1, **options)
    place = options.get("device") or pc.devices("cpu")[0]
    result = f(X, 3, y=1)
    np.testing.assert_array_equal(result["r"], 3 * X + 1)
    assert {x.device for x in result.values()} == {place}
    assert seen == [3]
    np.testing.assert_allclose(pc.grad(lambda x: f(x, 3, y=1)["r"].sum())(X), np.full_like(X, 3))
    assert pc.jit(lambda: pnp.ones(3), **options)().device == place


def test_options_of_jit():
    with pytest.raises(ValueError, match="takes a device or a backend, got both"):
        pc.jit(lambda x: x, device=pc.devices()[0], backend="cpu")
    with pytest.raises(ValueError, match="or shardings, not both"):
        pc.jit(lambda x: x, backend="cpu", in_shardings=NamedSharding(MESH, P()))
    with pytest.raises(RuntimeError, match="no platform 'tpu'"):
        pc.jit(lambda x: x, backend="tpu")
    with pytest.raises(TypeError, match="device must be a device"):
        pc.jit(lambda x: x, device="cpu")
    with pytest.warns(UserWarning, match="the compiler options xla_a, xla_b are of another compiler"):
        f = pc.jit(lambda x: x + 1, compiler_options={"xla_b": 1, "xla_a": True})
    assert float(f(1.0)) == 2
    with pytest.warns(UserWarning, match="compile: the compiler options xla_c"):
        f.lower(1.0).compile(compiler_options={"xla_c": 1})
    with pytest.raises(TypeError, match="compiler_options must be a dict"):
        pc.jit(lambda x: x, compiler_options=["a"])
    with pytest.raises(pc.errors.JaxRuntimeError, match="No such compile option: 'no_such'"):
        f.lower(1.0).compile(compiler_options={"xla_c": 1, "no_such": 2})
    with pytest.raises(pc.errors.JaxRuntimeError, match="No such compile option: 'no_such'"):
        pc.jit(lambda x: x, compiler_options={"no_such": 2})
    with pytest.raises(TypeError, match="compiled code can't be traced"):
        pc.grad(f.lower(1.0).compile())(1.0)


# vmap(spmd_axis_name=)


@pytest.mark.parametrize("inner", [P("y"), P(None, "y"), P()])
def test_a_mapped_axis_is_divided(inner):
    def f(x):
        return pc.lax.with_sharding_constraint(x * 2, NamedSharding(MESH, inner))

    x = np.arange(8 * 4 * 2, dtype=np.float32).reshape(8, 4, 2)
    for axis in (0, 1):
        moved = np.moveaxis(x, 0, axis)
        found = pc.jit(pc.vmap(f, in_axes=axis, out_axes=axis, spmd_axis_name="x"))(moved)
        np.testing.assert_array_equal(found, moved * 2)
        parts = [*inner, *[None] * (2 - len(inner))]
        parts.insert(axis, "x")
        assert found.sharding.is_equivalent_to(NamedSharding(MESH, P(*parts)), 3)
    plain = pc.jit(pc.vmap(f))(x)
    assert plain.sharding.is_equivalent_to(NamedSharding(MESH, P(None, *inner)), 3)


def test_a_mapped_axis_is_divided_inside_of_what_is_called():
    def f(x):
        inner = pc.jit(lambda x: pc.lax.with_sharding_constraint(x * 2, NamedSharding(MESH, P("y"))))
        return pc.checkpoint(inner)(inner(x))

    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    found = pc.jit(pc.vmap(f, spmd_axis_name="x"))(x)
    np.testing.assert_array_equal(found, x * 4)
    assert found.sharding.is_equivalent_to(NamedSharding(MESH, P("x", "y")), 2)
    both = pc.jit(
        pc.vmap(lambda x: pc.lax.with_sharding_constraint(x, NamedSharding(MESH, P())), spmd_axis_name=("x", "y"))
    )(x)
    assert both.sharding.is_equivalent_to(NamedSharding(MESH, P(("x", "y"))), 2)


def test_shard_map_under_a_divided_axis():
    def f(x):
        return pc.shard_map(lambda x: x * pc.lax.psum(x.sum(), "y"), mesh=MESH, in_specs=P("y"), out_specs=P("y"))(x)

    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    found = pc.jit(pc.vmap(f, spmd_axis_name="x"))(x)
    np.testing.assert_allclose(found, x * x.sum(1, keepdims=True))
    assert found.sharding.is_equivalent_to(NamedSharding(MESH, P("x", "y")), 2)
    text = str(pc.make_jaxpr(pc.vmap(f, spmd_axis_name="x"))(x))
    assert "('x',), ('y',)" in text
    gradient = pc.jit(pc.vmap(pc.grad(lambda x: f(x).sum()), spmd_axis_name="x"))(x)
    np.testing.assert_allclose(gradient, np.broadcast_to(2 * x.sum(1, keepdims=True), x.shape))


def test_an_axis_can_not_divide_twice():
    with pytest.raises(
        ValueError, match=r"spmd_axis_name \('x',\) names an axis that divides another dimension already"
    ):
        pc.vmap(lambda x: pc.lax.with_sharding_constraint(x, NamedSharding(MESH, P("x"))), spmd_axis_name="x")(X)


# PartitionSpec


def test_axes_of_sums():
    spec = P("x", None, unreduced={"y"})
    theirs = jax.sharding.PartitionSpec("x", None, unreduced={"y"})
    assert repr(spec) == repr(theirs)
    assert spec == P("x", None, unreduced=frozenset({"y"}))
    assert spec != P("x", None)
    assert hash(spec) == hash(P("x", None, unreduced={"y"}))
    assert spec.update(unreduced=set()) == P("x", None)
    assert spec.update(partitions=("z",)) == P("z", unreduced={"y"})
    assert P("x", reduced={"y"}).reduced == {"y"}
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert P("x") + P("y", unreduced={"z"}) == P("x", "y", unreduced={"z"})
    assert operator.add(P("x"), ("y",)) == P("x", "y")
    assert operator.add(("y",), P("x")) == P("y", "x")
    with pytest.raises(ValueError, match="which divide a dimension already"):
        P("x", unreduced={"x"})
    with pytest.raises(ValueError, match="can't be both unreduced and reduced"):
        P(unreduced={"x"}, reduced={"x"})
    with pytest.raises(TypeError, match="unreduced must be a set of names"):
        P(unreduced="x")
    for parts in [("x", ("y", ("z",))), ((("x", "y"), "z"),)]:
        with pytest.raises(ValueError, match="an entry is the name of an axis, or a tuple of names, got"):
            P(*parts)
    with pytest.raises(TypeError, match="it has no subclasses"):
        type("Own", (P,), {})
    for names in ({"unreduced": {"a"}}, {"reduced": {"a"}}):
        with pytest.raises(ValueError, match="names the axis 'a', but the mesh has"):
            NamedSharding(MESH, P("x", **names))
    auto = pc.sharding.AbstractMesh((2, 2), ("x", "y"), axis_types=(pc.sharding.AxisType.Auto,) * 2)
    with pytest.raises(ValueError, match=r"the axis 'y' of .* is Auto"):
        NamedSharding(auto, P("x", unreduced={"y"}))
    explicit = pc.make_mesh((4, 2), ("x", "y"), (pc.sharding.AxisType.Explicit,) * 2)
    sharding = NamedSharding(explicit, spec)
    assert sharding.spec.unreduced == {"y"}
    with pytest.raises(ValueError, match="its sums are not computed yet"):
        pc.device_put(np.zeros((8, 2), np.float32), sharding)
    placed = pc.device_put(X, NamedSharding(explicit, P("x", reduced={"y"})))
    np.testing.assert_array_equal(placed, X)
