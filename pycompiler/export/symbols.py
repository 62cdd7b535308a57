"""`symbolic_shape` and related functions: shapes with symbols from text, under JAX's names. They make `Dim`s.

A constraint on one symbol becomes a bound or the divisor of its `Dim`, an equation replaces its symbol. There are no
constraints between several symbols.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.ranges import larger, smaller
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import prefix_leaves, tree_flatten

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": larger,
    "min": smaller,
}
_COMPARISONS = (ast.Eq, ast.GtE, ast.LtE)


class SymbolicScope:
    """The constraints on the symbols of several shapes.

    Args:
      constraints_str: texts such as "n >= 8", "n <= 64", "mod(n, 8) == 0" or "m == 2*n".

    Raises ValueError for a constraint that no symbol fulfils, and NotImplementedError for one between several symbols.

    >>> from pycompiler import export
    >>> scope = export.SymbolicScope(["n >= 8", "mod(n, 4) == 0"])
    >>> export.symbolic_shape("n, n//4", scope=scope)
    (n, n//4)
    """

    def __init__(self, constraints_str: Sequence[str] = ()) -> None:
        if isinstance(constraints_str, str):
            raise ValueError(f"SymbolicScope: constraints are a sequence of texts, got the text {constraints_str!r}")
        self._constraints = tuple(constraints_str)
        # The bounds and the divisor of each symbol, and the values of symbols that equations replace.
        self._bounds: dict[str, tuple[int, int | None, int]] = {}
        self._equal: dict[str, Dimension] = {}
        for text in self._constraints:
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"SymbolicScope: a constraint is a text, got {text!r}")
            self._add(text)

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self._constraints)})"

    def symbol(self, name: str) -> Dimension:
        """The dimension with this name."""
        if name in self._equal:
            return self._equal[name]
        low, high, by = self._bounds.get(name, (1, None, 1))
        if high is not None and high == max(low, by):
            return high
        return Dim(name, min=low, max=high, multiple_of=by)

    def _add(self, text: str) -> None:
        test = _parsed(text)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], _COMPARISONS):
            raise ValueError(f"SymbolicScope: a constraint is of the form e1 >= e2, e1 <= e2 or e1 == e2, got {text!r}")
        left, right = test.left, test.comparators[0]
        kind = test.ops[0]
        if isinstance(kind, ast.Eq) and self._divides(left, right, text):
            return
        low, high = self.value(left, text), self.value(right, text)
        if isinstance(kind, ast.Eq):
            self._equate(left, low, high, text)
        else:
            self._bound(low - high if isinstance(kind, ast.GtE) else high - low, text)

    def _divides(self, left: ast.expr, right: ast.expr, text: str) -> bool:
        """Accept `mod(n, 8) == 0`, for a symbol n."""
        if not (isinstance(right, ast.Constant) and right.value == 0):
            return False
        if isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "mod":
            name, by = left.args
        elif isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            name, by = left.left, left.right
        else:
            return False
        divisor = self.value(by, text)
        if not isinstance(name, ast.Name) or name.id in self._equal or not isinstance(divisor, int):
            return False
        low, high, known = self._bounds.get(name.id, (1, None, 1))
        self._set(name.id, low, high, known * divisor // _gcd(known, divisor), text)
        return True

    def _equate(self, left: ast.expr, low: Dimension, high: Dimension, text: str) -> None:
        """Accept `n == ...`: the right side replaces the symbol."""
        if isinstance(left, ast.Name) and isinstance(low, Dim) and low.symbol() is not None:
            if isinstance(high, Dim) and left.id in [symbol.name for symbol in high.symbols()]:
                raise ValueError(f"SymbolicScope: the constraint {text!r} has {left.id!r} on both sides")
            self._equal[left.id] = high
            return
        if low is high or (isinstance(low, int) and isinstance(high, int) and low == high):
            return
        self._bound(low - high, text)
        self._bound(high - low, text)

    def _bound(self, difference: Dimension, text: str) -> None:
        """Accept `difference >= 0`, of at most one symbol."""
        if isinstance(difference, int):
            if difference < 0:
                raise ValueError(f"SymbolicScope: the constraint {text!r} does not hold")
            return
        symbols = difference.symbols()
        linear = difference.linear_in(symbols[0]) if len(symbols) == 1 else None
        factor, rest = (0, difference) if linear is None else linear
        if not isinstance(rest, int):
            raise NotImplementedError(
                f"SymbolicScope: the constraint {text!r} is not a bound of one symbol, and no others are supported. "
                "What to do: leave it out, and give bounds to each symbol"
            )
        name = symbols[0].name
        low, high, by = self._bounds.get(name, (1, None, 1))
        if factor > 0:
            low = max(low, -(rest // factor) * by)
        else:
            most = rest // -factor * by
            high = most if high is None else min(high, most)
        self._set(name, low, high, by, text)

    def _set(self, name: str, low: int, high: int | None, by: int, text: str) -> None:
        least = -(-low // by) * by
        if high is not None and high // by * by < least:
            raise ValueError(f"SymbolicScope: no size of {name} fulfils {text!r} with the constraints before it")
        self._bounds[name] = least, None if high is None else high // by * by, by

    def value(self, node: ast.expr, text: str) -> Dimension:
        """The dimension of an expression in a text."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return self.symbol(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand, text)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.value(node.left, text), self.value(node.right, text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            function = _FUNCTIONS.get(node.func.id)
            if function is not None:
                return function(self.value(node.args[0], text), self.value(node.args[1], text))
        raise ValueError(
            f"symbolic_shape: {ast.unparse(node)!r} in {text!r} is no dimension: use whole numbers, names, +, -, *, ^, "
            "floordiv, mod, max and min"
        )


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"symbolic_shape: {text!r} can't be read: {error.msg}") from None


