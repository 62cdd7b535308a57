"""`pmap` on eight devices, against eight threads of plain Python."""

import numpy as np
import pytest
import slopes
from plain_devices import Devices

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import NamedSharding

PLAIN = Devices(i=8)
X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)


def close(got, wanted, tolerance=1e-5):
    for x, y in zip(pc.tree.leaves(got), pc.tree.leaves(wanted), strict=True):
        assert x.shape == y.shape
        assert x.dtype == np.float32
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


CASES = {
    "map": (lambda m, x: m.numpy.sin(x) * 2, {}),
    "psum": (lambda m, x: x / m.lax.psum(x, "i"), {"axis_name": "i"}),
    "pmean": (lambda m, x: x - m.lax.pmean(x, "i"), {"axis_name": "i"}),
    "pmax": (lambda m, x: m.lax.pmax(x, axis_name="i") + m.lax.pmin(x, "i"), {"axis_name": "i"}),
    "all_gather": (lambda m, x: m.lax.all_gather(x, "i").sum(0), {"axis_name": "i"}),
    "ppermute": (lambda m, x: m.lax.ppermute(x, "i", [(i, (i + 3) % 8) for i in range(8)]), {"axis_name": "i"}),
    "axis_index": (lambda m, x: x * m.lax.axis_index("i"), {"axis_name": "i"}),
    "tree": (lambda m, x: {"a": x, "b": (x.sum(), m.lax.psum(1, "i") * x)}, {"axis_name": "i"}),
    "vmap": (lambda m, x: m.vmap(lambda e: e * m.lax.psum(e, "i"))(x), {"axis_name": "i"}),
    "scan": (lambda m, x: m.lax.scan(lambda c, e: (c + m.lax.psum(e, "i"), c), 0.0, x)[1], {"axis_name": "i"}),
    "cond": (lambda m, x: m.lax.cond(m.lax.axis_index("i") > 2, lambda: x, lambda: -x), {"axis_name": "i"}),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    fun, options = CASES[name]
    wanted = PLAIN.pmap(lambda x: fun(PLAIN.module, x))(X)
    close(pc.pmap(lambda x: fun(pc, x), **options)(X), wanted)


@pytest.mark.parametrize("name", ["map", "psum", "all_gather", "vmap", "scan"])
def test_gradients(name):
    fun, options = CASES[name]

    mapped = pc.pmap(lambda x: fun(pc, x), **options)
    wanted = slopes.gradient(lambda x: (PLAIN.pmap(lambda x: fun(PLAIN.module, x))(x) ** 2).sum(), X)
    close(pc.jit(pc.grad(lambda x: (mapped(x) ** 2).sum()))(X), wanted, 1e-3)


def test_a_gradient_inside():
    """It is that of the sum of all devices' values."""
    for collective in ("psum", "pmean"):

        def fun(m, x, collective=collective):
            return getattr(m.lax, collective)((x**2).sum(), "i")

        got = pc.pmap(pc.grad(lambda x, fun=fun: fun(pc, x)), axis_name="i")(X)
        close(got, slopes.gradient(lambda x, fun=fun: PLAIN.pmap(lambda x: fun(PLAIN.module, x))(x).sum(), X))


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "args"),
    [
        ((0, None), 0, (X, np.float32(3))),
        ((1, 0), 1, (X.T.copy(), X)),
        (0, 0, (X, X)),
    ],
)
def test_axes(in_axes, out_axes, args):
    close(
        pc.pmap(lambda x, y: x * y, in_axes=in_axes, out_axes=out_axes)(*args),
        PLAIN.pmap(lambda x, y: x * y, in_axes=in_axes, out_axes=out_axes)(*args),
    )


def test_a_result_that_is_not_mapped():
    got = pc.pmap(lambda x: (x, lax.psum(x, "i")), axis_name="i", out_axes=(0, None))(X)
    close(got, (X, X.sum(0)))


def test_static_arguments():
    count = []

    def fun(x, power, y):
        count.append(power)
        return x**power + y

    f = pc.pmap(fun, static_broadcasted_argnums=1)
    close(f(X, 2, X), X**2 + X)
    close(f(X, 2, X), X**2 + X)
    close(f(X, 3, X), X**3 + X)
    assert count == [2, 3]
    close(pc.pmap(fun, static_broadcasted_argnums=(1,), in_axes=(0, None, None))(X, 2, 1.0), X**2 + 1)


def test_results_are_divided_over_the_devices():
    x = pc.pmap(lambda x: x + 1)(X)
    assert isinstance(x.sharding, NamedSharding)
    assert len(x.sharding.device_set) == 8
    assert [shard.data.shape for shard in x.addressable_shards] == [(1, 3)] * 8
    assert [shard.device.id for shard in x.addressable_shards] == list(range(8))
    y = pc.pmap(lambda x: x * 2)(x)
    close(y, (X + 1) * 2)
    some = pc.pmap(lambda x: x, devices=pc.devices()[2:5])(X[:3])
    assert some.devices() == set(pc.devices()[2:5])
    close(pc.pmap(lambda x: x)(X[:3]), X[:3])


def test_it_traces_abstract_values():
    seen = []
    pc.pmap(lambda x: seen.append(x) or x)(X)
    assert repr(seen[0]) == "Traced<float32[3]>with<pmap>"
    with pytest.raises(pc.errors.ConcretizationTypeError):
        pc.pmap(lambda x: x if x[0] > 0 else -x)(X)


def test_pmap_inside_pmap_maps_on_each_device():
    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    fun = pc.pmap(pc.pmap(lambda e: e - lax.pmean(e, ("i", "j")), axis_name="j"), axis_name="i")
    close(fun(x), x - x.mean((0, 1)))
    close(pc.vmap(pc.pmap(lambda e: e - lax.psum(e, "i"), axis_name="i"))(x), x - x.sum(1, keepdims=True))


def test_random_keys():
    keys = pc.random.split(pc.random.PRNGKey(0), 8)
    got = pc.pmap(lambda key: pc.random.normal(key, (4,)))(keys)
    np.testing.assert_array_equal(got, [pc.random.normal(key, (4,)) for key in keys])


def test_donated_arguments_are_deleted():
    x = pnp.asarray(X)
    f = pc.pmap(lambda x: x + 1, donate_argnums=0)
    close(f(x), X + 1)
    assert x.is_deleted()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: pc.pmap(lambda x: x)(np.ones(9, np.float32)), ValueError, "has 9 elements.*8 devices are there"),
        (
            lambda: pc.pmap(lambda x, y: x + y)(np.ones(4), np.ones(3)),
            ValueError,
            "pmap: the sizes of the mapped axes of .* differ: 'x' .*axis 0: 4; 'y' .*axis 0: 3",
        ),
        (lambda: pc.pmap(lambda x: x, in_axes=None)(X), ValueError, "pmap: nothing is mapped"),
        (lambda: pc.pmap(lambda x: x, devices=[]), ValueError, "pmap: devices has no device"),
        (lambda: pc.pmap(lambda x: x)(np.float32(1)), ValueError, "pmap: axis 0 of argument 'x'"),
        (lambda: pc.pmap(lambda x: lax.psum(x, "j"), axis_name="i")(X), NameError, "'j'"),
        (lambda: pc.pmap(3), TypeError, "takes a function"),
        (lambda: pc.pmap(lambda x, n: x, static_broadcasted_argnums=1)(X, [1]), ValueError, "hashable"),
        (lambda: pc.pmap(lambda x: x, devices=pc.devices()[:2])(X), ValueError, "2 devices were given"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
