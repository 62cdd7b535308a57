"""All primitives of the table, compiled once for symbolic sizes: each size gives the result of its own compilation.

symbolic_samples.py turns the sizes of samples into symbols. The code runs at the sampled sizes and at greater ones,
some of which fill vectors and leave a remainder. A failure lists the failing samples.
"""

import numpy as np
import pytest
from symbolic_samples import NAMES, at, symbolic
from test_table import EXACT, assert_near, bits_of

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.core.dims.dims import Dim
from pycompiler.primitives import (
    PRIMITIVES,
    arithmetic,
    bits,
    compare,
    complex,
    creation,
    elementwise,
    math,
    movement,
    rules,
    shape,
    special,
)

# Their code has one order: the result has the same bits for known and unknown sizes.
_FAMILIES = (arithmetic, bits, compare, complex, creation, elementwise, math, movement, shape, special)
ONE_ORDER = EXACT | {entry.name for family in _FAMILIES for entry in family.TABLE}
# Arguments that a decomposition requires, such as a positive definite matrix.
MATRICES = ("cholesky", "cholesky_update", "eig", "eigh", "expm", "expm_frechet", "geqp3", "geqrf", "hessenberg")
MATRICES += ("householder_product", "linear_solve", "lu", "ormqr", "qr", "schur", "svd", "sylvester")
MATRICES += ("triangular_solve", "tridiagonal")
# The increments of the sampled sizes, and the number of samples of a primitive, those that differ most.
MORE, SAMPLED = (0, 2), 3
MORE_IN_FULL = (0, 1, 17)


def larger(name, arg, new_shape):
    """An argument of another shape: the sampled one repeated, so that places and amounts stay valid."""
    given, permuted = arg.shape, name == "linear_solve" and rules.kind(arg.dtype) == "i"
    for axis, size in enumerate(new_shape):
        before = arg.shape[axis]
        if size == before:
            continue
        arg = np.take(arg, np.arange(size) % before, axis=axis)
        if permuted and axis == len(new_shape) - 1:
            arg[..., before:] = np.arange(before, size)
    if given != new_shape and name in MATRICES and arg.ndim > 1 and rules.kind(arg.dtype) in "fc":
        rows, columns = arg.shape[-2:]
        arg = arg + np.eye(rows, columns, dtype=arg.dtype) * (4 + np.arange(columns, dtype=arg.dtype))
    return arg


def outputs(out):
    return [np.asarray(x) for x in pc.tree.leaves(out)]


def compiled(name, sample):
    """The code for all sizes. Arguments that are only sizes follow those of the sample."""
    primitive = PRIMITIVES[name]

    def apply(args, sizes):
        return primitive.bind(*args, **sample.params)

    structs = [pc.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in sample.avals]
    telling = [pc.ShapeDtypeStruct((Dim(symbol, min=size),), np.int8) for symbol, size in sample.sizes.items()]
    return pc.jit(apply).lower(structs, telling).compile()


def check(name, sample, more):
    """Compile a sample once, and compare it with code for each size."""
    primitive = PRIMITIVES[name]
    function = compiled(name, sample)
    for amount in more:
        sizes = {symbol: size + amount for symbol, size in sample.sizes.items()}
        args = [larger(name, arg, at(aval.shape, sizes)) for arg, aval in zip(sample.args, sample.avals, strict=True)]
        params = {key: at(value, sizes) for key, value in sample.params.items()}
        expected = outputs(primitive.bind(*args, **params))
        found = outputs(function(args, [np.zeros(size, np.int8) for size in sizes.values()]))
        for got, want in zip(found, expected, strict=True):
            assert (got.shape, got.dtype) == (want.shape, want.dtype), sizes
            if name in ONE_ORDER:
                np.testing.assert_array_equal(bits_of(got), bits_of(want), err_msg=str(sizes))
            else:
                assert_near(name, got, want)


def described(sample):
    avals = ", ".join(map(str, sample.avals))
    return f"({avals}) with {sample.params}"


def check_all(name, every, more):
    assert every, "no sample has symbols"
    failures = []
    for sample in every:
        try:
            check(name, sample, more)
        except Exception as error:
            failures.append(f"{described(sample)}: {type(error).__name__}: {str(error).strip()[:600]}")
    assert not failures, f"{len(failures)} of {len(every)} samples of {name} fail:\n" + "\n\n".join(failures)


def spread(every):
    """Some choices, from the first to the last: the last choices of a sample have most symbols."""
    count = min(len(every), SAMPLED)
    return [every[len(every) - 1 - k * (len(every) - 1) // max(count - 1, 1)] for k in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_a_compilation_serves_other_sizes(name):
    with enable_x64(True):
        check_all(name, spread(list(symbolic(name))), MORE)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_every_sample_and_type_serves_other_sizes(name):
    with enable_x64(True):
        check_all(name, list(symbolic(name, every_type=True)), MORE_IN_FULL)
