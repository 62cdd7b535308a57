"""Signatures of plain C functions: the kind of each parameter, and the sizes that must agree.

    n, a: f64, x: f64[n], out y: f64[n, 2] -> status

is `int f(intptr_t n, double a, const double *x, double *y)`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycompiler.core.dims.dims import Dimension
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.dtype import DTYPES, DType

_BY_SHORT_NAME = {short: dtype for dtype, short in DTYPES.items()}
_PARAMETER = re.compile(r"(?:(out|inout)\s+)?([A-Za-z_]\w*)\s*:\s*(\w+)\s*(?:\[(.*)\])?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_BY_VALUE = frozenset("biuf")


@dataclass(frozen=True)
class Parameter:
    """A parameter. `kind`: "constant", "size" of the dimension `name`, "value" of a number, or an array that the
    function reads ("in"), writes ("out"), or both ("inout")."""

    kind: str
    name: str
    dtype: DType | None = None
    dims: tuple[str, ...] = ()
    constant: int = 0

    @property
    def is_given(self) -> bool:
        """Whether the caller gives the parameter."""
        return self.kind in ("value", "in", "inout")

    @property
    def is_result(self) -> bool:
        """Whether the call returns the parameter."""
        return self.kind in ("out", "inout")


@dataclass(frozen=True)
class CSignature:
    """The parameters in C's order, and the function's result: "nothing", "status", or a number of a dtype."""

    text: str
    parameters: tuple[Parameter, ...]
    returns: str | DType

    def given(self) -> list[Parameter]:
        """The parameters that the caller gives."""
        return [p for p in self.parameters if p.is_given]

    def results(self) -> list[Parameter]:
        """The arrays that the call returns, after the number that the function returns."""
        return [p for p in self.parameters if p.is_result]

    def of_python(self) -> inspect.Signature:
        """The signature of the function in Python."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(p.name, kind) for p in self.given()])

    def size_at(self, name: str) -> tuple[int, int]:
        """The first given array, and its dimension, that has this size."""
        places = [(operand, p.dims.index(name)) for operand, p in enumerate(self.given()) if name in p.dims]
        return places[0]


def parsed(what: str, text: str) -> CSignature:
    """The signature of a text. Raises ValueError."""

    def wrong(why: str) -> ValueError:
        return ValueError(
            f"{what}: {why}, in the signature {text!r}. What to do: write 'n, a: f64, x: f64[n], out y: f64[n] -> "
            "status' for int f(intptr_t n, double a, const double *x, double *y)"
        )

    if not isinstance(text, str):
        raise TypeError(f"{what}: the signature must be a string, got {text!r} of type {type(text).__name__}")
    head, arrow, tail = text.partition("->")
    returns: str | DType = tail.strip() if arrow else "nothing"
    if returns not in ("nothing", "status"):
        returns = _dtype(str(returns), wrong)
        if returns.kind not in _BY_VALUE or (returns.itemsize < 4 and returns.kind == "f"):
            raise wrong(f"it returns {dtypes.short_name(returns)}, expected an integer, f32 or f64")
    parameters = [_parameter(part.strip(), wrong) for part in _parts(head)] if head.strip() else []
    names = [p.name for p in parameters if p.kind != "constant"]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise wrong(f"{', '.join(repeated)} is there twice")
    given = {dim for p in parameters if p.is_given for dim in p.dims}
    for p in parameters:
        needed = [p.name] if p.kind == "size" else [name for dim in p.dims for name in _NAME.findall(dim)]
        if missing := [name for name in needed if name not in given]:
            raise wrong(f"the size {missing[0]} is no dimension of an array that is given")
    return CSignature(text, tuple(parameters), returns)


def _parts(text: str) -> list[str]:
    """The texts between commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _dtype(name: str, wrong: Any) -> DType:
    found = _BY_SHORT_NAME.get(name)
    if found is None or dtypes.is_key(found):
        try:
            return dtypes.as_dtype(name)
        except TypeError:
            raise wrong(f"{name!r} is no element type such as f64 or i32") from None
    return found


def _parameter(text: str, wrong: Any) -> Parameter:
    if re.fullmatch(r"-?\d+", text):
        return Parameter("constant", "", constant=int(text))
    if _NAME.fullmatch(text):
        return Parameter("size", text)
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise wrong(f"{text!r} is no parameter")
    kind, name, dtype_name, inside = match.groups()
    dtype = _dtype(dtype_name, wrong)
    if inside is None:
        if kind:
            raise wrong(f"{name} is written, and has no brackets: {kind} {name}: {dtype_name}[]")
        if dtype.kind not in _BY_VALUE or (dtype.itemsize < 4 and dtype.kind == "f"):
            raise wrong(f"{name} is a {dtype_name} by value, expected an integer, f32 or f64, or {dtype_name}[]")
        return Parameter("value", name, dtype)
    dims = tuple([dim.strip() for dim in inside.split(",") if dim.strip()])
    for dim in dims:
        if not re.fullmatch(r"[\w\s+*()/-]+", dim) or _tree(dim) is None:
            raise wrong(f"{dim!r} is no size: a name, a number, or a sum, difference, product or // of these")
        if kind != "out" and not re.fullmatch(r"\w+", dim):
            raise wrong(f"the size {dim!r} of {name}, which is given, must be a name or a number")
    return Parameter(kind or "in", name, dtype, dims)


def _tree(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def size_of(text: str, sizes: dict[str, Dimension]) -> Dimension:
    """The size of a dimension."""
    return _value(_tree(text), sizes)


def _value(node: ast.expr | None, sizes: dict[str, Dimension]) -> Any:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left, sizes) + _value(right, sizes)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left, sizes) - _value(right, sizes)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, sizes) * _value(right, sizes)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return _value(left, sizes) // _value(right, sizes)
        case _:
            raise ValueError(f"c_function: {ast.unparse(node) if node else ''!r} is no size")


def check_counts(what: str, parameters: Sequence[Parameter], integers: int, floats: int) -> None:
    """Raise ValueError for more parameters than the runtime can give."""
    numbers = [p for p in parameters if p.kind == "value" and p.dtype is not None and p.dtype.kind == "f"]
    others = len(parameters) - len(numbers)
    if len(numbers) > floats or others > integers:
        raise ValueError(
            f"{what}: the function has {len(numbers)} floating-point numbers by value and {others} other parameters, "
            f"expected at most {floats} and {integers}. What to do: write a C function that takes them in an array"
        )
