"""Comparison of derivatives with finite differences, as in `jax.test_util`, for tests of custom rules.

Each check takes one random direction, so that it costs a few calls of the function at any size. The direction is the
same in every run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.tree import tree_flatten, tree_leaves, tree_map
from pycompiler.lax.names import nearest_name
from pycompiler.transforms.derivative import jvp, linearize, vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

# The step of the finite differences.
EPS = 1e-4
# The default tolerances. Finite differences in float32 have few right digits.
_TOLERANCES = {
    dtypes.float0: 0.0,
    dtypes.bfloat16: 1e-1,
    dtypes.float16: 1e-2,
    dtypes.float32: 2e-3,
    dtypes.float64: 1e-5,
    dtypes.complex64: 1e-3,
    dtypes.complex128: 1e-5,
}
_Tolerance = float | Mapping[Any, float] | None


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., tuple[Any, Any]],
    args: Sequence[Any],
    atol: _Tolerance = None,
    rtol: _Tolerance = None,
    eps: float = EPS,
    err_msg: str = "",
) -> None:
    """Check a forward-mode derivative of `f` at `args`: `f_jvp(primals, tangents)`, such as `partial(jvp, f)`.

    `atol` and `rtol` are tolerances: a number, or a dict from dtypes to numbers. Raises AssertionError, whose message
    begins with `err_msg`, where the result or its tangent differ.
    """
    args = tuple(args)
    tangent = _random_like(args)
    result, moved = f_jvp(args, tangent)
    expected = f(*args)
    _check_dtypes(result, moved)
    _check_dtypes(result, expected)
    _check_close(result, expected, atol, rtol, f"{err_msg} primal".strip())
    _check_close(moved, _difference(f, args, tangent, eps), atol, rtol, f"{err_msg} tangent".strip())


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., tuple[Any, Callable[[Any], Any]]],
    args: Sequence[Any],
    atol: _Tolerance = None,
    rtol: _Tolerance = None,
    eps: float = EPS,
    err_msg: str = "",
) -> None:
    """Check a reverse-mode derivative of `f` at `args`: `f_vjp(*args)`, such as `partial(vjp, f)`, returns the result
    and the pullback. See `check_jvp`."""
    args = tuple(args)
    result, pullback = f_vjp(*args)
    _check_close(result, f(*args), atol, rtol, f"{err_msg} primal".strip())
    rng = np.random.RandomState(0)
    tangent = _random_like(args, rng)
    moved = _difference(f, args, tangent, eps)
    cotangent = _random_like(result, rng)
    pulled = tree_map(_conj, pullback(tree_map(_conj, cotangent)))
    _check_close(
        _product(tangent, pulled), _product(moved, cotangent), atol, rtol, f"{err_msg} cotangent projection".strip()
    )


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Iterable[str] | str = ("fwd", "rev"),
    atol: _Tolerance = None,
    rtol: _Tolerance = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of `f` at `args` against finite differences, up to an order.

    `modes` are "fwd" (`jvp`), "rev" (`vjp`) and "lin" (`linearize`); above order 1 they are combined. See `check_jvp`
    for the other arguments, and for the errors.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.test_util import check_grads
    >>> check_grads(pnp.sin, (0.5,), order=2, modes=["fwd", "rev"])
    """
    ways = [mode for mode in ("fwd", "rev", "lin") if mode in modes]
    options: dict[str, Any] = {"atol": atol, "rtol": rtol, "eps": eps or EPS}
    _check_orders(f, tuple(args), order, ways, options, "")


def _check_orders(
    f: Callable[..., Any], args: tuple[Any, ...], order: int, ways: Sequence[str], options: dict[str, Any], said: str
) -> None:
    for way in ways:
        name = {"fwd": "JVP", "rev": "VJP", "lin": "LIN"}[way]
        message = f"{name} of {said}" if said else name
        if way == "rev":
            check_vjp(f, functools.partial(vjp, f), args, err_msg=message, **options)
            if order > 1:
                _check_orders(functools.partial(_pulled_back, f), args, order - 1, ways, options, message)
        else:
            push = functools.partial(jvp if way == "fwd" else _by_linearize, f)
            check_jvp(f, push, args, err_msg=message, **options)
            if order > 1:
                _check_orders(push, (args, args), order - 1, ways, options, message)


def _pulled_back(f: Callable[..., Any], *args: Any) -> Any:
    result, pullback = vjp(f, *args)
    return pullback(result)


