"""Numbers of Python in torch's graphs whose values only a call knows: those of `.item()`, and inputs that may be
negative. They are arrays without axes in a program; a symbol that is in the shape of a tensor is a size instead."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.sizes import is_nested
from pycompiler.torch.table import cast

__all__ = [
    "ITEM",
    "as_number",
    "computed_number",
    "holder",
    "is_number_operation",
    "numbers_of",
    "operand",
    "symbols_of",
]

ITEM = torch.ops.aten._local_scalar_dense.default

# Torch's names of symbols whose values data decide.
_OF_DATA = ("u", "zuf")
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_DTYPES = {
    torch.SymInt: np.dtype(np.int64),
    torch.SymFloat: np.dtype(np.float64),
    torch.SymBool: np.dtype(bool),
}
_TORCHS = {torch.SymInt: torch.int64, torch.SymFloat: torch.float64, torch.SymBool: torch.bool}


def symbols_of(value: Any) -> set[str]:
    """The names of the symbols in a number."""
    return set(map(str, value.node.expr.free_symbols)) if isinstance(value, _SYMBOLIC) else set()


def numbers_of(graph: torch.fx.Graph, of_data: bool = False) -> set[str]:
    """The symbols that are numbers, and no sizes: data decide them, or they may be negative; with `of_data` only the
    first. Graphs inside the graph have some, too."""
    found: set[str] = set()
    sizes: set[str] = set()
    for node in _nodes(graph):
        value = node.meta.get("val")
        for one in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(one, torch.Tensor):
                for part in _parts(one):
                    sizes |= symbols_of(part)
            elif isinstance(one, _SYMBOLIC) and not (isinstance(one, torch.SymInt) and is_nested(one)):
                found |= {str(symbol) for symbol in one.node.expr.free_symbols if _is_number(symbol, one)}
        if getattr(node.target, "is_view", False):
            # Torch makes some views itself, and computes what they take.
            for argument in node.all_input_nodes:
                sizes |= symbols_of(argument.meta.get("val"))
    found -= sizes
    return {name for name in found if name.startswith(_OF_DATA)} if of_data else found


def _nodes(graph: torch.fx.Graph) -> Iterator[torch.fx.Node]:
    """The nodes of a graph, and those of the graphs inside it."""
    for node in graph.nodes:
        yield node
        if node.op == "get_attr" and graph.owning_module is not None:
            held = getattr(graph.owning_module, str(node.target), None)
            if isinstance(held, torch.fx.GraphModule):
                yield from _nodes(held.graph)


def _parts(tensor: torch.Tensor) -> Iterator[Any]:
    yield from tensor.shape
    if tensor.layout == torch.strided:
        yield from tensor.stride()
        yield tensor.storage_offset()


def _is_number(symbol: Any, value: Any) -> bool:
    if str(symbol).startswith(_OF_DATA):
        return True
    bounds = value.node.shape_env.var_to_range.get(symbol)
    return bounds is not None and bool(bounds.lower < 0)


def holder(value: Any) -> Any:
    """A tensor of torch's that has a number of a graph; a tensor itself."""
    return torch.empty((), dtype=_TORCHS[type(value)]) if type(value) in _TORCHS else value


def operand(value: Any) -> Any:
    """An array of a number, as operations take it: the other operands decide the dtype within its kind."""
    return lax.convert_element_type(value, _weak(value.dtype)) if value.dtype.kind != "b" else value


def _weak(dtype: np.dtype[Any]) -> Any:
    return {"i": int, "f": float}[dtype.kind]


def _kind(*operands: Any) -> np.dtype[Any]:
    """The dtype in which Python computes an operation."""
    is_float = any(isinstance(x, float) or getattr(x, "dtype", _INT).kind == "f" for x in operands)
    return _DTYPES[torch.SymFloat] if is_float else _INT


_INT = _DTYPES[torch.SymInt]


def _alike(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays of one dtype, as a function of numbers."""

    def compute(*operands: Any) -> Any:
        dtype = _kind(*operands)
        return function(*[cast(x, dtype) for x in operands])

    return compute


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*[cast(x, _DTYPES[torch.SymFloat]) for x in operands])


def _of_bools(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*[cast(x, _DTYPES[torch.SymBool]) for x in operands])


def _total(numbers: Any) -> Any:
    total = numbers[0]
    for number in numbers[1:]:
        total = _alike(operator.add)(total, number)
    return total


# By the function of a node, which computes with numbers of Python.
_OPERATIONS: dict[Any, Callable[..., Any]] = {
    operator.add: _alike(pnp.add),
    operator.sub: _alike(pnp.subtract),
    operator.mul: _alike(pnp.multiply),
    operator.neg: _alike(pnp.negative),
    operator.abs: _alike(pnp.abs),
    operator.pos: _alike(pnp.positive),
    operator.truediv: _of_floats(pnp.divide),
    operator.floordiv: _alike(pnp.floor_divide),
    operator.mod: _alike(pnp.remainder),
    operator.pow: _alike(pnp.power),
    torch.sym_float: _of_floats(pnp.positive),
    torch.sym_int: _alike(pnp.trunc),
    torch.sym_max: _alike(pnp.maximum),
    torch.sym_min: _alike(pnp.minimum),
    torch.sym_not: _of_bools(pnp.logical_not),
    torch.sym_sum: _total,
    torch.sym_ite: lambda chosen, x, y: pnp.where(chosen, *[cast(one, _kind(x, y)) for one in (x, y)]),
    math.floor: _alike(pnp.floor),
    math.ceil: _alike(pnp.ceil),
    math.trunc: _alike(pnp.trunc),
    round: _alike(pnp.round),
    operator.and_: _alike(pnp.bitwise_and),
    operator.or_: _alike(pnp.bitwise_or),
    **{
        getattr(operator, name): _alike(getattr(pnp, function))
        for name, function in (
            ("eq", "equal"),
            ("ne", "not_equal"),
            ("lt", "less"),
            ("le", "less_equal"),
            ("gt", "greater"),
            ("ge", "greater_equal"),
        )
    },
    **{
        getattr(torch, f"_sym_{name}"): _of_floats(getattr(pnp, function))
        for name, function in (
            ("sqrt", "sqrt"), ("cos", "cos"), ("cosh", "cosh"), ("sin", "sin"), ("sinh", "sinh"), ("tan", "tan"),
            ("tanh", "tanh"), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("log2", "log2"),
        )
    },
}  # fmt: skip


def is_number_operation(target: Any) -> bool:
    """Whether `computed_number` has a function of numbers."""
    return target in _OPERATIONS


def computed_number(target: Any, args: Any, wanted: Any) -> Any:
    """The array of a number that a function of Python computes from numbers."""
    if target not in _OPERATIONS:
        raise NotImplementedError(f"the function {getattr(target, '__name__', target)} of numbers that depend on data")
    return as_number(_OPERATIONS[target](*args), wanted)


def as_number(array: Any, wanted: Any) -> Any:
    """An array without axes, in the dtype of Python's number."""
    return cast(array, _DTYPES[type(wanted)])
