"""Mutable arrays: `Ref`, a place that holds an array. Reads and writes happen in the order of the program.

The graph of a function has no operation on references. While a function is traced, it sees a reference from outside as
a value that changes. The first use of the reference makes it an input of the graph. If the function writes the
reference, its last value is one more result (`graph.ClosedGraph.touched` and `written`). The caller passes the present
values in and stores the last ones, so programs, derivatives and mapped functions are those of pure functions, and a
write in compiled code updates the memory in place.

The `level` of a reference is the level of the trace under which it was made, 0 outside of all traces. A value of a
newer trace can't be stored in it, unless that trace records a graph. `array.references` attaches indices and methods.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, NoReturn

from pycompiler._runtime import Array, ShapedArray, current_trace
from pycompiler.core.errors import ArgumentError
from pycompiler.core.hooks import add_handled_type
from pycompiler.core.source import function_location, user_frame_source
from pycompiler.core.tracing.trace import DebugInfo, Trace, Tracer, innermost_trace, leaked
from pycompiler.core.types.aval import Typed, as_array, get_aval, strong
from pycompiler.core.types.comparisons import answers_comparisons
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import register_pytree_node

__all__ = [
    "HELD",
    "AbstractRef",
    "Ref",
    "check_aliases",
    "check_closure",
    "hide",
    "holding",
    "is_of_caller",
    "is_reference",
    "references_in",
    "returned",
]

# A reference of this kind takes values of differentiated functions without their derivatives.
WITHOUT_DERIVATIVE = "no_grad_no_remat"


class AbstractRef:
    """The type of a reference: that of the array that it holds."""

    __slots__ = ("inner_aval", "kind")

    # JAX's: memory spaces other than the device's have no place here.
    memory_space = None

    def __init__(self, inner_aval: ShapedArray, memory_space: None = None, kind: str | None = None) -> None:
        self.inner_aval = inner_aval
        self.kind = kind

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.inner_aval.shape

    @property
    def dtype(self) -> Any:
        return self.inner_aval.dtype

    @property
    def ndim(self) -> int:
        return self.inner_aval.ndim

    @property
    def size(self) -> Any:
        return self.inner_aval.size

    @property
    def sharding(self) -> Any:
        return self.inner_aval.sharding

    @property
    def weak_type(self) -> bool:
        return self.inner_aval.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractRef) and self.inner_aval == other.inner_aval

    def __hash__(self) -> int:
        return hash((AbstractRef, self.inner_aval))

    # JAX's names, for types of users that have references.

    def lo_ty(self) -> list[AbstractRef]:
        return [self]

    def lower_val(self, value: Any) -> list[Any]:
        return [value]

    def raise_val(self, value: Any) -> Any:
        return value

    def normalize(self) -> AbstractRef:
        return self

    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
        """The type as text: `Ref{float32[3]}`."""
        inner: Any = self.inner_aval
        return f"Ref{{{inner.str_short(short_dtypes, mesh_axis_types)}}}"

    def __repr__(self) -> str:
        return self.str_short()


class Ref(Typed):
    """A mutable array: `ref[...]` reads it, `ref[...] = x` writes it. Made by `new_ref`.

    It is not an array itself: operations take the array that `ref[...]` reads. Shape, dtype and sharding are fixed.
    """

    __slots__ = ("__weakref__", "_freed", "_of", "_protection", "_source", "_value", "aval", "level", "number", "owned")

    aval: AbstractRef

    # The number of references made. If it is 0, no argument is searched for references.
    count = 0

    def __init__(self, value: Any, kind: str | None = None, of: str | None = None) -> None:
        self.number = Ref.count
        Ref.count += 1
        trace = innermost_trace()
        self.level = 0 if trace is None else trace.level
        if kind not in (None, WITHOUT_DERIVATIVE):
            raise ValueError(f"new_ref: kind must be None or {WITHOUT_DERIVATIVE!r}, got {kind!r}")
        self.aval = AbstractRef(strong(get_aval(value)), kind=kind)
        self._source = user_frame_source()
        # The name of the argument that it stands for, if any.
        self._of = of
        self._freed = False
        # The reason why it can't be written. None: it can be written.
        self._protection: str | None = None
        # Whether only this reference has the array that it holds. A call may then take the memory of the array.
        self.owned = False
        self._value: Any = None
        self._value = as_array(value) if trace is None else value

    @property
    def sharding(self) -> Any:
        """The sharding of the array that it holds."""
        return self.read().sharding

    @property
    def format(self) -> Any:
        """The format of the array that it holds."""
        return self.read().format

    @property
    def committed(self) -> bool:
        """Whether the array stays on its devices."""
        return True

    def unsafe_buffer_pointer(self) -> int:
        """The address of the elements, until the next write."""
        return self.read().unsafe_buffer_pointer()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a reference to an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        value = self._value
        return f"Ref{repr(value)[5:]}" if type(value) is Array and current_trace() is None else repr(self.aval)

    @answers_comparisons
    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(f"{self.aval} is a reference, not an array. What to do: read it, with ref[...]")

    @property
    def origin(self) -> str:
        """Its origin, for messages."""
        if self._of is not None:
            return f"was passed in as the argument {self._of}"
        made = self._source
        return f"was created on line {made}" if made else "was created"

    # The value in the function that runs.

    def _trace(self) -> Any:
        """The trace that records a function, if this reference was made outside of that function. Else None."""
        trace: Any = current_trace()
        return trace if trace is not None and trace.level > self.level else None

    def read(self) -> Any:
        """The array that it holds now."""
        if self._freed:
            raise ValueError(f"{self.aval} is used after free_ref")
        trace = self._trace()
        if trace is not None:
            return trace.value_of(self)
        value = self._value
        if isinstance(value, Tracer) and value.owner.done:
            raise leaked(value)
        self.owned = False
        return value

    def write(self, value: Any, owned: bool = False) -> None:
        """Store an array of the same shape and dtype. With `owned`, nothing else has it."""
        if self._freed:
            raise ValueError(f"{self.aval} is used after free_ref")
        if self._protection is not None:
            raise ArgumentError(
                f"a reference of type {self.aval}, which {self.origin}, can't be written: {self._protection}.\nWhat to "
                "do: write to the reference of an output, which may start with the elements of an input "
                "(input_output_aliases)"
            )
        trace = self._trace()
        level = self.level if trace is None else trace.level
        while isinstance(value, Tracer) and value.owner.level > level:
            value = self._of_newer(value, value.owner)
        if trace is not None:
            trace.set_value_of(self, value)
            return
        self._value = as_array(value) if level == 0 else value
        self.owned = owned

    def take(self) -> Any:
        """The array that it holds, outside of all traces; it stays owned."""
        owned = self.owned
        value = self.read()
        self.owned = owned
        return value

    def _of_newer(self, value: Any, trace: Trace) -> Any:
        """A value of a trace that is newer than the reference."""
        if trace.done:
            raise leaked(value)
        primal = getattr(value, "primal", None)
        if primal is not None and self.aval.kind == WITHOUT_DERIVATIVE:
            return primal
        what, how = ("mapped", "unbatched") if trace.maps else ("differentiated", "non-differentiated")
        kind = "vmapped" if trace.maps else what
        raise ArgumentError(
            f"a set/swap operation with a {kind} value on an {how} array reference of type {self.aval}, which "
            f"{self.origin}, outside of the {what} function: {trace.debug_info}.\nWhat to do: Move the array reference "
            f"to be an argument of the {what} function, or create it in the function"
        )

    def swap_value(self, value: Any) -> Any:
        """Let it hold any value for a while. Returns the previous value."""
        trace = self._trace()
        if trace is not None:
            return trace.swap_value_of(self, value)
        self._value, before = value, self._value
        return before

    def protect(self, why: str) -> None:
        """Any later write is an error, which states the reason."""
        self._protection = why

    def free(self) -> None:
        """Any later use is an error."""
        if self._freed:
            raise ValueError(f"free_ref: {self.aval} was freed before")
        self._freed = True


add_handled_type(Ref)


# The classes of leaves that are no arrays, and that functions get as they are (`user_values` adds to them).
HELD: set[type] = {Ref}


class _Same:
    """A value as data of a structure, compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class _Held:
    """A reference as a part of a tree's structure."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _held(same: _Same, _: Any) -> Any:
    return same.value


register_pytree_node(_Held, lambda held: ((), _Same(held.value)), _held)


@contextlib.contextmanager
def holding(refs: Sequence[Ref], values: Sequence[Any]) -> Generator[None]:
    """A context in which references hold these values, for a rule that runs later than its function. Raises TypeError
    if the rule writes one."""
    before = [ref.swap_value(value) for ref, value in zip(refs, values, strict=True)]
    try:
        yield
    finally:
        after = [ref.swap_value(value) for ref, value in zip(refs, before, strict=True)]
    for ref, value, last in zip(refs, values, after, strict=True):
        if value is not last:
            raise TypeError(
                f"a rule of a custom derivative writes a reference of type {ref.aval}, which its function reads. What "
                "to do: return the value and write it outside, or in the backward function"
            )


def is_reference(leaf: Any) -> bool:
    """Whether a leaf is a reference, or described as one."""
    return type(leaf) is Ref or getattr(leaf, "is_ref", False) is True


def is_of_caller(const: Any) -> bool:
    """Whether a constant is a value of the function that is being traced or transformed, or a reference made in it."""
    return isinstance(const, Tracer) or (isinstance(const, Ref) and const.level > 0)


def references_in(leaves: Sequence[Any]) -> bool:
    """Whether some of the leaves are references."""
    return Ref.count > 0 and any(type(leaf) is Ref for leaf in leaves)


def hide(leaves: list[Any], tree: PyTreeDef, but_references: bool = False) -> tuple[list[Any], PyTreeDef]:
    """The leaves without references and the like, which become parts of the structure: functions get them as they are.
    With `but_references`, references stay."""
    if not Ref.count and len(HELD) == 1:
        return leaves, tree
    kinds = HELD - {Ref} if but_references else HELD
    if not any(type(x) in kinds for x in leaves):
        return leaves, tree
    return tree_flatten(tree.unflatten([_Held(x) if type(x) in kinds else x for x in leaves]))


def check_aliases(
    transform: str, fun: Callable[..., Any], leaves: Sequence[Any], names: Callable[[], list[str]]
) -> None:
    """Raise ValueError if a reference is more than one of the leaves."""
    if not references_in(leaves):
        return
    places: dict[int, int] = {}
    for place, leaf in enumerate(leaves):
        if type(leaf) is Ref:
            first = places.setdefault(id(leaf), place)
            if first != place:
                shown = names()
                raise ValueError(
                    f"only one reference to a mutable array may be passed as an argument to a function, but when "
                    f"tracing {function_location(fun)} for {transform} the mutable array reference of type {leaf.aval} "
                    f"appeared at both {shown[first]} and {shown[place]}.\nWhat to do: pass it once"
                )


def check_closure(
    transform: str,
    fun: Callable[..., Any],
    touched: Sequence[Ref],
    leaves: Sequence[Any],
    names: Callable[[], list[str]],
) -> None:
    """Raise ValueError if a reference that the function closes over is among its arguments, too."""
    known = {id(ref) for ref in touched}
    for place, leaf in enumerate(leaves):
        if type(leaf) is Ref and id(leaf) in known:
            raise ValueError(
                f"when tracing {function_location(fun)} for {transform}, a mutable array reference of type {leaf.aval} "
                f"was both closed over and passed as the argument {names()[place]}.\nWhat to do: use the argument alone"
            )


def returned(debug_info: DebugInfo, ref: Ref, path: str) -> ValueError:
    """The error for a function that returns a reference."""
    return ValueError(
        f"function {function_location(debug_info.function)} traced for {debug_info.transform} returned a mutable array "
        f"reference of type {ref.aval}{f' at output{path}' if path else ''}, but mutable array references cannot be "
        f"returned.\n\nThe returned mutable array {ref.origin}.\nWhat to do: return what it holds, ref[...]"
    )
