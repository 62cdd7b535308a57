"""Functions that only read types take objects with a shape and a dtype; functions that compute refuse them."""

import copy
import pickle

import jax
import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


class Duck:
    def __init__(self, shape, dtype, weak_type=False):
        self.shape = shape
        self.dtype = dtype
        self.weak_type = weak_type


DUCKS = [
    Duck((3,), np.dtype("float32")),
    Duck([3], "float32"),
    Duck((np.int64(3),), np.float32),
    pc.ShapeDtypeStruct((3,), np.float32),
    jax.ShapeDtypeStruct((3,), np.float32),
    np.broadcast_to(np.float32(0), (3,)),
]


@pytest.mark.parametrize("duck", DUCKS, ids=lambda x: type(x).__module__ + "." + type(x).__name__)
def test_functions_that_look_at_types(duck):
    def f(x, y=1.0):
        return {"r": pnp.sin(x) * y}

    out = pc.ShapeDtypeStruct((3,), np.float32)
    assert pc.eval_shape(f, duck) == {"r": out}
    assert pc.eval_shape(f, 2.0, y=duck) == {"r": out}
    assert pc.make_jaxpr(f)(duck).in_avals == (pc.typeof(pnp.ones(3)),)
    assert pc.jit(f).eval_shape(duck) == {"r": out}
    assert pc.jit(f).lower(duck).out_info == {"r": out}
    assert pc.jit(f).trace(duck).out_info == {"r": out}
    compiled = pc.jit(f).lower(duck).compile()
    np.testing.assert_allclose(compiled(pnp.ones(3))["r"], np.sin(np.ones(3)), rtol=1e-6)
    (ct,) = pc.linear_transpose(lambda x: {"r": 2 * x}, duck)({"r": pnp.ones(3)})
    assert ct.tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", [bool, "int8", "bfloat16", ml_dtypes.bfloat16, "complex64"])
def test_dtypes_of_ducks(dtype):
    assert pc.eval_shape(lambda x: x, Duck((2, 0), dtype)) == pc.ShapeDtypeStruct((2, 0), dtype)
    assert pc.eval_shape(lambda x: x, Duck((), "float32", weak_type=True)).weak_type


def test_what_computes_refuses_them():
    duck = Duck((3,), np.dtype("float32"))
    for compute in (pc.jit(pnp.sin), pc.grad(lambda x: x.sum()), pc.vmap(pnp.sin), pnp.sin, pc.typeof):
        with pytest.raises(TypeError):
            compute(duck)
    with pytest.raises(TypeError):
        pc.vjp(pnp.sin, duck)
    with pytest.raises(TypeError, match="not an array"):
        pc.eval_shape(lambda x: x, Duck((3,), "no dtype"))
    with pytest.raises(TypeError, match="not an array"):
        pc.eval_shape(lambda x: x, Duck)


def test_a_struct_is_what_it_was_given():
    struct = pc.ShapeDtypeStruct((3, 4), "float64")
    assert struct.dtype == np.float64
    assert pc.eval_shape(lambda x: x, struct).dtype == np.float32
    assert (struct.ndim, struct.size, len(struct)) == (2, 12, 3)
    assert struct == pc.ShapeDtypeStruct([3, 4], float)
    assert hash(struct) == hash(pc.ShapeDtypeStruct([3, 4], float))
    assert struct != pc.ShapeDtypeStruct((3, 4), "float64", weak_type=True)
    assert struct.update(shape=(2,)) == pc.ShapeDtypeStruct((2,), "float64")
    assert struct.update(dtype=int, weak_type=True) == pc.ShapeDtypeStruct((3, 4), int, weak_type=True)
    assert pickle.loads(pickle.dumps(struct)) == struct
    assert copy.deepcopy(struct) == struct
    assert repr(struct) == "ShapeDtypeStruct(shape=(3, 4), dtype=float64)"
    with pytest.raises(AttributeError, match=r"update\(shape=...\)"):
        struct.shape = (1,)
    with pytest.raises(TypeError, match="len"):
        len(pc.ShapeDtypeStruct((), float))
    with pytest.raises(ValueError, match="dtype must be given"):
        pc.ShapeDtypeStruct((), None)
    with pytest.raises(ValueError, match="sharding must be a Sharding"):
        pc.ShapeDtypeStruct((3,), float, sharding=3)
    with pytest.raises(TypeError, match="colour"):
        struct.update(colour=3)


def test_like():
    assert pc.ShapeDtypeStruct.like(pnp.ones(3)) == pc.ShapeDtypeStruct((3,), "float32")
    assert pc.ShapeDtypeStruct.like(2.0) == pc.ShapeDtypeStruct((), "float32", weak_type=True)
    assert pc.ShapeDtypeStruct.like(Duck((2,), "int8")) == pc.ShapeDtypeStruct((2,), "int8")
    placed = pc.device_put(pnp.ones(3), pc.devices()[0])
    assert pc.ShapeDtypeStruct.like(placed).sharding == placed.sharding
    with pytest.raises(TypeError):
        pc.ShapeDtypeStruct.like("a")


def test_a_struct_with_a_sharding():
    mesh = pc.make_mesh((1,), ("x",))
    sharding = pc.NamedSharding(mesh, pc.P("x"))
    struct = pc.ShapeDtypeStruct((4,), "float32", sharding=sharding)
    assert struct.sharding == sharding
    assert struct != pc.ShapeDtypeStruct((4,), "float32")
    assert struct.update(sharding=None).sharding is None
    with mesh:
        assert pc.ShapeDtypeStruct((4,), "float32", sharding=pc.P("x")).sharding == sharding
    with pytest.raises(ValueError, match="there is no mesh"):
        _ = pc.ShapeDtypeStruct((4,), "float32", sharding=pc.P("x")).sharding
    compiled = pc.jit(lambda x: x * 2).lower(struct).compile()
    assert compiled.input_shardings[0][0] == sharding
    assert compiled(pnp.arange(4.0)).tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("value", [[1, 2], {"a": [3]}, np.arange(3), {1, 2}, (1, [2])], ids=str)
def test_checkpoint_takes_static_arguments_that_have_no_hash(value):
    seen = []

    def f(x, sizes):
        seen.append(sizes)
        return pnp.sin(x) * len(sizes)

    again = pc.checkpoint(f, static_argnums=1)
    np.testing.assert_allclose(pc.grad(again)(0.5, value), np.cos(0.5) * len(value), rtol=1e-6)
    assert seen[0] is value
    again(0.5, copy.deepcopy(value))
    assert len(seen) == 1
    np.testing.assert_allclose(pc.jit(lambda x: again(x, value))(0.5), np.sin(0.5) * len(value), rtol=1e-6)


def test_static_arguments_of_checkpoint_that_change():
    again = pc.checkpoint(lambda x, sizes: x * sum(sizes), static_argnums=1)
    sizes = [1, 2]
    assert float(again(2.0, sizes)) == 6
    sizes.append(3)
    assert float(again(2.0, sizes)) == 12
    assert float(pc.checkpoint(lambda x, n: x * n, static_argnums=1)(2.0, True)) == 2
