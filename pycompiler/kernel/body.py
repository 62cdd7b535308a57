"""Functions to call in kernels: the index in the grid, loads and stores with masks, matmuls. `calls` sets the program
that is being traced."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from pycompiler.array.references import Ref, get, new_ref, set
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.lax import branches, contraction, control_flow, dynamic_slices, elementwise, movement
from pycompiler.lax.operands import broadcast_to, cast
from pycompiler.numpy.indexing import getitem
from pycompiler.numpy.updates import IndexUpdateRef
from pycompiler.transforms import checkify

__all__ = [
    "cdiv",
    "debug_check",
    "dot",
    "load",
    "loop",
    "num_programs",
    "program_id",
    "run_scoped",
    "run_state",
    "store",
    "swap",
    "when",
    "with_scoped",
]


class Program(NamedTuple):
    """The program of a kernel that is being traced."""

    grid: tuple[int, ...]
    place: Sequence[Any]
    interpreted: bool


class _Programs(threading.local):
    def __init__(self) -> None:
        self.stack: list[Program] = []


_programs = _Programs()


@contextlib.contextmanager
def running(program: Program) -> Generator[None]:
    """A context in which `program_id` and `num_programs` describe this program."""
    _programs.stack.append(program)
    try:
        yield
    finally:
        _programs.stack.pop()


def _program(name: str, axis: Any) -> tuple[Program, int]:
    if not _programs.stack:
        raise ArgumentError(f"{name}: there is no grid: it can be called only in the function of a kernel_call")
    program = _programs.stack[-1]
    rank = len(program.grid)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ArgumentError(f"{name}: axis is {axis!r}, and the grid {program.grid} has {rank} dimensions")
    return program, axis % rank


def program_id(axis: int) -> Any:
    """The index of the program along a dimension of the grid, an int32. Raises ArgumentError outside of a kernel."""
    program, place = _program("program_id", axis)
    return program.place[place]


def num_programs(axis: int) -> int:
    """The size of the grid along a dimension. Raises ArgumentError outside of a kernel."""
    program, place = _program("num_programs", axis)
    return program.grid[place]


def debug_check(condition: Any, message: str) -> None:
    """`checkify.debug_check`, for kernels with `interpret=True` under `checkify`. Compiled kernels do not check.

    >>> from pycompiler import kernel
    >>> kernel.debug_check(False, "not shown, because there is no checkify")
    """
    if not _programs.stack or _programs.stack[-1].interpreted:
        checkify.debug_check(condition, message)


def when(condition: Any) -> Callable[[Callable[[], None]], None]:
    """A decorator that calls the function if the condition holds.

    >>> import pycompiler as pc
    >>> from pycompiler import kernel
    >>> total = pc.new_ref(1.0)
    >>> @kernel.when(2 > 1)
    ... def _():
    ...     total[...] += 1.0
    >>> total
    Ref(2., dtype=float32)
    """

    def call(function: Callable[[], None]) -> None:
        if isinstance(condition, bool):
            if condition:
                function()
        else:
            branches.cond(condition, lambda: function(), lambda: None)

    return call


def loop(
    lower: Any, upper: Any, *, init_carry: Any = None, step: Any = 1, unroll: int | bool | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that calls the function for lower, lower + step, ... below upper. With `init_carry`, the function
    takes and returns a carry, and its name becomes the last carry.

    >>> from pycompiler import kernel
    >>> @kernel.loop(0, 10, step=3, init_carry=0)
    ... def total(i, carry):
    ...     return carry + i
    >>> total
    Array(18, dtype=int32, weak_type=True)
    """

    def call(function: Callable[..., Any]) -> Any:
        def body(count: Any, carry: Any) -> Any:
            i = lower + count * step
            return function(i) if init_carry is None else function(i, carry)

        return control_flow.fori_loop(0, cdiv(upper - lower, step), body, init_carry, unroll=unroll)

    return call


def cdiv(a: Any, b: Any) -> Any:
    """`a / b`, rounded up.

    >>> from pycompiler import kernel
    >>> kernel.cdiv(10, 4)
    3
    """
    return (a + b - 1) // b


