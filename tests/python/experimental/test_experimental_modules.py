"""The small modules of `experimental`: meshes, layouts, one process, the cache's folder, earlier names."""

import jax
import jax.experimental.jet
import numpy as np
import pytest
from jax.experimental.jet import jet as jax_jet

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import experimental
from pycompiler.experimental import compilation_cache, mesh_utils, multihost_utils
from pycompiler.experimental.jet import fact, jet, jet2, zero_series
from pycompiler.experimental.layout import Format, Layout, with_layout_constraint
from pycompiler.experimental.pjit import pjit
from pycompiler.experimental.shard_map import shard_map
from pycompiler.sharding import Mesh, NamedSharding, SingleDeviceSharding
from pycompiler.sharding import PartitionSpec as P

DEVICE = pc.devices()[0]


def test_earlier_names():
    mesh = Mesh(mesh_utils.create_device_mesh((1,)), ("x",))
    divided = pjit(lambda x: x + 1, in_shardings=NamedSharding(mesh, P("x")), donate_argnums=0)
    np.testing.assert_array_equal(divided(pnp.arange(3)), [1, 2, 3])
    doubled = shard_map(lambda x: 2 * x, mesh, P("x"), P("x"), check_rep=False)
    np.testing.assert_array_equal(doubled(pnp.arange(3)), [0, 2, 4])
    np.testing.assert_array_equal(
        shard_map(lambda x: x, mesh=mesh, in_specs=P(), out_specs=P())(pnp.arange(3)), [0, 1, 2]
    )


def test_contexts_of_64_bits():
    with experimental.enable_x64():
        assert pnp.ones(1).dtype == np.float64
        with experimental.disable_x64():
            assert pnp.ones(1).dtype == np.float32
        assert pnp.ones(1).dtype == np.float64
    with experimental.enable_x64(False):
        assert pnp.ones(1).dtype == np.float32


class Part:
    platform = "cpu"

    def __init__(self, number, process=0, platform="cpu"):
        self.id, self.process_index, self.platform = number, process, platform

    def __repr__(self):
        return str(self.id)


