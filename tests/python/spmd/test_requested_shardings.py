"""Shardings that a program asks for: of one device, of structs, with a layout, and ones that do not divide evenly."""

import pickle

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental.layout import Format, Layout

MESH = auto_mesh((4, 2), ("x", "y"))
ROWS = pc.NamedSharding(MESH, pc.P("x"))
ONE = pc.sharding.SingleDeviceSharding(pc.devices()[5])
A = np.arange(16, dtype=np.float32)


def test_a_sharding_of_one_device_is_its_device():
    for made in (
        pc.jit(lambda x: x * 2, out_shardings=ONE)(A),
        pc.jit(lambda x: x * 2, in_shardings=ONE)(A),
        pc.jit(lambda x: lax.with_sharding_constraint(x * 2, ONE))(A),
        lax.with_sharding_constraint(pnp.asarray(A) * 2, ONE),
    ):
        assert made.sharding == ONE
        assert made.committed
        np.testing.assert_array_equal(made, A * 2)
    first, second = pc.jit(lambda x: (x, {"a": x + 1}), out_shardings=(ONE, {"a": None}))(A)
    assert first.device == second["a"].device == ONE.device_list[0]
    with pytest.raises(ValueError, match=r"device"):
        pc.jit(lambda x: x, out_shardings=ONE)(pc.device_put(A, pc.devices()[1]))


@pytest.mark.parametrize("sharding", [ONE, ROWS], ids=["one device", "rows"])
def test_an_array_like_a_struct_has_its_sharding(sharding):
    struct = pc.ShapeDtypeStruct((16,), "float32", sharding=sharding)
    for make in (
        pnp.zeros_like,
        pnp.ones_like,
        pnp.empty_like,
        lambda x: pnp.full_like(x, 3),
        lambda x: lax.full_like(x, 3),
    ):
        made = make(struct)
        assert made.sharding == sharding
        assert made.committed
    assert pc.jit(lambda: pnp.ones_like(struct))().sharding == sharding
    # Another shape, or another place.
    assert not pnp.zeros_like(struct, shape=(3,)).committed
    assert pnp.zeros_like(struct, device=pc.devices()[2]).device == pc.devices()[2]


def test_a_format_stands_for_its_sharding():
    form = Format(Layout((0,)), ROWS)
    struct = pc.ShapeDtypeStruct((16,), "float32", sharding=form)
    assert struct.sharding == ROWS
    assert struct.format == form
    assert struct.update(shape=(4, 2)).format == Format(Layout((0, 1)), ROWS)
    assert pc.ShapeDtypeStruct((2,), "int32").format == Format()
    assert pc.make_array_from_callback((16,), form, lambda index: A[index]).format == form
    auto = Format(Layout.AUTO, ROWS)
    for make in (
        lambda: pc.ShapeDtypeStruct((4, 4), "float32", sharding=auto),
        lambda: pc.make_array_from_callback((16,), auto, lambda index: A[index]),
        lambda: pc.device_put(A, auto),
    ):
        with pytest.raises(ValueError, match="whose layout is not decided"):
            make()
    assert pc.jit(lambda x: x, out_shardings=auto)(A).sharding == ROWS
    with pytest.raises(ValueError, match="row-major"):
        pc.ShapeDtypeStruct((4, 4), "float32", sharding=Format(Layout((1, 0)), ROWS))


def test_eval_shape_tells_the_shardings_of_results():
    function = pc.jit(lambda x: (x * 2, {"a": x}), out_shardings=(ONE, {"a": ROWS}))
    first, second = function.eval_shape(A)
    assert first.sharding == ONE
    assert second["a"].sharding == ROWS
    first, second = pc.jit(lambda x: (x, x), out_shardings=(None, ROWS)).eval_shape(A)
    assert (first.sharding, second.sharding) == (None, ROWS)


def test_a_request_that_does_not_divide_evenly():
    def constrained(x, spec):
        return pc.jit(lambda x: lax.with_sharding_constraint(x * 2, pc.NamedSharding(MESH, spec)))(x)

    for size, spec, kept in (
        (13, pc.P("x"), pc.P(None)),
        (12, pc.P(("x", "y")), pc.P("x")),
        (16, pc.P(("x", "y")), pc.P(("x", "y"))),
        (2, pc.P(("y", "x")), pc.P("y")),
    ):
        made = constrained(A[:size], spec)
        np.testing.assert_array_equal(made, A[:size] * 2)
        assert made.sharding.is_equivalent_to(pc.NamedSharding(MESH, kept), 1)
    made = constrained(A.reshape(4, 4)[:3], pc.P("x", "y"))
    assert made.sharding.is_equivalent_to(pc.NamedSharding(MESH, pc.P(None, "y")), 2)
    with pytest.raises(ValueError, match="divided evenly"):
        lax.with_sharding_constraint(pnp.arange(13), ROWS)
    with pytest.raises(ValueError, match="divided evenly"):
        pc.jit(lambda x: x, out_shardings=ROWS)(pnp.arange(13))
    with pytest.raises(ValueError, match="2 entries"):
        constrained(A, pc.P("x", "y"))


def test_a_pickle_of_a_sharding_names_its_devices():
    for sharding in (ONE, ROWS):
        assert pickle.loads(pickle.dumps(sharding)) == sharding
    with pytest.raises(ValueError, match="no device 'cpu' with the id 77"):
        pickle.loads(pickle.dumps(ONE).replace(b"K\x05", b"K\x4d"))
