"""trace, lower, compile and eval_shape with symbolic sizes."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

N = pc.Dim("n")
SPEC = pc.ShapeDtypeStruct((N, 3), pnp.float32)


def f(x):
    return pnp.tanh(x).sum(1), x[:1]


def rows(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def test_eval_shape():
    total, first = pc.jit(f).eval_shape(SPEC)
    assert (total.shape, first.shape) == ((N,), (1, 3))
    # For an array, its sizes are used, dynamic or not.
    total, _ = pc.jit(f, dynamic={"x": ("n", None)}).eval_shape(rows(5, 3))
    assert total.shape == (5,)


def test_compiled_takes_every_size():
    compiled = pc.jit(f).lower(SPEC).compile()
    for n in (1, 2, 50):
        x = rows(n, 3)
        total, first = compiled(x)
        np.testing.assert_allclose(total, np.tanh(x).sum(1), rtol=1e-5)
        np.testing.assert_array_equal(first, x[:1])
    with pytest.raises(ValueError, match=r"axis 0 of argument 'x' of f is 0, but n must be 1 or more"):
        compiled(rows(0, 3))
    with pytest.raises(ValueError, match=r"axis 1 of argument 'x' of f is 4, expected 3"):
        compiled(rows(2, 4))
    with pytest.raises(TypeError, match=r"compiled for f32\[n,3\] as 'x', called with i32\[2,3\]"):
        compiled(rows(2, 3).astype(np.int32))
    with pytest.raises(ValueError, match="has 1 dimensions"):
        compiled(rows(3))


def test_dynamic_is_lowered_symbolically():
    lowered = pc.jit(f, dynamic={"x": ("n", None)}).lower(rows(5, 3))
    assert "f32[n,3]" in lowered.as_text("graph")
    assert "tensor<?x3xf32>" in lowered.as_text()
    assert lowered.compile()(rows(7, 3))[0].shape == (7,)
    assert str(pc.jit(f, dynamic={"x": ("n", None)}).trace(rows(5, 3)).jaxpr.in_avals[0]) == "f32[n,3]"


def test_memory_and_cost_are_of_sizes():
    compiled = pc.jit(lambda x, y: (x @ y).sum(1)).lower(SPEC, pc.ShapeDtypeStruct((3, 8), pnp.float32)).compile()
    memory = compiled.memory_analysis(n=128)
    assert memory.argument_size_in_bytes == 128 * 3 * 4 + 3 * 8 * 4
    assert memory.output_size_in_bytes == 128 * 4
    assert "arguments" in str(memory)
    cost = compiled.cost_analysis(n=128)
    assert cost["bytes accessed"] == 128 * 12 + 96 + 512
    assert cost["flops"] > 1.5 * compiled.cost_analysis(n=64)["flops"]
    with pytest.raises(ValueError, match=r"compiled for every size of n; say for which, as memory_analysis\(n=1\)"):
        compiled.memory_analysis()
    with pytest.raises(ValueError, match="n is 0, but must be 1 or more"):
        compiled.cost_analysis(n=0)
    with pytest.raises(ValueError, match="compiled for fixed sizes, and has no n"):
        pc.jit(f).lower(rows(2, 3)).compile().memory_analysis(n=3)


def test_a_symbol_that_does_not_follow_from_the_arguments():
    m = pc.Dim("m")
    lowered = pc.jit(lambda x: x * 2).lower(pc.ShapeDtypeStruct((N * m,), pnp.float32))
    with pytest.raises(ValueError, match=r"the size of (n|m) does not follow from the shapes of the arguments"):
        lowered.compile()


def test_expressions_of_symbols():
    compiled = pc.jit(lambda x: x[1::2]).lower(pc.ShapeDtypeStruct((2 * N + 1,), pnp.float32)).compile()
    for n in (1, 4):
        np.testing.assert_array_equal(compiled(np.arange(2 * n + 1, dtype=np.float32)), np.arange(2 * n + 1)[1::2])
    with pytest.raises(ValueError, match=r"axis 0 of argument 'x' of <lambda> is 4 = 2\*n \+ 1"):
        compiled(rows(4))


def test_eval_shape_of_a_function_that_returns_shapes():
    """As libraries ask for the shapes of a tree that has only shapes. They can't be computed with."""
    struct = pc.ShapeDtypeStruct((2, 3), "float32", weak_type=True)
    assert pc.eval_shape(lambda: {"a": struct}) == {"a": struct}
    assert pc.eval_shape(lambda x: (x + 1, struct), struct)[1] == struct
    assert pc.make_jaxpr(lambda: struct)().out_avals == (pc.typeof(pnp.ones((2, 3))).update(weak_type=True),)
    with pytest.raises(TypeError, match="has no elements"):
        pc.jit(lambda: struct)()
