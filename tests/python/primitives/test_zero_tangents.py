"""Rules of derivatives, called as users' interpreters call them, with tangents that are all symbolic zeros."""

import zlib

import numpy as np
import pytest
from numpy_evaluator import by_reference

from pycompiler.interpreters import ad
from pycompiler.primitives import PRIMITIVES

# Of these, only what they are parts of has a derivative.
COMPACT = {"geqrf", "geqp3", "householder_product", "hessenberg", "tridiagonal", "schur"}


def leaves(primitive, results):
    return list(results) if primitive.multiple_results else [results]


@pytest.mark.parametrize(
    "name", [name for name, primitive in PRIMITIVES.items() if primitive.jvp and name not in COMPACT]
)
def test_no_result_varies_if_no_operand_does(name):
    primitive = PRIMITIVES[name]
    args, params = next(iter(primitive.sampler(np.random.default_rng(zlib.crc32(name.encode())))))
    with by_reference():
        outs, tangents = ad.primitive_jvps[primitive](args, [ad.Zero.from_primal_value(x) for x in args], **params)
        wanted = leaves(primitive, primitive.reference(*args, **params))
    outs, tangents = leaves(primitive, outs), leaves(primitive, tangents)
    assert len(outs) == len(tangents) == len(wanted)
    for out, tangent, expected in zip(outs, tangents, wanted, strict=True):
        np.testing.assert_array_equal(out, expected)
        assert type(tangent) is ad.Zero
        assert tangent.aval.shape == expected.shape