@boundary
def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Dimension, ...]:
    """A shape from text: "b, 2*t, 3" gives the dimensions b, 2*t and 3, of which b and t are symbols of at least 1.

    Args:
      shape_spec: dimensions with commas between, maybe in parentheses: whole numbers, names, e1 + e2, e1 - e2, e1 * e2,
        floordiv(e1, e2), mod(e1, e2), max(e1, e2), min(e1, e2), and "_" and "..." for those of `like`. None means
        "...".
      constraints: texts in the form of `SymbolicScope`.
      scope: constraints that several shapes share; not together with `constraints`.
      like: the shape that gives "_" and "...".

    Raises ValueError for a text that is no shape, and for sizes that `like` does not have.

    >>> from pycompiler import export
    >>> export.symbolic_shape("b, 2*t, 3", constraints=["b <= 64"])
    (b, 2*t, 3)
    >>> export.symbolic_shape("b, ...", like=(8, 4, 2))
    (b, 4, 2)
    """
    if shape_spec is not None and not isinstance(shape_spec, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(
            f"symbolic_shape: takes a text or None, got {shape_spec!r} of type {type(shape_spec).__name__}"
        )
    if scope is not None and constraints:
        raise ValueError("symbolic_shape: takes constraints or a scope, not both: give the constraints to the scope")
    scope = SymbolicScope(constraints) if scope is None else scope
    text = "..." if shape_spec is None else shape_spec
    parsed = _parsed(text) if text.strip() else ast.Tuple([])
    entries = parsed.elts if isinstance(parsed, ast.Tuple) else [parsed]
    rests = [place for place, entry in enumerate(entries) if _is_rest(entry)]
    if len(rests) > 1 or (rests and rests[0] != len(entries) - 1):
        raise ValueError(f"symbolic_shape: '...' is the last entry, got {text!r}")
    known = None if like is None else tuple(like)
    count = len(entries) - len(rests)
    if known is not None and (len(known) < count or (len(known) > count and not rests)):
        raise ValueError(f"symbolic_shape: {text!r} has {count} dimensions, like has {len(known)}: {known}")
    shape: list[Dimension] = []
    for place, entry in enumerate(entries[:count]):
        given = None if known is None else known[place]
        if isinstance(entry, ast.Name) and entry.id == "_":
            shape.append(_from_like(given, text, known))
            continue
        size = scope.value(entry, text)
        if isinstance(size, int) and isinstance(given, int) and size != given:
            raise ValueError(f"symbolic_shape: dimension {place} of {text!r} is {size}, that of like is {given}")
        shape.append(size)
    if rests:
        shape += [_from_like(given, text, known) for given in (known or (None,))[count if known is not None else 0 :]]
    return tuple(shape)


def _is_rest(entry: ast.expr) -> bool:
    return isinstance(entry, ast.Constant) and entry.value is Ellipsis


def _from_like(size: Any, text: str, known: tuple[Any, ...] | None) -> Dimension:
    if size is None:
        raise ValueError(f"symbolic_shape: {text!r} has a placeholder, for which like={known} has no size")
    return size


@boundary
def symbolic_args_specs(
    args: Any, shapes_specs: Any, constraints: Sequence[str] = (), scope: SymbolicScope | None = None
) -> Any:
    """The arguments as ShapeDtypeStructs, with shapes from text.

    Args:
      args: a tree of arrays or ShapeDtypeStructs: the dtypes, and the sizes for "_" and "...".
      shapes_specs: texts in the form of `symbolic_shape`, in a tree that is a prefix of `args`; one text is for all.
      constraints, scope: as in `symbolic_shape`.

    >>> import numpy as np
    >>> from pycompiler import export
    >>> export.symbolic_args_specs([np.ones((2, 3))], "b, _")
    [ShapeDtypeStruct(shape=(b, 3), dtype=float32)]
    """
    if scope is not None and constraints:
        raise ValueError(
            "symbolic_args_specs: takes constraints or a scope, not both: give the constraints to the scope"
        )
    scope = SymbolicScope(constraints) if scope is None else scope
    leaves, tree = tree_flatten(args)
    # As in JAX, a list is a tuple for the arguments of a function.
    kinds: tuple[Any, Any] = shapes_specs.__class__, args.__class__
    given = tuple(shapes_specs) if kinds == (list, tuple) else shapes_specs
    texts = prefix_leaves(given, args, _is_none)
    specs: list[ShapeDtypeStruct] = []
    for leaf, text in zip(leaves, texts, strict=True):
        aval = leaf if isinstance(leaf, ShapeDtypeStruct) else get_aval(leaf)
        specs.append(ShapeDtypeStruct(symbolic_shape(text, scope=scope, like=aval.shape), aval.dtype))
    return tree.unflatten(specs)


def _is_none(x: object) -> bool:
    return x is None


def is_symbolic_dim(p: Any) -> bool:
    """Whether a size is symbolic and not a number.

    >>> from pycompiler import export
    >>> [export.is_symbolic_dim(size) for size in export.symbolic_shape("b, 3")]
    [True, False]
    """
    return isinstance(p, Dim)