def _by_linearize(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    result, push = linearize(f, *primals)
    return result, push(*tangents)


# Trees of arrays of NumPy.


def _dtype(x: Any) -> dtypes.DType:
    """The dtype in which a value is moved: that of the array; for Python's scalars, the widest."""
    return np.dtype(x.dtype) if hasattr(x, "dtype") else np.asarray(x).dtype


def _is_scalar(x: Any) -> bool:
    return not isinstance(x, np.generic) and isinstance(x, (bool, int, float, complex))


def _typed(result: Any, like: Any) -> Any:
    made = np.asarray(result, _dtype(like))
    return made.item() if _is_scalar(like) else made


def _random_like(tree: Any, rng: Any = None) -> Any:
    rng = np.random.RandomState(0) if rng is None else rng

    def draw(x: Any) -> Any:
        dtype, shape = _dtype(x), np.shape(x)
        if dtype == dtypes.float0 or dtypes.is_integer(dtype) or dtype == dtypes.bool_:
            return np.zeros(shape, dtypes.float0)
        made = np.asarray(rng.randn(*shape), dtype)
        if dtypes.is_complex(dtype):
            made = made + np.asarray(rng.randn(*shape), dtype) * dtype.type(1j)
        return _typed(made, x)

    return tree_map(draw, tree)


def _conj(x: Any) -> Any:
    return x if _dtype(x) == dtypes.float0 else _typed(np.conj(x), x)


def _difference(f: Callable[..., Any], primals: Any, tangents: Any, eps: float) -> Any:
    """The derivative in a direction, by a central difference."""

    def moved(sign: float) -> Any:
        def step(x: Any, t: Any) -> Any:
            return x if _dtype(t) == dtypes.float0 else _typed(np.asarray(x) + np.asarray(t) * _dtype(x).type(sign), x)

        return f(*tree_map(step, primals, tangents))

    def slope(after: Any, before: Any) -> Any:
        dtype = _dtype(after)
        if dtype == dtypes.float0 or not dtypes.is_inexact(dtype):
            return np.zeros(np.shape(after), dtypes.float0)
        after, before = np.asarray(after), np.asarray(before)
        with np.errstate(invalid="ignore"):
            # The difference of equal infinities is 0.
            change = np.where(after == before, np.zeros((), dtype), np.subtract(after, before, dtype=dtype))
        return np.multiply(change, np.asarray(0.5 / eps, dtype), dtype=dtype)

    return tree_map(slope, moved(eps), moved(-eps))


def _product(xs: Any, ys: Any) -> Any:
    """The real part of the inner product of two trees of vectors."""
    total: Any = np.float64(0)
    for x, y in zip(tree_leaves(xs), tree_leaves(ys), strict=True):
        if _dtype(x) != dtypes.float0 and _dtype(y) != dtypes.float0:
            total = total + np.real(np.dot(np.conj(np.asarray(x)).reshape(-1), np.asarray(y).reshape(-1)))
    # In the dtype of the values, whose tolerance applies.
    kinds = [np.real(np.asarray(x)).dtype for x in tree_leaves(xs) if _dtype(x) != dtypes.float0]
    return np.asarray(total, dtypes.wider(*kinds) if kinds else dtypes.float32)


def _tolerance(dtype: dtypes.DType, given: _Tolerance) -> float:
    if given is not None and not isinstance(given, Mapping):
        return given
    known = {**_TOLERANCES, **{np.dtype(key): value for key, value in (given or {}).items()}}
    return known.get(dtypes.canonicalize(dtype), 0.0)


def _check_close(xs: Any, ys: Any, atol: _Tolerance, rtol: _Tolerance, said: str) -> None:
    (given, tree), (expected, other) = tree_flatten(xs), tree_flatten(ys)
    assert tree == other, f"{said}: the structures differ: {tree} and {other}"
    for path, x, y in zip(tree.paths(), given, expected, strict=True):
        a, b = np.asarray(x), np.asarray(y)
        where = f"{said}, at output{path}" if path else said
        assert a.shape == b.shape, f"{where}: the shapes differ: {a.shape} and {b.shape}"
        if dtypes.float0 in (a.dtype, b.dtype):
            assert not dtypes.is_inexact(a.dtype), f"{where}: got {a.dtype}, expected a dtype without tangents"
            assert not dtypes.is_inexact(b.dtype), f"{where}: got {b.dtype}, expected a dtype without tangents"
            continue
        absolute = max(_tolerance(a.dtype, atol), _tolerance(b.dtype, atol)) * a.size
        relative = max(_tolerance(a.dtype, rtol), _tolerance(b.dtype, rtol)) * b.size
        wide = [x.astype(np.float32) if x.dtype == dtypes.bfloat16 else x for x in (a, b)]
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(*wide, atol=absolute, rtol=relative, err_msg=where)


def _check_dtypes(xs: Any, ys: Any) -> None:
    for x, y in zip(tree_leaves(xs), tree_leaves(ys), strict=True):
        a, b = dtypes.canonicalize(_dtype(x)), dtypes.canonicalize(_dtype(y))
        assert a == b or dtypes.float0 in (a, b), f"the dtypes differ: {a} and {b}"


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
