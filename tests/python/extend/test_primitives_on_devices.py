"""Own primitives in programs over several devices."""

import numpy as np

import pycompiler as pc
from pycompiler.extend import core
from pycompiler.interpreters import ad, batching, mlir
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4

cube_p = core.Primitive("cube")


def cube(x):
    return x * x * x


cube_p.def_impl(cube)
cube_p.def_abstract_eval(lambda x: x)
ad.defjvp(cube_p, lambda t, x: 3 * x * x * t)
batching.defvectorized(cube_p)
mlir.register_lowering(cube_p, mlir.lower_fun(cube, multiple_results=False))

X = np.arange(8, dtype=np.float32)


def test_partitioned():
    mesh = pc.make_mesh((4,), ("i",))
    x = pc.device_put(X, pc.NamedSharding(mesh, P("i")))
    slope = pc.grad(lambda x: cube_p.bind(x).sum())
    for f, expected in ((cube_p.bind, X**3), (slope, 3 * X**2)):
        out = pc.jit(f)(x)
        assert out.sharding.spec == P("i")
        np.testing.assert_array_equal(out, expected)


def test_in_shard_map():
    mesh = pc.make_mesh((4,), ("i",))
    f = pc.shard_map(lambda x: cube_p.bind(x), mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    np.testing.assert_array_equal(pc.jit(f)(X), X**3)
    np.testing.assert_array_equal(f(X), X**3)
    np.testing.assert_array_equal(pc.grad(lambda x: f(x).sum())(X), 3 * X**2)


def test_in_pmap():
    rows = X.reshape(4, 2)
    np.testing.assert_array_equal(pc.pmap(lambda x: cube_p.bind(x))(rows), rows**3)