def dot(a: Any, b: Any, trans_a: bool = False, trans_b: bool = False, precision: Any = None) -> Any:
    """The product of two matrices, each of which can be transposed first. The result is float32, for float64 operands
    float64, and for integers int32.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import kernel
    >>> kernel.dot(pnp.ones((2, 3)), pnp.ones((4, 3)), trans_b=True).shape
    (2, 4)
    """
    one, other = get_aval(a), get_aval(b)
    if len(one.shape) != 2 or len(other.shape) != 2:
        raise ArgumentError(f"dot: takes two matrices, got {short(one)} and {short(other)}")
    dtype = dtypes.promote_types(one.dtype, other.dtype)
    result = dtypes.int32 if dtypes.is_integer(dtype) else dtype if dtype == dtypes.float64 else dtypes.float32
    dims = (((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ()))
    return contraction.dot_general(a, b, dims, precision=precision, preferred_element_type=result)


def run_scoped(f: Callable[..., Any], *types: Any, **kw_types: Any) -> Any:
    """Call `f` with new references to zeros of these types, each a ShapeDtypeStruct, and return its result."""
    return f(*map(_scratch, types), **{name: _scratch(kind) for name, kind in kw_types.items()})


def with_scoped(*types: Any, **kw_types: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that appends new references, as by `run_scoped`, to the arguments of a function.

    >>> import pycompiler as pc
    >>> from pycompiler import kernel
    >>> @kernel.with_scoped(pc.ShapeDtypeStruct((), "float32"))
    ... def added(x, total):
    ...     total[...] += x
    ...     return total[...]
    >>> added(2.0)
    Array(2., dtype=float32)
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            return run_scoped(functools.partial(function, *args), *types, **kw_types)

        return call

    return decorator


def run_state(f: Callable[[Any], None]) -> Callable[[Any], Any]:
    """A function of a tree of arrays that calls `f` with references that hold them, and returns their last values.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import kernel
    >>> def swapped(refs):
    ...     x, y = refs
    ...     x[...], y[...] = y[...], x[...]
    >>> kernel.run_state(swapped)((1, 2))
    (Array(2, dtype=int32), Array(1, dtype=int32))
    """

    @functools.wraps(f)
    def call(args: Any) -> Any:
        leaves, tree = tree_flatten(args)
        refs = [new_ref(leaf) for leaf in leaves]
        f(tree.unflatten(refs))
        return tree.unflatten([get(ref, ()) for ref in refs])

    return call


def _scratch(kind: Any) -> Ref:
    return Ref(movement.full(tuple(kind.shape), cast(0, kind.dtype)))


def load(ref: Any, idx: Any, *, mask: Any = None, other: Any = None) -> Any:
    """`ref[idx]`, with the elements of `other`, or zeros, where the mask does not hold.

    With a mask, a slice by `ds` may leave the reference: the mask must not hold there.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler import kernel
    >>> kernel.load(pc.new_ref(pnp.arange(5.0)), kernel.ds(3, 4), mask=pnp.arange(4) < 2, other=-1.0)
    Array([ 3.,  4., -1., -1.], dtype=float32)
    """
    if mask is None:
        if other is not None:
            raise ArgumentError("load: other is given without a mask: all elements are read")
        return get(ref, idx)
    whole = get(ref, ())
    value, _ = _window("load", whole, idx)
    return elementwise.select(_fitting("load", "mask", mask, value), value, _other("load", other, value))


def store(ref: Any, idx: Any, val: Any, *, mask: Any = None) -> None:
    """`ref[idx] = val`, where the mask holds. With a mask, a slice by `ds` may leave the reference as in `load`.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler import kernel
    >>> r = pc.new_ref(pnp.zeros(3))
    >>> kernel.store(r, ..., pnp.ones(3), mask=pnp.arange(3) < 2)
    >>> r
    Ref([1., 1., 0.], dtype=float32)
    """
    swap(ref, idx, val, mask=mask)


def swap(ref: Any, idx: Any, val: Any, *, mask: Any = None) -> Any:
    """`store`, which returns the earlier elements."""
    if mask is None:
        before = get(ref, idx)
        set(ref, idx, _spread("swap", val, before))
        return before
    whole = get(ref, ())
    before, put = _window("store", whole, idx)
    chosen = _fitting("store", "mask", mask, before)
    set(ref, (), put(elementwise.select(chosen, _spread("store", val, before), before)))
    return before


def _spread(name: str, value: Any, like: Any) -> Any:
    """A number as an array of the shape of the elements that it replaces."""
    if is_array(value) and not get_aval(value).shape and get_aval(like).shape:
        return _fitting(name, "the value", cast(value, get_aval(like).dtype), like)
    return value


def _other(name: str, other: Any, value: Any) -> Any:
    return _fitting(name, "other", cast(0 if other is None else other, get_aval(value).dtype), value)


def _fitting(name: str, what: str, x: Any, like: Any) -> Any:
    shape = get_aval(like).shape
    given = get_aval(x).shape
    joint = len(given) <= len(shape) and all(
        a in (1, b) for a, b in zip(reversed(given), reversed(shape), strict=False)
    )
    if not joint:
        raise ArgumentError(f"{name}: {what} has the shape {given}, and the elements have the shape {shape}")
    return broadcast_to(x, shape)


def _window(name: str, whole: Any, idx: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The elements at an index, and a function that puts others in their place. A window that does not fit into the
    array is moved. Its elements beyond the array are arbitrary, and are never put."""
    if not dynamic_slices.has_slices(idx):
        return getitem(whole, idx), lambda value: IndexUpdateRef(whole, idx).set(value)
    window = dynamic_slices.cut(name, whole, idx)
    part = window.part
    if window.fits is None:
        found = getitem(part, window.index)
        return found, lambda value: dynamic_slices.put_back(
            whole, window, IndexUpdateRef(part, window.index).set(value), True
        )
    return _moved_window(whole, window)


def _moved_window(whole: Any, window: dynamic_slices.Window) -> tuple[Any, Callable[[Any], Any]]:
    """Like `_window`, for a window that may have been moved towards the start of the array by some elements."""
    part = window.part
    shape = get_aval(part).shape

    def shifted(x: Any, back: bool) -> Any:
        for dim, shift in window.shifts.items():
            gap = movement.full_like(x, 0)
            joined = movement.concatenate((gap, x) if back else (x, gap), dim)
            start = elementwise.sub(cast(shape[dim], get_aval(shift).dtype), shift) if back else shift
            x = movement.dynamic_slice_in_dim(joined, start, shape[dim], dim)
        return x

    seen = shifted(part, False)
    found = getitem(seen, window.index)

    def put(value: Any) -> Any:
        changed = IndexUpdateRef(seen, window.index).set(value)
        inside = shifted(movement.full(shape, True), True)
        mixed = elementwise.select(inside, shifted(changed, True), part)
        return dynamic_slices.put_back(whole, window, mixed, True)

    return found, put