def test_arrays_of_devices():
    parts = [Part(i) for i in range(6)]
    assert mesh_utils.create_device_mesh((2, 3), parts).tolist() == [parts[:3], parts[3:]]
    mixed = [Part(i, platform="gpu") for i in (2, 0, 1)]
    assert [one.id for one in mesh_utils.create_device_mesh((3,), mixed)] == [0, 1, 2]
    of_processes = [Part(i, i // 2) for i in range(4)]
    hybrid = mesh_utils.create_hybrid_device_mesh((1, 2), (2, 1), of_processes, process_is_granule=True)
    assert [[one.id for one in row] for row in hybrid] == [[0, 1], [2, 3]]
    hybrid = mesh_utils.create_hybrid_device_mesh((2,), (2,), of_processes[::-1], process_is_granule=True)
    assert [one.id for one in hybrid] == [1, 0, 3, 2]
    for call, text in (
        (lambda: mesh_utils.create_device_mesh((2, 2), parts), r"Number of devices 6 must equal.*\(2, 2\)"),
        (lambda: mesh_utils.create_device_mesh((2, "a"), parts), "must be a sequence of ints"),
        (lambda: mesh_utils.create_hybrid_device_mesh((6,), (1,), parts), "does not have attribute slice_index"),
        (
            lambda: mesh_utils.create_hybrid_device_mesh((3,), (2,), parts, process_is_granule=True),
            "Number of slices 1 must equal",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_one_process_has_all_data():
    tree = {"a": pnp.arange(3), "b": 2.5}
    found = multihost_utils.broadcast_one_to_all(tree)
    assert type(found["a"]) is np.ndarray
    np.testing.assert_array_equal(found["a"], [0, 1, 2])
    np.testing.assert_array_equal(multihost_utils.process_allgather(tree)["a"], [[0, 1, 2]])
    np.testing.assert_array_equal(multihost_utils.process_allgather(tree, tiled=True)["a"], [0, 1, 2])
    multihost_utils.sync_global_devices("a place")
    multihost_utils.assert_equal(tree)
    with pytest.raises(AssertionError, match="differ"):
        multihost_utils.assert_equal(float("nan"), "differ")
    assert multihost_utils.reached_preemption_sync_point(3) is False
    mesh = pc.make_mesh((1,), ("x",))
    there = multihost_utils.host_local_array_to_global_array(tree, mesh, P())
    assert there["a"].sharding.is_equivalent_to(NamedSharding(mesh, P()), 1)
    back = multihost_utils.global_array_to_host_local_array((there["a"], there["b"]), mesh, (P("x"), P()))
    np.testing.assert_array_equal(back[0], [0, 1, 2])
    with pytest.raises(ValueError, match="None is not a valid input to the pspecs"):
        multihost_utils.host_local_array_to_global_array(tree, mesh, None)


def test_layouts():
    layout, sharding = Layout([0, 1]), SingleDeviceSharding(DEVICE)
    assert layout == Layout((0, 1)) != Layout((1, 0))
    assert hash(layout.update(tiling=((2, 2),))) != hash(layout)
    assert Format(layout, sharding) == Format(layout, SingleDeviceSharding(DEVICE))
    assert (Format().layout, Format(Layout.AUTO).sharding, repr(Layout.AUTO)) == (None, None, "AUTO")
    x = pnp.ones((2, 3))
    assert with_layout_constraint(x, layout) is x
    np.testing.assert_array_equal(pc.jit(lambda x: with_layout_constraint(x, Layout.AUTO))(x), x)
    for kind, call, text in (
        (ValueError, lambda: Format(layout), "needs a concrete sharding"),
        (TypeError, lambda: Format("row"), "got 'row' of type str"),
        (TypeError, lambda: Format(None, "here"), "got 'here' of type str"),
        (ValueError, lambda: with_layout_constraint(x, Layout((0,))), r"major_to_minor=\(0,\) and shape=\(2, 3\)"),
        (ValueError, lambda: with_layout_constraint(x, Layout((1, 0))), r"row-major here, f32\[2,3\] can't have"),
        (TypeError, lambda: with_layout_constraint(x, 3), "takes Layouts, got 3"),
    ):
        with pytest.raises(kind, match=text):
            call()


def test_the_folder_of_the_cache(tmp_path):
    before = pc.config.compilation_cache_dir
    cache = compilation_cache.compilation_cache
    try:
        cache.set_cache_dir(tmp_path / "cache")
        cache.reset_cache()
        assert float(pc.jit(lambda x: x * 3.25 + 1)(2.0)) == 7.5
        assert any((tmp_path / "cache").rglob("*"))
    finally:
        pc.config.update("compilation_cache_dir", before)
        cache.reset_cache()


# jet


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        lambda n: lambda x, y: (n.exp(n.sin(x) * y), {"a": n.tanh(x * y)}),
        lambda n: lambda x, y: n.log(x + 2) / (1 + y * y),
        lambda n: lambda x, y: n.where(x > y, x * y, x**3),
    ],
)
def test_jet_is_that_of_jax(function, scaled):
    arguments = (0.3, 1.2), ((1.0, 0.5, -0.2, 0.3), (0.7, 0.1, 0.4, 0.2))
    ours = jet(function(pnp), *arguments, factorial_scaled=scaled)
    theirs = jax_jet(function(jax.numpy), *arguments, factorial_scaled=scaled)
    assert pc.tree.structure(ours).num_leaves == len(jax.tree.leaves(theirs))
    for a, b in zip(pc.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5)


def test_jet_of_arrays_and_in_transformations():
    x, direction = pnp.array([0.5, -1.0, 2.0]), pnp.array([1.0, 2.0, 0.5])
    value, (first, second, third) = pc.jit(lambda x: jet(lambda x: (x**3).sum(), (x,), ([direction, 0 * x, 0 * x],)))(x)
    np.testing.assert_allclose(value, (x**3).sum(), rtol=1e-6)
    np.testing.assert_allclose(first, (3 * x**2 * direction).sum(), rtol=1e-6)
    np.testing.assert_allclose(second, (6 * x * direction**2).sum(), rtol=1e-6)
    np.testing.assert_allclose(third, (6 * direction**3).sum(), rtol=1e-6)
    mapped = pc.vmap(lambda x: jet(pnp.sin, (x,), ([1.0, 0.0],))[1][1])(x)
    np.testing.assert_allclose(mapped, -np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(jet2(lambda x: x**4, (2.0,), ([1.0, 0.0, 0.0],))[1], [32, 24, 8], rtol=1e-6)
    assert [round(float(fact(n))) for n in range(5)] == [1, 1, 2, 6, 24]
    with experimental.enable_x64():
        _, (_, second) = jet(pnp.cos, (np.float64(1),), ([1.0, 0.0],))
        np.testing.assert_allclose(second, -np.cos(1.0), rtol=1e-14)
    # Integers and results that are integers do not vary.
    assert pc.tree.map(float, jet(lambda x, n: (n, x * n), (2.0, 3), ([1.0], [0.0])))[1] == ([0.0], [3.0])


@pytest.mark.parametrize("terms", [[1, 0, 0], [1.0, 0.5, 0.0], [0.5, 2, 1]])
def test_integers_with_a_series_move_as_floats(terms):
    theirs = jax_jet(jax.numpy.sin, (2,), (terms,))
    value, found = jet(pnp.sin, (2,), (terms,))
    np.testing.assert_allclose(value, theirs[0], rtol=1e-6)
    np.testing.assert_allclose(found, theirs[1], rtol=2e-5, atol=1e-6)
    whole = pnp.array([3, 1 << 30])
    value, found = jet(lambda n, x: n * 1 + 0 * int(x.size), (whole, 1.0), (terms, zero_series))
    assert value.dtype == pnp.int32  # the value is that of the integers
    np.testing.assert_array_equal(value, whole)
    np.testing.assert_allclose(found, np.outer(terms, [1, 1]), rtol=1e-6)
    mixed = pc.jit(lambda n, terms: jet(lambda x, n: x * n, (2.0, n), ([1.0, 0.0, 0.0], terms)))(3, terms)
    np.testing.assert_allclose(mixed[0], 6)
    np.testing.assert_allclose(mixed[1], jet(lambda x, n: x * n, (2.0, 3.0), ([1.0, 0.0, 0.0], terms))[1], rtol=1e-6)
    with pytest.raises(TypeError) as raised:
        jet(lambda x, n: x[n], (pnp.ones(3), 1), ([1.0, 0.0, 0.0], terms))
    assert "argument 1 has the dtype int32 and a series" in "".join(raised.value.__notes__)


def test_weak_types_in_jet():
    half = pnp.ones(3, pnp.bfloat16)
    value, (first, second) = jet(lambda x: x * half, (2.0,), ([1.0, 0.0],))
    assert value.dtype == first.dtype == second.dtype == pnp.bfloat16


@pytest.mark.parametrize(
    ("primals", "series", "text"),
    [
        ((1.0, 2.0), ([1.0], [1.0, 2.0]), "inconsistent lengths"),
        ((1.0,), ([np.ones(3)],), r"term 0 for argument 0 has the shape \(3,\), and the argument has the shape \(\)"),
        ((1.0, 2.0), ([1.0],), "2 primals, and series for 1"),
        (("a",), ([1.0],), "primal value at position 0 is not an array"),
        ((1.0,), (["a"],), "term 0 for argument 0 is not an array"),
    ],
)
def test_bad_series(primals, series, text):
    with pytest.raises(ValueError, match=text):
        jet(lambda *x: x[0], primals, series)


def test_series_of_zeros():
    x, y = np.float32(0.5), np.float32(2.0)

    def f(x, y):
        return pnp.sin(x) * y

    got = jet(f, (x, y), ([1.0, 0.0], zero_series))
    wanted = jet(f, (x, y), ([1.0, 0.0], [0.0, 0.0]))
    np.testing.assert_array_equal(got[0], wanted[0])
    np.testing.assert_array_equal(got[1], wanted[1])
    assert pc.tree_util.tree_leaves([zero_series]) == []
    with pytest.raises(ValueError, match="at least one argument needs a series of terms"):
        jet(pnp.sin, (x,), (zero_series,))
