"""Shardings in types: the specs of results over Explicit mesh axes, the values and the errors are those of jax on eight
devices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.errors import ShardingTypeError
from pycompiler.sharding import AbstractMesh, AxisType, NamedSharding, auto_axes, explicit_axes
from pycompiler.sharding import PartitionSpec as P

MESH = pc.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)
THEIRS = jax.make_mesh((4, 2), ("x", "y"), (jax.sharding.AxisType.Explicit,) * 2)
A = np.arange(1, 65, dtype=np.float32).reshape(8, 8) / 8
ROW = np.arange(8, dtype=np.float32)
CUBE = np.arange(128, dtype=np.float32).reshape(4, 8, 4)

# A function of (numpy, jax or pycompiler, P, arrays), the arrays, their specs.
CASES = {
    "sin": (lambda np_, j, P, x: np_.sin(x), (A,), [("x", "y")]),
    "add of a row": (lambda np_, j, P, x, y: x + y, (A, ROW), [("x", None), (None,)]),
    "mul of equal": (lambda np_, j, P, x, y: x * y, (A, A), [("x", "y"), ("x", "y")]),
    "mul of replicated": (lambda np_, j, P, x, y: x * y, (A, A), [("x", "y"), (None, None)]),
    "number": (lambda np_, j, P, x: 2 * x - 1, (A,), [(None, "x")]),
    "comparison": (lambda np_, j, P, x: x > 3, (A,), [("y", "x")]),
    "where": (lambda np_, j, P, x, y: np_.where(x > 3, x, y), (A, A), [("x", None), ("x", None)]),
    "astype": (lambda np_, j, P, x: x.astype(np_.int32), (A,), [("x", None)]),
    "sum": (lambda np_, j, P, x: x.sum(), (A,), [("x", "y")]),
    "sum of rows": (lambda np_, j, P, x: x.sum(0), (A,), [("x", "y")]),
    "mean, keepdims": (lambda np_, j, P, x: x.mean(1, keepdims=True), (A,), [("x", "y")]),
    "max": (lambda np_, j, P, x: x.max(1), (A,), [("x", "y")]),
    "prod": (lambda np_, j, P, x: np_.prod(x / 8, 0), (A,), [("x", "y")]),
    "argmax": (lambda np_, j, P, x: np_.argmax(x, 1), (A,), [("x", "y")]),
    "softmax": (lambda np_, j, P, x: j.nn.softmax(x), (A,), [("x", "y")]),
    "transpose": (lambda np_, j, P, x: x.T, (A,), [("x", "y")]),
    "moveaxis": (lambda np_, j, P, x: np_.moveaxis(x, 0, 2), (CUBE,), [("x", "y", None)]),
    "expand_dims": (lambda np_, j, P, x: x[:, None], (A,), [("x", "y")]),
    "squeeze": (lambda np_, j, P, x: np_.squeeze(x[None], 0), (A,), [("x", "y")]),
    "matmul": (lambda np_, j, P, x, y: x @ y, (A, A), [("x", None), (None, "y")]),
    "matmul, one divided": (lambda np_, j, P, x, y: x @ y, (A, A), [("x", "y"), (None, None)]),
    "matmul, fsdp": (lambda np_, j, P, x, y: x @ y, (A, A), [("x", None), ("x", None)]),
    "batched matmul": (
        lambda np_, j, P, x, y: x @ y,
        (CUBE, CUBE.swapaxes(1, 2)),
        [("x", "y", None), ("x", None, None)],
    ),
    "einsum": (lambda np_, j, P, x, y: np_.einsum("ij,kj->ki", x, y), (A, A), [("x", None), ("y", None)]),
    "split of a dimension": (lambda np_, j, P, x: x.reshape(8, 2, 4), (A,), [("x", "y")]),
    "merge of dimensions": (lambda np_, j, P, x: x.reshape(32, 4), (CUBE,), [("x", None, "y")]),
    "reshape of ones": (lambda np_, j, P, x: x.reshape(1, 8, 1, 8), (A,), [("x", "y")]),
    "slice": (lambda np_, j, P, x: x[:4], (A,), [("x", "y")]),
    "flip": (lambda np_, j, P, x: np_.flip(x, 0), (A,), [("x", "y")]),
    "pad": (lambda np_, j, P, x: np_.pad(x, ((0, 0), (2, 4))), (A,), [("x", "y")]),
    "concatenate": (lambda np_, j, P, x: np_.concatenate([x, x]), (A,), [("x", "y")]),
    "stack": (lambda np_, j, P, x: np_.stack([x, x]), (A,), [("x", "y")]),
    "tile": (lambda np_, j, P, x: np_.tile(x, (1, 2)), (A,), [("x", None)]),
    "cumsum": (lambda np_, j, P, x: np_.cumsum(x, 1), (A,), [("x", None)]),
    "sort": (lambda np_, j, P, x: np_.sort(x, 1), (A,), [("x", None)]),
    "triu": (lambda np_, j, P, x: np_.triu(x), (A,), [("x", "y")]),
    "one_hot": (lambda np_, j, P, x: j.nn.one_hot(x.astype(np_.int32), 8), (ROW,), [("x",)]),
    "zeros_like": (lambda np_, j, P, x: np_.zeros_like(x) + x, (A,), [("x", "y")]),
    "two axes": (lambda np_, j, P, x: np_.exp(-x).sum(1), (A,), [(("x", "y"), None)]),
    "reshard": (lambda np_, j, P, x: j.reshard(x * 2, P(None, "x")), (A,), [("x", "y")]),
    "matmul, out_sharding": (
        lambda np_, j, P, x, y: np_.matmul(x, y, out_sharding=P("y", None)),
        (A, A),
        [("x", "y"), ("y", "x")],
    ),
    "einsum, out_sharding": (
        lambda np_, j, P, x, y: np_.einsum("ij,jk->ik", x, y, out_sharding=P("x")),
        (A, A),
        [("x", "y"), ("y", None)],
    ),
    "reshape, out_sharding": (lambda np_, j, P, x: np_.reshape(x, (64,), out_sharding=P("x")), (A,), [("x", "y")]),
    "take, out_sharding": (
        lambda np_, j, P, x, i: x.at[i.astype(np_.int32)].get(out_sharding=P("y", None)),
        (A, ROW),
        [("x", None), (None,)],
    ),
    "update, out_sharding": (
        lambda np_, j, P, x, y: x.at[2].set(y, out_sharding=P("x", None)),
        (A, ROW),
        [("x", "y"), (None,)],
    ),
    "gradient of a matmul": (
        lambda np_, j, P, x, y: j.grad(lambda x: np_.sin(x @ y).sum())(x),
        (A, A),
        [("x", None), (None, "y")],
    ),
    "gradient of out_sharding": (
        lambda np_, j, P, x, y: j.grad(lambda y: (np_.matmul(x, y, out_sharding=P("x")) ** 2).sum())(y),
        (A, A),
        [("x", "y"), ("y", "x")],
    ),
    "gradient of a reduction": (lambda np_, j, P, x: j.grad(lambda x: x.max(0).sum())(x), (A,), [("x", "y")]),
    "gradient of reshard": (
        lambda np_, j, P, x: j.grad(lambda x: (j.reshard(x, P("y")) ** 2).sum())(x),
        (A,),
        [("x", None)],
    ),
    "jvp": (lambda np_, j, P, x: j.jvp(np_.sin, (x,), (x,))[1], (A,), [("x", "y")]),
    "vmap": (lambda np_, j, P, x: j.vmap(lambda v: v * v.sum())(x), (A,), [("x", "y")]),
    "vmap of the second dimension": (lambda np_, j, P, x: j.vmap(np_.sin, 1, 1)(x), (A,), [("x", "y")]),
    "vmap of a constant": (lambda np_, j, P, x: j.vmap(lambda v: np_.ones(2))(x), (A,), [("x", "y")]),
    "scan": (
        lambda np_, j, P, x: j.lax.scan(lambda c, row: (c + row, row * 2), np_.zeros_like(x[0]), x)[1],
        (A,),
        [(None, "x")],
    ),
    "while": (lambda np_, j, P, x: j.lax.fori_loop(0, 3, lambda i, c: c * 2, x), (A,), [("x", "y")]),
    "cond": (
        lambda np_, j, P, x: j.lax.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, x),
        (A,),
        [("x", "y")],
    ),
    "inner jit": (lambda np_, j, P, x: j.jit(lambda x: x.T)(x) + 1, (A,), [("x", "y")]),
    "checkpoint": (
        lambda np_, j, P, x: j.grad(lambda x: j.checkpoint(np_.sin)(x).sum())(x),
        (A,),
        [("x", "y")],
    ),
    "shard_map": (
        lambda np_, j, P, x: j.shard_map(lambda x: j.lax.psum(x, "x"), out_specs=P(None, "y"))(x),
        (A,),
        [("x", "y")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_types_are_those_of_jax(name):
    f, arrays, specs = CASES[name]
    with jax.set_mesh(THEIRS):
        given = [
            jax.device_put(a, jax.NamedSharding(THEIRS, jax.P(*spec))) for a, spec in zip(arrays, specs, strict=True)
        ]
        want = jax.jit(lambda *xs: f(jnp, jax, jax.P, *xs))(*given)
        want_spec = tuple(jax.typeof(want).sharding.spec)
    with pc.set_mesh(MESH):
        given = [pc.device_put(a, NamedSharding(MESH, P(*spec))) for a, spec in zip(arrays, specs, strict=True)]
        calls = [pc.jit(lambda *xs: f(pnp, pc, P, *xs)), lambda *xs: f(pnp, pc, P, *xs)]
        for call in calls:
            got = call(*given)
            assert tuple(pc.typeof(got).sharding.spec) == want_spec
            assert got.sharding == NamedSharding(MESH, P(*want_spec))
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=1e-5)


# Functions that jax refuses, too.
REFUSED = {
    "two axes for one dimension": (lambda np_, P, x, y: x + y, [("x", "y"), ("y", "x")]),
    "contracted dimensions": (lambda np_, P, x, y: x @ y, [("x", "y"), ("y", None)]),
    "contracted dimensions along other axes": (lambda np_, P, x, y: x @ y, [(None, "x"), ("y", None)]),
    "one axis for two dimensions": (lambda np_, P, x, y: x @ y, [("x", None), (None, "x")]),
    "concatenate": (lambda np_, P, x, y: np_.concatenate([x, y]), [("x", None), ("y", None)]),
    "reshape": (lambda np_, P, x, y: x.reshape(2, 4, 2, 4), [("x", "y"), (None, None)]),
    "sort": (lambda np_, P, x, y: np_.sort(x, 0), [("x", None), (None, None)]),
    "cumsum": (lambda np_, P, x, y: np_.cumsum(x, 0), [("x", None), (None, None)]),
    "slice": (lambda np_, P, x, y: x[:3], [("x", None), (None, None)]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_types_refuse(name):
    f, specs = REFUSED[name]
    with jax.set_mesh(THEIRS):
        given = [jax.device_put(A, jax.NamedSharding(THEIRS, jax.P(*spec))) for spec in specs]
        with pytest.raises(jax._src.core.ShardingTypeError):
            f(jnp, jax.P, *given)
    with pc.set_mesh(MESH):
        given = [pc.device_put(A, NamedSharding(MESH, P(*spec))) for spec in specs]
        for call in (lambda *xs: f(pnp, P, *xs), pc.jit(lambda *xs: f(pnp, P, *xs))):
            with pytest.raises(ShardingTypeError, match=r"f32\[8.*\n?What to do"):
                call(*given)


def test_a_type_is_printed_with_its_axes():
    x = pc.device_put(A, NamedSharding(MESH, P("x", "y")))
    y = pc.device_put(A, NamedSharding(MESH, P(("x", "y"))))
    assert repr(pc.typeof(x)) == "ShapedArray(float32[8@x,8@y])"
    assert pc.typeof(y).str_short(short_dtypes=True) == "f32[8@(x,y),8]"
    assert pc.typeof(x).sharding == NamedSharding(MESH.abstract_mesh, P("x", "y"))
    assert pc.typeof(x) is not pc.typeof(y)
    assert pc.typeof(x + 1) is pc.typeof(x)
    assert "b:f32[8@x,8@y] = sin a" in str(pc.make_jaxpr(pnp.sin)(x))


def test_a_jitted_function_is_traced_for_each_type():
    traced = []

    @pc.jit
    def f(x):
        traced.append(pc.typeof(x).sharding.spec)
        return x * 2

    arrays = [pc.device_put(A, NamedSharding(MESH, spec)) for spec in (P("x", None), P(None, "y"))]
    for x in arrays * 2:
        assert f(x).sharding.spec == x.sharding.spec
    assert traced == [P("x", None), P(None, "y")]


def test_without_a_current_mesh():
    x = pc.device_put(A, NamedSharding(MESH, P("x")))

    @pc.jit
    def f(x):
        assert pc.sharding.get_abstract_mesh() == MESH.abstract_mesh
        return pc.reshard(x, P(None, "x")) + 1

    assert f(x).sharding == NamedSharding(MESH, P(None, "x"))
    np.testing.assert_array_equal(np.asarray(f(x)), A + 1)


def test_auto_and_explicit_axes():
    with pc.set_mesh(MESH):
        x = pc.device_put(A, P("x", "y"))
        seen = []

        def f(x):
            seen.append((pc.typeof(x).sharding.spec, pc.sharding.get_abstract_mesh().axis_types))
            return x @ x

        for call in (auto_axes(f, out_sharding=P("y")), pc.jit(auto_axes(f, out_sharding=P("y")))):
            got = call(x)
            assert got.sharding == NamedSharding(MESH, P("y", None))
            np.testing.assert_allclose(np.asarray(got), A @ A, rtol=1e-5)
        assert seen == [(P(None, None), (AxisType.Auto,) * 2)] * 2
        part = auto_axes(lambda x: x * 2, axes="y", out_sharding=P("x", None))
        assert part(x).sharding.spec == P("x", None)
        with pytest.raises(TypeError, match="out_sharding"):
            auto_axes(f)(x)
    auto = pc.make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    with pc.set_mesh(auto):
        x = pc.device_put(A, P("x"))
        types = []
        got = pc.jit(explicit_axes(lambda x: (types.append(str(pc.typeof(x))), x * 2)[1], in_sharding=P("x", "y")))(x)
        assert types == ["f32[8@x,8@y]"]
        np.testing.assert_array_equal(np.asarray(got), A * 2)
        with pytest.raises(ValueError, match="only over Explicit axes"):
            pc.reshard(x, P("x"))


def test_a_constraint_over_explicit_axes_asserts():
    with pc.set_mesh(MESH):
        x = pc.device_put(A, P("x", "y"))
        assert pc.lax.with_sharding_constraint(x, P("x", "y")) is x
        with pytest.raises(AssertionError, match=r"pc\.reshard"):
            pc.lax.with_sharding_constraint(x, P("y", "x"))


def test_a_constraint_over_an_abstract_mesh():
    auto = pc.make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    sharding = NamedSharding(auto.abstract_mesh, P("x", "y"))
    x = pc.device_put(A, NamedSharding(auto, P("x")))
    out = pc.jit(lambda x: pc.lax.with_sharding_constraint(x * 2, sharding))(x)
    assert out.sharding.is_equivalent_to(NamedSharding(auto, P("x", "y")), 2)
    np.testing.assert_array_equal(np.asarray(out), A * 2)


def test_loops_keep_types():
    with pc.set_mesh(MESH):
        x = pc.device_put(A, P("x", None))
        with pytest.raises(ValueError, match="the first dimension of xs is divided"):
            pc.lax.scan(lambda c, row: (c, row), 0.0, x)
        with pytest.raises(TypeError, match="the sharding of its type"):
            pc.jit(lambda x: pc.lax.scan(lambda c, _: (pc.reshard(c, P(None, "y")), None), x, None, 3))(x)


def test_vmap_names_one_division():
    with pc.set_mesh(MESH):
        x, y = pc.device_put(A, P("x")), pc.device_put(A, P("y"))
        with pytest.raises(ValueError, match="the same mesh axes"):
            pc.vmap(lambda a, b: a + b)(x, y)
        with pytest.raises(ValueError, match="spmd_axis_name"):
            pc.vmap(lambda a: a, spmd_axis_name="y")(x)
        types = []
        pc.vmap(lambda a: (types.append(str(pc.typeof(a))), a)[1])(pc.device_put(A, P("x", "y")))
        assert types == ["f32[8@y]"]


def test_new_arrays_are_on_the_current_mesh():
    with pc.set_mesh(MESH):
        for x in (pnp.zeros(3), pnp.arange(4), pnp.eye(2) @ pnp.eye(2), pnp.ones((2, 3))[0] + 1):
            assert x.sharding.mesh == MESH
            assert x.sharding.is_fully_replicated
        for out in (
            pnp.zeros((8, 2), out_sharding=P("x")),
            pc.random.normal(pc.random.key(0), (8, 2), out_sharding=P("x")),
        ):
            assert str(pc.typeof(out)) == "f32[8@x,2]"
    assert not isinstance(pnp.zeros(3).sharding, NamedSharding)


def test_structs_have_types():
    struct = pc.ShapeDtypeStruct((8, 2), np.float32, sharding=NamedSharding(MESH, P("x")))
    out = pc.eval_shape(lambda x: x.T, struct)
    assert out.sharding == NamedSharding(MESH.abstract_mesh, P(None, "x"))
    assert str(pc.make_jaxpr(lambda x: x * 2)(struct)).startswith("{ lambda ; a:f32[8@x,2].")


def test_abstract_meshes():
    mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    theirs = jax.sharding.AbstractMesh((4, 2), ("x", "y"), (jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto))
    for name in ("shape", "shape_tuple", "axis_sizes", "axis_names", "size", "empty", "explicit_axes", "auto_axes"):
        assert getattr(mesh, name) == getattr(theirs, name)
    assert repr(mesh) == repr(theirs)
    assert (
        mesh
        == AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
        != mesh.update(axis_names=("a", "b"))
    )
    assert mesh.update_axis_types({"y": AxisType.Explicit}).are_all_axes_explicit
    with pytest.raises(ValueError, match="no devices"):
        _ = mesh.devices
    with pytest.raises(ValueError, match="has no devices"):
        _ = NamedSharding(mesh, P("x")).device_set
    with pc.sharding.use_abstract_mesh(mesh):
        assert pc.sharding.get_abstract_mesh() is mesh
        with (
            pytest.raises(ValueError, match="has 2 devices"),
            pc.sharding.use_abstract_mesh(AbstractMesh((2,), ("z",))),
        ):
            pass
    assert pc.sharding.get_abstract_mesh().empty
    kind, platform = pc.devices()[0].device_kind, pc.devices()[0].platform
    assert MESH.abstract_mesh.abstract_device == pc.sharding.AbstractDevice(kind, None, platform)


def test_the_mesh_of_a_function_for_one_device():
    seen = []
    with pc.set_mesh(MESH):
        x = pc.device_put(A, P("x", "y"))
        pc.shard_map(lambda x: (seen.append(pc.typeof(x).sharding.mesh), x)[1], out_specs=P("x", "y"))(x)
    assert seen[0].are_all_axes_manual
    assert seen[0].axis_names == ("x", "y")


def test_a_function_for_one_device_along_some_axes():
    types = []

    def f(x):
        types.append(str(pc.typeof(x)))
        return pnp.sin(x) * 2

    with pc.set_mesh(MESH):
        x = pc.device_put(A, P("x", "y"))
        mapped = pc.shard_map(f, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        for out, want in ((mapped(x), np.sin(A) * 2), (pc.grad(lambda x: mapped(x).sum())(x), np.cos(A) * 2)):
            assert str(pc.typeof(out)) == "f32[8@x,8@y]"
            np.testing.assert_allclose(np.asarray(out), want, rtol=1e-5, atol=1e-5)
    assert set(types) == {"f32[2,8@y]"}


def test_a_mapped_reshard_keeps_the_axis_of_the_members():
    with pc.set_mesh(pc.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)):
        whole = np.arange(64, dtype=np.float32).reshape(8, 8)
        a = pc.device_put(whole, P("x", None))

        def row(v):
            return pc.reshard(2 * v, P("y"))

        for form in (pc.vmap(row), pc.jit(pc.vmap(row))):
            np.testing.assert_array_equal(form(a), 2 * whole)
            assert pc.typeof(form(a)).sharding.spec == P("x", "y")
        by_columns = pc.jit(pc.vmap(row, 1, 1))(a)
        np.testing.assert_array_equal(by_columns, 2 * whole)
        assert pc.typeof(by_columns).sharding.spec == P("y", None)
        gradient = pc.jit(pc.grad(lambda a: (pc.vmap(row)(a) ** 2).sum()))(a)
        np.testing.assert_array_equal(gradient, 8 * whole)
        assert pc.typeof(gradient).sharding.spec == P("x", None)


def test_an_array_that_goes_to_auto_axes_loses_the_explicit_ones():
    values = np.arange(16, dtype=np.float32)
    x = pc.device_put(values, NamedSharding(MESH, P("x")))
    for sizes, names, spec in (((4, 2), ("x", "y"), P("x")), ((8,), ("z",), P("z")), ((2, 4), ("a", "b"), P("b"))):
        mesh = pc.make_mesh(sizes, names, (AxisType.Auto,) * len(sizes))
        moved = pc.device_put(x, NamedSharding(mesh, spec))
        assert pc.typeof(moved).sharding.spec == P(None)
        for out in (moved * 2, pc.jit(lambda v: v * 2)(moved)):
            assert out.sharding == NamedSharding(mesh, spec)
            np.testing.assert_array_equal(out, values * 2)
