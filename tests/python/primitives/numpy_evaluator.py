"""Evaluates primitives by their NumPy references, so that rules are tested in float64 and without the compiler."""

import contextlib
from collections.abc import Iterator

import numpy as np

from pycompiler.core.config.config import enable_x64
from pycompiler.core.hooks import hooks
from pycompiler.core.types.aval import get_aval


def evaluate(primitive, args, params):
    """The reference's result. The shape rule must give the same shape and dtype."""
    avals = [get_aval(arg) for arg in args]
    expected = primitive.shape_rule(*avals, **params)
    arrays = [np.asarray(arg).astype(aval.dtype) for arg, aval in zip(args, avals, strict=True)]
    results = primitive.reference(*arrays, **params)
    if not primitive.multiple_results:
        results, expected = (results,), (expected,)
    for result, aval in zip(results, expected, strict=True):
        assert (result.shape, result.dtype) == (aval.shape, aval.dtype), primitive.name
    return tuple(results) if primitive.multiple_results else results[0]


@contextlib.contextmanager
def by_reference() -> Iterator[None]:
    """Eager evaluation by NumPy, with 64-bit types, in the block."""
    before = hooks.evaluate
    hooks.evaluate = evaluate
    try:
        with enable_x64(True):
            yield
    finally:
        hooks.evaluate = before
