"""Modules of `jax.export` with symbolic sizes: one compilation, for every size JAX's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from symbolic_programs import F32, FAMILIES, B, Symbolic, T

import pycompiler as pc
from pycompiler import stablehlo
from pycompiler.core.errors import MLIRError


def _cases() -> list[Any]:
    return [
        pytest.param(program, id=f"{family}-{program.name}")
        for family, programs in FAMILIES.items()
        for program in programs
    ]


def _size(dim: Any, sizes: Mapping[str, int]) -> int:
    return dim if isinstance(dim, int) else int(dim._evaluate(dict(sizes)))


def _arguments(specs: list[jax.ShapeDtypeStruct], sizes: Mapping[str, int]) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    arrays: list[np.ndarray[Any, Any]] = []
    for spec in specs:
        shape = tuple([_size(dim, sizes) for dim in spec.shape])
        integer = np.issubdtype(spec.dtype, np.integer)
        arrays.append((rng.integers(0, 3, shape) if integer else rng.normal(size=shape)).astype(spec.dtype))
    return arrays


def _exported(function: Any, *shapes: tuple[Any, ...], **options: Any) -> Any:
    return export.export(jax.jit(function), **options)(*[jax.ShapeDtypeStruct(shape, F32) for shape in shapes])


@pytest.mark.parametrize("program", _cases())
def test_program(program: Symbolic, counts: Any) -> None:
    exported = export.export(jax.jit(program.function))(*program.specs())
    function = stablehlo.load(exported.mlir_module(), name=program.name)
    for sizes in program.sizes:
        args = _arguments(program.specs(), sizes)
        expected = jax.tree.leaves(exported.call(*args))
        results = function(*args)
        assert len(results) == len(expected)
        for got, want in zip(results, expected, strict=True):
            got, want = np.asarray(got), np.asarray(want)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    assert counts.compiled == 1


def test_sizes_have_the_names_of_jax() -> None:
    function = stablehlo.load(_exported(lambda x, y: x @ y, (B, T), (T, 2 * B)).mlir_module(), name="f")
    assert repr(function) == "<function f of a module: (f32[b,t], f32[t,2*b]) -> (f32[b,2*b])>"


def test_wrong_sizes_are_told_with_the_text_of_jax() -> None:
    function = stablehlo.load(_exported(lambda x, y: x + y.reshape(2, -1).sum(0), (B,), (2 * B,)).mlir_module())
    with pytest.raises(ValueError, match=r"main: .*dimension size args\[1\].shape\[0\] \(= 5\).*'2\*b' \(= 4\)"):
        function(np.ones(2, F32), np.ones(5, F32))
    with pytest.raises(ValueError, match="Expected value >= 1 for dimension variable 'b'"):
        function(np.ones(0, F32), np.ones(0, F32))
    (got,) = function(np.ones(2, F32), np.ones(4, F32))
    np.testing.assert_array_equal(got, [3, 3])


def test_constraints_are_checked() -> None:
    b, t = export.symbolic_shape("b, t", constraints=["b >= t", "b <= 2 * t + 1"])
    function = stablehlo.load(_exported(lambda x, y: x[: y.shape[0]] + y, (b,), (t,)).mlir_module())
    with pytest.raises(ValueError, match=r"constraint b >= t. Expected '- t \+ b' .*found -1"):
        function(np.ones(2, F32), np.ones(3, F32))
    with pytest.raises(ValueError, match=r"found -1"):
        function(np.ones(8, F32), np.ones(3, F32))
    assert function(np.ones(7, F32), np.ones(3, F32))[0].shape == (3,)


def test_fixed_sizes_ranks_and_dtypes_are_checked() -> None:
    function = stablehlo.load(_exported(lambda x: x * 2, (B, 4)).mlir_module(), name="twice")
    with pytest.raises(ValueError, match="is 3, expected 4"):
        function(np.ones((2, 3), F32))
    with pytest.raises(TypeError, match=r"twice: argument 0 is f32\[2\], but the module takes f32\[b,4\]"):
        function(np.ones(2, F32))
    with pytest.raises(TypeError, match=r"twice: argument 0 is i32\[2,4\]"):
        function(np.ones((2, 4), np.int32))
    with pytest.raises(TypeError, match="takes 1 arrays, got 2"):
        function(np.ones((2, 4), F32), np.ones((2, 4), F32))


def test_several_platforms() -> None:
    """The number of the platform is the first argument."""

    def by_platform(x: Any) -> Any:
        return jax.lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos)

    exported = _exported(by_platform, (B,), platforms=["cpu", "cuda"])
    function = stablehlo.load(exported.mlir_module())
    x = np.linspace(0, 1, 5, dtype=F32)
    for number, want in enumerate((np.sin(x), np.cos(x))):
        (got,) = function(np.int32(number), x)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_sizes_from_data() -> None:
    text = """
    func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
      %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(MLIRError, match=r"a size .* does not follow from the sizes of the arguments"):
        stablehlo.load(text)


