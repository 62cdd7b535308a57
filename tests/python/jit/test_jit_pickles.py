"""Copies and pickles of jitted functions."""

import copy
import io
import marshal
import pickle
import types

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp


@pc.jit
def imported(x):
    return x * 2


def made(code, name, cells):
    return types.FunctionType(marshal.loads(code), globals(), name, None, tuple(map(types.CellType, cells)))


class ByValue(pickle.Pickler):
    """A pickler that writes Python functions by their value, as cloudpickle does."""

    def reducer_override(self, obj):
        if type(obj) is not types.FunctionType or "<" not in obj.__qualname__:
            return NotImplemented
        cells = [cell.cell_contents for cell in obj.__closure__ or ()]
        return made, (marshal.dumps(obj.__code__), obj.__name__, cells)


def by_value(x):
    file = io.BytesIO()
    ByValue(file).dump(x)
    return pickle.loads(file.getvalue())


def test_a_function_of_a_module_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(imported)) is imported
    assert by_value(imported) is imported


def test_a_copy_is_the_function_itself():
    local = pc.jit(lambda x: x)
    for function in (imported, local):
        assert copy.copy(function) is function
        assert copy.deepcopy([function]) == [function]


def test_a_function_in_a_function_is_pickled_by_its_value():
    scale = np.float32(3)

    @pc.jit
    def inner(x):
        return x * scale

    @pc.jit(static_argnums=0, donate_argnames="x")
    def outer(power, x):
        return inner(x) ** power

    again = by_value(outer)
    assert again is not outer
    x = pnp.ones(2)
    np.testing.assert_array_equal(again(2, x=x), [9, 9])
    assert x.is_deleted()
