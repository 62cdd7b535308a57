"""Files of arrays, options for their text, and functions made by `frompyfunc`: as NumPy has them."""

import io

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16", "float16"])
def test_an_array_in_a_file(dtype, tmp_path):
    x = pnp.arange(6).reshape(2, 3).astype(dtype)
    pnp.save(tmp_path / "x.npy", x)
    found = pnp.load(tmp_path / "x.npy")
    assert type(found) is pc.Array
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x)


def test_several_arrays_in_a_file():
    file = io.BytesIO()
    pnp.savez(file, a=pnp.ones(2), b=pnp.arange(3))
    file.seek(0)
    found = pnp.load(file)
    np.testing.assert_array_equal(found["a"], [1, 1])
    np.testing.assert_array_equal(found["b"], [0, 1, 2])


def test_a_traced_array_has_no_file():
    with pytest.raises(pc.errors.TracerArrayConversionError):
        pc.jit(lambda x: pnp.save(io.BytesIO(), x))(pnp.ones(2))


def test_options_for_texts():
    x = pnp.array([1 / 3, 2.0])
    with pnp.printoptions(precision=2):
        assert pnp.get_printoptions()["precision"] == 2
        assert str(x) == "[0.33 2.  ]"
    before = np.get_printoptions()
    try:
        pnp.set_printoptions(precision=3)
        assert str(x) == pnp.array_str(x) == "[0.333 2.   ]"
    finally:
        np.set_printoptions(**before)
    assert "0.33" in pnp.array_repr(x)


def test_functions_of_scalars():
    add = pnp.frompyfunc(lambda x, y: x + 2 * y, nin=2, nout=1, identity=0)
    assert (add.nin, add.nout, add.identity) == (2, 1, 0)
    x = pnp.arange(4)
    assert add(x, 10).tolist() == [20, 21, 22, 23]
    assert add.outer(x, x).shape == (4, 4)
    assert add.reduce(x).item() == np.frompyfunc(lambda x, y: x + 2 * y, 2, 1).reduce(np.arange(4))
    both = pnp.frompyfunc(lambda x: (x + 1, -x), 1, 2)
    assert [one.tolist() for one in both(x)] == [[1, 2, 3, 4], [0, -1, -2, -3]]


def test_kinds_that_no_array_has():
    for kind in (pnp.character, pnp.flexible, pnp.object_):
        assert not pnp.issubdtype("float32", kind)
    assert issubclass(pnp.ComplexWarning, Warning)


def test_what_is_no_function_of_scalars():
    for call, match in [
        (lambda: pnp.frompyfunc("sin", 1, 1), "takes a function, got 'sin' of type str"),
        (lambda: pnp.frompyfunc(abs, 1.5, 1), "nin and nout are numbers of arguments and results, got 1.5, 1"),
        (lambda: pnp.frompyfunc(abs, 1, 1, identity="one"), "frompyfunc"),
    ]:
        with pytest.raises(TypeError, match=match):
            call()
