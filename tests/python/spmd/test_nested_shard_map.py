"""`shard_map` in `shard_map`, over further axes of the mesh; `typeof(x).mat`, the axes along which a value varies."""

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import AxisType, ManualAxisType, NamedSharding, get_abstract_mesh
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((2, 2, 2), ("x", "y", "z"))
V = np.arange(32, dtype=np.float32).reshape(4, 8)


def nested(inner, in_specs, out_specs):
    """The function mapped over "y" in a function that is mapped over "x"."""

    def outer(*xs):
        return pc.shard_map(inner, in_specs=in_specs, out_specs=out_specs, axis_names={"y"})(*xs)

    return pc.shard_map(outer, mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})


def squares():
    def inner(x):
        assert x.shape == (2, 4)
        assert get_abstract_mesh().manual_axes == ("x", "y")
        return x * x

    return nested(inner, P(None, "y"), P(None, "y"))


@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit, lambda f: lambda x: pc.vmap(f)(x[None])[0]])
def test_each_device_has_its_part_of_the_part(wrap):
    np.testing.assert_array_equal(wrap(squares())(V), V * V)


def test_derivatives_of_a_function_in_a_function():
    np.testing.assert_array_equal(pc.grad(lambda x: (squares()(x) * x).sum())(V), 3 * V * V)
    hessian = pc.jvp(pc.grad(lambda x: (squares()(x) * x).sum()), (V,), (np.ones_like(V),))[1]
    np.testing.assert_array_equal(hessian, 6 * V)


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_derivatives_with_respect_to_what_all_devices_have(outer, inner):
    def local(x, w):
        return lax.psum((x * w).sum(), ("x", "y"))

    def f(x, w):
        def middle(x, w):
            return pc.shard_map(local, in_specs=(P(None, "y"), P()), out_specs=P(), axis_names={"y"}, check_vma=inner)(
                x, w
            )

        return pc.shard_map(
            middle, mesh=MESH, in_specs=(P("x"), P()), out_specs=P(), axis_names={"x"}, check_vma=outer
        )(x, w)

    w = np.float32(2)
    if outer and not inner:
        # What the inner function is not checked for, the outer one does not know.
        with pytest.raises(ValueError, match="may differ over the mesh axes 'x'"):
            f(V, w)
        return
    assert f(V, w) == 2 * V.sum()
    by_x, by_w = pc.grad(f, (0, 1))(V, w)
    np.testing.assert_array_equal(by_x, np.full_like(V, 2))
    assert by_w == V.sum()


