"""References that functions with own derivatives read: the rules run later, with the values of the call."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.errors import NotDifferentiableError

X = np.arange(3, dtype=np.float32)


def forward(scale):
    """3 x for a scale of 3; its rule says 2 * 3."""

    @pc.custom_jvp
    def scaled(x):
        return scale[...] * x

    scaled.defjvp(lambda primals, tangents: (scaled(*primals), 2 * scale[...] * tangents[0]))
    return scaled, 6


def backward(scale):
    """3 x for a scale of 3; its rule says 5 * 3."""

    @pc.custom_vjp
    def scaled(x):
        return scale[...] * x

    scaled.defvjp(lambda x: (scaled(x), None), lambda _, ct: (5 * scale[...] * ct,))
    return scaled, 15


@pytest.mark.parametrize("make", [forward, backward])
def test_rules_read_references(make):
    scaled, slope = make(pc.new_ref(pnp.float32(3)))
    for function in (scaled, pc.jit(scaled)):
        assert function(2.0) == 6
        assert pc.grad(function)(1.0) == slope
        np.testing.assert_array_equal(pc.vmap(function)(X), 3 * X)
        np.testing.assert_array_equal(pc.jit(pc.vmap(function))(X), 3 * X)
        np.testing.assert_array_equal(pc.vmap(pc.grad(function))(X), [slope] * 3)

        def total(x, function=function):
            return pc.vmap(function)(x).sum()

        np.testing.assert_array_equal(pc.jit(pc.grad(total))(X), [slope] * 3)


def test_a_rule_does_not_write_what_its_function_reads():
    scale = pc.new_ref(pnp.float32(3))

    @pc.custom_jvp
    def scaled(x):
        return scale[...] * x

    @scaled.defjvp
    def _(primals, tangents):
        scale[...] = 4.0
        return scaled(*primals), 2 * tangents[0]

    with pytest.raises(TypeError, match=r"a rule of a custom derivative writes a reference of type Ref\{float32\[\]\}"):
        pc.grad(pc.jit(scaled))(1.0)
    assert scale[...] == 3


def test_a_rule_has_no_derivative_by_what_a_reference_holds():
    def outer(x):
        held = pc.new_ref(x)

        @pc.custom_jvp
        def product(y):
            return held[...] * y

        product.defjvp(lambda primals, tangents: (product(*primals), held[...] * tangents[0]))
        return pc.jit(product)(2.0)

    assert outer(3.0) == 6
    for function in (outer, pc.jit(outer)):
        with pytest.raises(NotDifferentiableError, match="product closes over a value that is differentiated"):
            pc.grad(function)(1.0)
