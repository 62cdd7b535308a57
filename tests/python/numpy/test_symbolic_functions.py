"""Functions of numpy, lax, random, nn and scipy at symbolic sizes: their shapes, evaluated, are the static ones."""

import re

import pytest
from symbolic_cases import CASES, KEY, K, M, N

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import InconclusiveDimensionError

SIZES = [
    {"n": 1, "m": 1, "k": 4, "b": 8},
    {"n": 5, "m": 7, "k": 6, "b": 16},
    {"n": 6, "m": 3, "k": 4, "b": 8},
    {"n": 2, "m": 9, "k": 9, "b": 24},
]


def at(x, sizes):
    return x.evaluate(sizes) if isinstance(x, Dim) else x


def arguments(shapes, sizes=None):
    """ShapeDtypeStructs for shapes, each of which may end in a dtype."""
    result = []
    for shape in shapes:
        dtype = "float32"
        if shape == KEY:
            result.append(pc.eval_shape(lambda: pc.random.key(0)))
            continue
        if shape and isinstance(shape[-1], str):
            *shape, dtype = shape
        result.append(pc.ShapeDtypeStruct([at(d, sizes) if sizes else d for d in shape], dtype))
    return result


def leaves(out):
    return [(x.shape, x.dtype) for x in pc.tree.leaves(out)]


@pytest.mark.parametrize("name", CASES)
def test_symbolic_shapes_are_the_static_ones(name):
    function, *shapes = CASES[name]
    symbolic = leaves(pc.make_jaxpr(function, return_shape=True)(*arguments(shapes))[1])
    for sizes in SIZES:
        static = leaves(pc.eval_shape(function, *arguments(shapes, sizes)))
        assert [(tuple(at(d, sizes) for d in shape), dtype) for shape, dtype in symbolic] == static


FIXED = {
    "delete": (lambda x: jnp.delete(x, 1), (N,)),
    "insert": (lambda x: jnp.insert(x, 1, 3.0), (N,)),
    "tril_indices": (lambda x: jnp.tril_indices(x.shape[0]), (N,)),
    "toeplitz": (lambda x: pc.scipy.linalg.toeplitz(x), (N,)),
}


@pytest.mark.parametrize("name", FIXED)
def test_what_needs_an_int_says_so(name):
    function, *shapes = FIXED[name]
    with pytest.raises(InconclusiveDimensionError, match=rf"{name}: the result depends on the value of the size n"):
        pc.eval_shape(function, *arguments(shapes))


OPEN = {
    "a window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (4,), (1,), "VALID"), (N,), 'Dim("n", min=3)'),
    "the greatest three": (lambda x: lax.top_k(x, 3), (N,), 'Dim("n", min=3)'),
    "halves": (lambda x: x.reshape(2, x.shape[0] // 2), (N,), 'Dim("n", multiple_of=2)'),
    "parts": (lambda x: jnp.split(x, 3), (N,), 'Dim("n", multiple_of=3)'),
    "all sizes of 1": (lambda x: jnp.squeeze(x), (N, 3), 'Dim("n", min=2)'),
    "the greatest of perhaps none": (lambda x: x.max(), (Dim("n", min=0),), 'Dim("n", min=1)'),
    "a row of perhaps none": (lambda x: x[0], (Dim("n", min=0), 3), 'Dim("n", min=1)'),
    "a branch of Python": (lambda x: x if x.shape[0] == 1 else -x, (N,), 'Dim("n", min=2)'),
    "len": (lambda x: range(len(x)), (N,), "use x.shape[0]"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_the_bounds_leave_open_names_the_bound_and_the_line(name):
    function, shape, bound = OPEN[name]
    with pytest.raises(InconclusiveDimensionError, match=re.escape(bound)) as caught:
        pc.eval_shape(function, *arguments([shape]))
    assert str(caught.value).startswith(f"{__file__}:{function.__code__.co_firstlineno} ")


def test_sizes_are_not_broadcast_by_chance():
    for function, shapes in [
        (lambda x, y: x + y, [(N,), (M,)]),
        (lambda x, y: x @ y, [(N, M), (K, N)]),
        (lambda x, y: jnp.stack([x, y]), [(N,), (M,)]),
    ]:
        with pytest.raises(ValueError, match=r"n"):
            pc.eval_shape(function, *arguments(shapes))