def test_in_a_loop():
    def step(x, _):
        total = pc.shard_map(lambda a: 2 * lax.psum(a, "y"), in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})(x)
        return total.repeat(2, axis=1), None

    f = pc.shard_map(
        lambda x: lax.scan(step, x, None, length=2)[0], mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    wanted = V
    for _ in range(2):
        wanted = 2 * (wanted[:, :4] + wanted[:, 4:]).repeat(2, axis=1)
    np.testing.assert_array_equal(f(V), wanted)
    np.testing.assert_array_equal(pc.grad(lambda x: f(x).sum())(V), np.full_like(V, 16))


@pytest.mark.parametrize("kinds", [(AxisType.Auto,) * 3, (AxisType.Explicit,) * 3, (AxisType.Explicit, AxisType.Auto)])
def test_smap_in_smap(kinds):
    names = ("x", "y", "z")[: len(kinds)]
    with pc.set_mesh(pc.make_mesh((2,) * len(kinds), names, kinds)):

        def inner(x):
            assert x.shape == (1, 8)
            assert pc.typeof(x).mat.varying == {"x", "y"}
            return lax.psum(x, "y")

        def outer(x):
            return pc.smap(inner, in_axes=0, out_axes=None, axis_name="y")(x)

        f = pc.smap(outer, in_axes=0, out_axes=0, axis_name="x")
        np.testing.assert_array_equal(f(V), V[::2] + V[1::2])
        np.testing.assert_array_equal(pc.jit(f)(V), V[::2] + V[1::2])


def test_a_third_function_has_the_axes_that_are_left():
    def outer(x):
        return pc.shard_map(middle, in_specs=P(), out_specs=P(), axis_names={"y"})(x)

    def middle(x):
        return pc.shard_map(lambda y: lax.psum(y, "z"), in_specs=P(), out_specs=P())(x)

    f = pc.shard_map(outer, mesh=MESH, in_specs=P(), out_specs=P(), axis_names={"x"})
    np.testing.assert_array_equal(f(V), 2 * V)


def test_errors_of_nesting():
    def same_axis(x):
        return pc.shard_map(lambda y: y, in_specs=P(), out_specs=P(), axis_names={"x"})(x)

    with pytest.raises(ValueError, match=r"of which .* are in use already"):
        pc.shard_map(same_axis, mesh=MESH, in_specs=P(), out_specs=P(), axis_names={"x"})(V)
    with pytest.raises(ValueError, match="along all axes already"):
        pc.shard_map(
            lambda x: pc.shard_map(lambda y: y, in_specs=P(), out_specs=P())(x), mesh=MESH, in_specs=P(), out_specs=P()
        )(V)
    with pytest.raises(ValueError, match="the mesh is that one"):
        pc.shard_map(lambda x: squares()(x), mesh=MESH, in_specs=P(), out_specs=P(), axis_names={"z"})(V)
    with pytest.raises(ValueError, match="may differ over the mesh axes 'y'"):
        nested(lambda x: x, P(None, "y"), P())(V)
    with pytest.raises(NameError, match="no axis named 'y'"):
        pc.shard_map(lambda x: lax.psum(x, "y"), mesh=MESH, in_specs=P(), out_specs=P(), axis_names={"x"})(V)


def test_types_tell_what_varies():
    def f(x, w):
        assert pc.typeof(x).mat == x.aval.mat == x.mat == ManualAxisType(varying=frozenset({"x", "y"}))
        assert pc.typeof(w).mat.varying == set()
        assert pc.typeof(x * w).mat.varying == {"x", "y"}
        assert pc.typeof(lax.psum(x, "x")).mat.varying == {"y"}
        assert pc.typeof(w).mat.invarying(get_abstract_mesh()) == {"x", "y", "z"}
        assert pc.typeof(x) == pc.typeof(x + 1)
        assert pc.typeof(x).shape == (2, 4)
        pc.grad(lambda v: seen.append(pc.typeof(v).mat.varying) or v.sum())(x)
        return x * w

    seen = []
    pc.shard_map(f, mesh=MESH, in_specs=(P("x", "y"), P()), out_specs=P("x", "y"))(V, np.float32(2))
    assert seen[0] == {"x", "y"}
    assert pc.typeof(pnp.ones(2)).mat == ManualAxisType()


def test_an_abstract_mesh_has_the_devices_of_the_arguments():
    x = pc.device_put(V, NamedSharding(MESH, P("x", "y")))
    f = pc.shard_map(lambda x: 2 * x, mesh=MESH.abstract_mesh, in_specs=P("x"), out_specs=P("x"))
    for call in (f, pc.jit(f)):
        got = call(x)
        np.testing.assert_array_equal(got, 2 * V)
        assert got.sharding == NamedSharding(MESH, P("x"))
    with pytest.raises(ValueError, match="abstract"):
        f(V)
    other = pc.shard_map(lambda x: x, mesh=auto_mesh((4,), ("a",)).abstract_mesh, in_specs=P("a"), out_specs=P("a"))
    with pytest.raises(ValueError, match="use one mesh"):
        other(x)


def test_the_current_mesh_has_the_devices_of_an_abstract_one():
    with pc.set_mesh(MESH):
        f = pc.shard_map(lambda x: 2 * x, mesh=MESH.abstract_mesh, in_specs=P("x"), out_specs=P("x"))
        np.testing.assert_array_equal(f(V), 2 * V)


def test_the_gradient_of_a_number():
    f = pc.shard_map(lambda: pnp.sin(2.0), mesh=MESH, in_specs=(), out_specs=P())
    np.testing.assert_allclose(f(), np.sin(2.0), rtol=1e-6)
    slope = pc.grad(lambda x: pc.shard_map(lambda: pnp.sin(x), mesh=MESH, in_specs=(), out_specs=P())())(2.0)
    np.testing.assert_allclose(slope, np.cos(2.0), rtol=1e-6)
    assert slope.weak_type


def test_objects_are_passed_on_where_in_specs_has_none():
    marker = object()

    def f(o, x, shape):
        assert o["a"] is marker
        return x + pnp.ones(shape, x.dtype)

    mapped = pc.shard_map(f, mesh=MESH, in_specs=({"a": None}, P("x"), None), out_specs=P("x"))
    np.testing.assert_array_equal(mapped({"a": marker}, V, (2, 8)), V + 1)
    twice = pc.shard_map(lambda x, y: x + y, mesh=MESH, in_specs=None, out_specs=P())
    np.testing.assert_array_equal(twice(V, 1.0), V + 1)
    np.testing.assert_array_equal(pc.grad(lambda x: twice(x, x).sum())(V), np.full_like(V, 2))
    with pytest.raises(ValueError, match="can't be divided evenly"):
        mapped({"a": marker}, V[:3], (2, 8))


def test_errors_of_pcast():
    def cast(names):
        return pc.shard_map(lambda x: lax.pcast(x, names, to="varying"), mesh=MESH, in_specs=P(), out_specs=P("x"))(V)

    assert cast("x").shape == (8, 8)
    with pytest.raises(TypeError, match="a name or a tuple of names"):
        cast({"x"})
    with pytest.raises(NameError, match="no axis named 'x'"):
        lax.pcast(V, "x", to="varying")
    with pc.set_mesh(MESH), pytest.raises(ValueError, match="call it in shard_map"):
        lax.pcast(V, "x", to="varying")
    with pc.set_mesh(auto_mesh((1,), ("x",))):
        np.testing.assert_array_equal(lax.pcast(V, "x", to="varying"), V)


def test_a_constraint_does_not_name_axes_that_are_in_use():
    def constrained(*names):
        def local(x):
            return 2 * lax.with_sharding_constraint(x, NamedSharding(MESH, P(*names)))

        return pc.shard_map(local, mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})(V)

    np.testing.assert_array_equal(constrained(None, "y"), 2 * V)
    with pytest.raises(ValueError, match="names 'x', along which"):
        constrained("x", "y")


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
@pytest.mark.parametrize("tiled", [False, True])
def test_what_all_devices_gather_is_equal(dtype, tiled):
    values = V.astype(dtype)

    def local(x):
        whole = lax.all_gather(x, ("x", "y"), axis=1, tiled=tiled, to="invarying")
        assert pc.typeof(whole).mat.varying == set()
        return whole

    f = pc.shard_map(local, mesh=MESH, in_specs=P(None, ("x", "y")), out_specs=P())
    wanted = values if tiled else values.reshape(4, 4, 2)
    np.testing.assert_array_equal(f(values), wanted)
    np.testing.assert_array_equal(pc.jit(f)(values), wanted)


def test_the_derivative_of_what_all_devices_gather():
    def f(x):
        gathered = pc.shard_map(
            lambda a: lax.all_gather(a, "x", tiled=True, to="invarying"), mesh=MESH, in_specs=P("x"), out_specs=P()
        )
        return (gathered(x) ** 2).sum()

    np.testing.assert_array_equal(pc.grad(f)(V), 2 * V)
    np.testing.assert_array_equal(pc.jvp(pc.grad(f), (V,), (V,))[1], 2 * V)
    with pytest.raises(ValueError, match="no reduced types"):
        pc.vmap(lambda x: lax.all_gather(x, "i", to="reduced"), axis_name="i")(V)
