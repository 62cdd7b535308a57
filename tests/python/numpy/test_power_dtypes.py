"""Dtypes of powers, squares, angles and roundings: bools count as int32, integers as the default floats."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
BOOLS = np.array([True, False])


def each_way(function, *args):
    """Eager, compiled and mapped results, which must agree."""
    results = [function(*args), pc.jit(function)(*args), pc.vmap(function)(*args)]
    for other in results[1:]:
        assert other.dtype == results[0].dtype
        np.testing.assert_array_equal(np.asarray(results[0]), np.asarray(other))
    return results[0]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7])
def test_a_power_of_bools_is_of_int32(exponent, wide):
    with pc.enable_x64(wide):
        for function in (lambda x: x**exponent, lambda x: pnp.power(x, exponent)):
            found = each_way(function, pnp.array(BOOLS))
            assert (found.dtype, found.weak_type) == (np.int32, False)
            assert found.tolist() == [1, int(exponent == 0)]


@pytest.mark.parametrize("exponent", [-1, -2])
def test_integers_have_no_negative_power(exponent):
    for dtype in ["bool", *INTEGERS]:
        with pytest.raises(TypeError, match=f"^power: .* has no negative power {exponent}"):
            pnp.power(pnp.ones(2, dtype), exponent)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 5, 8])
def test_a_power_of_integers_keeps_their_dtype(dtype, exponent):
    values = np.array([0, 3, 100], dtype)
    found = each_way(lambda x: x**exponent, pnp.array(values))
    assert found.dtype == dtype
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.asarray(found), values ** np.array(exponent, dtype))


def test_bools_to_the_power_of_bools():
    found = each_way(lambda x: pnp.power(x, True), pnp.array(BOOLS))
    assert (found.dtype, found.tolist()) == (np.int32, [1, 0])
    assert each_way(lambda x: True**x, pnp.array(BOOLS)).tolist() == [1, 1]


def test_a_python_float_to_the_power_of_integers_is_strong():
    found = each_way(lambda x: 2.0**x, pnp.array([1, 3], "int8"))
    assert (found.dtype, found.weak_type, found.tolist()) == (np.float32, False, [2, 8])
    assert (2.0 ** pnp.asarray(2)).weak_type


@pytest.mark.parametrize("wide", [False, True])
def test_a_square_of_bools_is_of_int32(wide):
    with pc.enable_x64(wide):
        found = each_way(pnp.square, pnp.array(BOOLS))
        assert (found.dtype, found.tolist()) == (np.int32, [1, 0])
        assert pnp.square(True).dtype == np.int32


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_angles_and_roundings_of_integers_are_default_floats(dtype, wide):
    with pc.enable_x64(wide):
        values = np.array([0, 1, 100], dtype)
        angles, rounded = each_way(pnp.angle, pnp.array(values)), each_way(pnp.rint, pnp.array(values))
        assert angles.dtype == rounded.dtype == (np.float64 if wide else np.float32)
        assert angles.tolist() == [0, 0, 0]
        np.testing.assert_array_equal(np.asarray(rounded), values.astype(float))


def test_an_angle_without_dimensions_is_a_default_float():
    for dtype in ("bfloat16", "float16", "float32"):
        assert pnp.angle(pnp.asarray(-1.0, dtype)).dtype == np.float32
        assert pnp.angle(pnp.array([-1.0], dtype)).dtype == dtype
    assert not pnp.angle(1).weak_type
    assert float(pnp.angle(-1)) == float(np.float32(np.pi))
    assert not pnp.rint(1).weak_type