def test_maxima_have_the_names_of_jax() -> None:
    function = stablehlo.load(
        _exported(lambda x, y: (x[:5], x[2:], y[: x.shape[0]]), (B,), (T,)).mlir_module(), name="f"
    )
    assert repr(function) == (
        "<function f of a module: (f32[b], f32[t]) -> (f32[min(b, 5)], f32[max(b - 2, 0)], f32[min(b, t)])>"
    )


def test_maxima_beside_other_symbols() -> None:
    """A module's maxima are those of the program that calls it, and of the sizes of the call."""
    function = stablehlo.load(_exported(lambda x: x[:5] * 2, (B,)).mlir_module())
    run = pc.jit(lambda x, y: (function(x)[0], y[3:]), dynamic={"x": ("b",), "y": ("a",)})
    for b, a in ((3, 5), (9, 2)):
        head, tail = run(np.arange(b, dtype=F32), np.arange(a, dtype=F32))
        np.testing.assert_array_equal(head, 2 * np.arange(b)[:5])
        np.testing.assert_array_equal(tail, np.arange(a)[3:])


def test_in_a_traced_function() -> None:
    """A function that is traced with fixed sizes has the module at these sizes, for each call its own."""
    exported = _exported(lambda x, y: (x[1:] @ y, jnp.arange(x.shape[0] + y.shape[1])), (B, 4), (4, T))
    function = stablehlo.load(exported.mlir_module(), name="f")

    def twice(x: Any, y: Any) -> Any:
        first, numbers = function(x, y)
        second, _ = function(first, y[:, :4])
        return second, numbers

    x, y = np.ones((5, 4), F32), np.ones((4, 4), F32)
    for run in (twice, pc.jit(twice)):
        second, numbers = run(x, y)
        np.testing.assert_array_equal(second, np.full((3, 4), 16, F32))
        np.testing.assert_array_equal(numbers, np.arange(9))
    with pytest.raises(ValueError, match="Expected value >= 1 for dimension variable 'b'"):
        pc.jit(lambda x, y: function(x, y))(np.ones((0, 4), F32), y)


def test_in_a_function_that_is_traced_with_symbols() -> None:
    function = stablehlo.load(_exported(lambda x: x * 2, (B,)).mlir_module(), name="twice")
    with pytest.raises(NotImplementedError, match="twice: is a module for symbolic sizes"):
        pc.jit(lambda x: function(x)[0], dynamic={"x": ("n",)})(np.ones(3, F32))


def test_symbols_of_the_module_beside_others() -> None:
    """The numbers of symbols are those of the program that calls the module."""
    function = stablehlo.load(_exported(lambda x: jnp.arange(x.shape[0]) + x, (B,)).mlir_module())
    run = pc.jit(lambda x, y: (function(x)[0], y * 2), dynamic={"x": ("b",), "y": ("a",)})
    got, double = run(np.ones(3, F32), np.ones(5, F32))
    np.testing.assert_array_equal(got, [1, 2, 3])
    assert double.shape == (5,)
