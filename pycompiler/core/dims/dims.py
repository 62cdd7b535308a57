"""Dimensions: Python ints, symbols, and arithmetic on symbols (`n`, `2*n + 1`, `n*m`, `(n + 1)//2`, `n//m`).

Shape rules use the helpers below and never need an int, so one graph serves all sizes. Equality is equality for all
sizes: a size that happens to be 1 is not the static 1. If the bounds of a symbol leave a question open, the error names
the bound that decides it. Imports `polynomial`; `sizes` computes the sizes of symbols from concrete shapes.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeGuard, Union, cast

import numpy as np

from pycompiler.core.dims import polynomial, quotients
from pycompiler.core.dims.bounds import bounds
from pycompiler.core.dims.decisions import Decision, equals_zero, inconclusive, is_negative, place
from pycompiler.core.dims.polynomial import Floor, Symbol, Terms
from pycompiler.core.errors import ArgumentError, InconclusiveDimensionError
from pycompiler.core.source import is_internal

__all__ = [
    "Dim",
    "Dimension",
    "Floor",
    "Shape",
    "Symbol",
    "broadcast_dim",
    "broadcast_shapes",
    "decidedly_equal",
    "dim_product",
    "is_dimension",
    "is_empty",
    "same_shape",
    "show_shape",
    "surely_below",
    "typical",
]

Dimension = Union[int, "Dim"]
Shape = tuple[Dimension, ...]


class Dim:
    """A symbolic dimension: a size that is known when the compiled function is called. One program serves all sizes.

    `Dim("n")` stands for every size from `min` to `max` (None: unbounded) that is a multiple of `multiple_of`; `min=0`
    allows empty arrays. `+`, `-`, `*`, `//` and `%` of dimensions are dimensions, or numbers if no symbol is left. A
    dimension beside an array, or divided by `/`, is a scalar array. The name identifies a symbol: within one program,
    one name has one set of bounds.

    The bounds decide `==` and `<`. If they leave the answer open, your code gets an `InconclusiveDimensionError` that
    names the bound to add. (JAX: `jax.export.symbolic_shape`, whose symbols have their constraints beside them.)

    >>> import pycompiler as pc
    >>> n = pc.Dim("n", max=4096, multiple_of=8)
    >>> x = pc.ShapeDtypeStruct((n, 3), "float32")
    >>> pc.eval_shape(lambda x: x.reshape(-1, 2)[1:], x)
    ShapeDtypeStruct(shape=(3*(n//2) - 1, 2), dtype=float32)
    >>> n >= 8, n % 4, n == 10
    (True, 0, False)
    """

    __slots__ = ("_hash", "_symbols", "_terms")

    # With this, NumPy's arrays and scalars leave binary operations to this class.
    __array_ufunc__ = None

    _terms: Terms
    _symbols: dict[str, Symbol]
    _hash: int

    def __init__(self, name: str, *, min: int = 1, max: int | None = None, multiple_of: int = 1) -> None:
        self._set(polynomial.of_symbol(_checked(name, min, max, multiple_of)))

    def _set(self, terms: Terms) -> None:
        self._terms = terms
        self._symbols = polynomial.symbols(terms)
        self._hash = hash(("Dim", terms))

    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols in it, in the order of their names."""
        return tuple([symbol for _, symbol in sorted(self._symbols.items())])

    def terms(self) -> list[tuple[int, list[tuple[Dim, int, int]]]]:
        """The terms of its sum. Each term is a factor and a list of (dimension, divisor, power): the floor of the
        quotient, to that power. A dimension with the divisor 1 is a plain symbol."""
        return [
            (factor, [(_numerator(atom), atom.divisor if isinstance(atom, Floor) else by, p) for atom, by, p in parts])
            for factor, parts in polynomial.presented(self._terms)
        ]

    def derived(self) -> tuple[str, Dimension, Dimension] | None:
        """If the dimension is a maximum with 0, or the floor of a quotient by a dimension: "maximum" or "quotient", and
        the two dimensions. Otherwise None."""
        if len(self._terms) != 1 or self._terms[0][1] != 1 or len(self._terms[0][0]) != 1:
            return None
        ((atom, power),) = self._terms[0][0]
        if power != 1 or isinstance(atom, (Symbol, Floor)):
            return None
        if isinstance(atom, polynomial.Positive):
            return "maximum", _of(atom.terms), 0
        return "quotient", _of(atom.terms), _of(atom.by)

    def positive_part(self) -> Dimension:
        """The maximum of the size and 0."""
        return _of(quotients.positive_part(self._terms))

    def symbol(self) -> Symbol | None:
        """The symbol, if the dimension is a plain symbol. Otherwise None."""
        only = next(iter(self._symbols.values()))
        return only if self._terms == polynomial.of_symbol(only) else None

    def bounds(self) -> tuple[int | None, int | None]:
        """A lower and an upper bound of the size. None for an unknown one."""
        return bounds(self._terms)

    def linear_in(self, symbol: Symbol) -> tuple[int, Dimension] | None:
        """The factor of the symbol's unit (its size divided by `multiple_of`) and the rest, which is free of the
        symbol. None if the dimension is not linear in the unit with an int as factor."""
        found = polynomial.linear_in(self._terms, symbol)
        return None if found is None else (found[0], _of(found[1]))

    def evaluate(self, sizes: Mapping[str, Any]) -> Any:
        """The size, from the size of each symbol, which may itself be a dimension."""
        return polynomial.evaluate(self._terms, sizes)

    def __add__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _of(polynomial.add(self._terms, terms))

    __radd__ = __add__

    def __neg__(self) -> Dimension:
        return _of(polynomial.scale(self._terms, -1))

    def __pos__(self) -> Dimension:
        return self

    def __abs__(self) -> Dimension:
        return self if self >= 0 else -self

    def __sub__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _of(polynomial.add(self._terms, polynomial.scale(terms, -1)))

    def __rsub__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _of(polynomial.add(terms, polynomial.scale(self._terms, -1)))

    def __mul__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _of(polynomial.multiply(self._terms, terms))

    __rmul__ = __mul__

    def __pow__(self, other: object) -> Dimension:
        if not isinstance(other, int) or other < 0:
            return NotImplemented
        return dim_product([self] * other)

    def __floordiv__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _floor_divide(self._terms, terms)

    def __rfloordiv__(self, other: object) -> Dimension:
        terms = _terms_of(self, other)
        return NotImplemented if terms is None else _floor_divide(terms, self._terms)

    def __mod__(self, other: Any) -> Dimension:
        quotient = self // other if _terms_of(self, other) is not None else NotImplemented
        return NotImplemented if quotient is NotImplemented else self - quotient * other

    def __rmod__(self, other: Any) -> Dimension:
        quotient = self.__rfloordiv__(other)
        return NotImplemented if quotient is NotImplemented else other - quotient * self

    def __divmod__(self, other: Any) -> tuple[Dimension, Dimension]:
        return (self // other, self % other) if _terms_of(self, other) is not None else NotImplemented

    def __rdivmod__(self, other: Any) -> tuple[Dimension, Dimension]:
        return (other // self, other % self) if _terms_of(self, other) is not None else NotImplemented

    def __eq__(self, other: object) -> bool:
        terms = _terms_of(self, other)
        if terms is None:
            return NotImplemented
        if terms == self._terms:
            return True
        # Rules of this package need equality at every size. An `if` of the user is about the sizes of one call.
        if _asked_by_user(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return _decided(f"{self} == {other}", equals_zero, polynomial.add(self._terms, polynomial.scale(terms, -1)))
        return False

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Any) -> bool:
        return _below(self, other, "<", 1, 0)

    def __gt__(self, other: Any) -> bool:
        return _below(self, other, ">", -1, 0)

    def __le__(self, other: Any) -> bool:
        return _below(self, other, "<=", 1, 1)

    def __ge__(self, other: Any) -> bool:
        return _below(self, other, ">=", -1, 1)

    def __bool__(self) -> bool:
        return not _decided(f"{self} == 0", equals_zero, self._terms)

    def __int__(self) -> int:
        return _no_number(self, "int", "an int")

    def __float__(self) -> float:
        return _no_number(self, "float", "a float")

    def __complex__(self) -> complex:
        return _no_number(self, "complex", "a complex")

    def __reduce__(self) -> tuple[Any, ...]:
        return _of, (self._terms,)

    def __repr__(self) -> str:
        return polynomial.show(self._terms)

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def _checked(name: object, min: object, max: object, multiple_of: object) -> Symbol:
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"Dim: a symbol's name must be an identifier, got {name!r}")
    low = _checked_int(name, "min", min)
    high = None if max is None else _checked_int(name, "max", max)
    by = _checked_int(name, "multiple_of", multiple_of)
    if by < 1:
        raise ValueError(f"Dim: multiple_of of {name} must be at least 1, got {by}")
    if low < 0:
        raise ValueError(f"Dim: min of {name} must not be negative, got {low}")
    symbol = Symbol(name, low, high, by)
    if symbol.max is not None and symbol.max <= symbol.min:
        among = f"from {low} to {high}" + (f" there is no second multiple of {by}" if by > 1 else "")
        raise ValueError(f"Dim: {name} needs at least two sizes, got {among}; a fixed size is written as an int")
    return symbol


def _checked_int(name: str, what: str, value: object) -> int:
    try:
        number = operator.index(cast(Any, value))
    except TypeError:
        raise TypeError(f"Dim: {what} of {name} must be an int, got {value!r}") from None
    if number >= 1 << 63:
        raise ValueError(f"Dim: {what} of {name} must be less than 2**63, got {number}")
    return number


def _of(terms: Terms) -> Dimension:
    if not terms or not terms[0][0]:
        return terms[0][1] if terms else 0
    dim = object.__new__(Dim)
    dim._set(terms)  # pyright: ignore[reportPrivateUsage]
    return dim


def _numerator(atom: polynomial.Atom) -> Dim:
    if isinstance(atom, Symbol):
        return cast(Dim, _of(polynomial.of_symbol(atom)))
    return cast(Dim, _of(atom.terms if isinstance(atom, Floor) else polynomial.of_atom(atom)))


def _terms_of(dim: Dim, other: object) -> Terms | None:
    """The terms of the other operand, None if it is no dimension. Raises if their symbols contradict each other."""
    if isinstance(other, Dim):
        mine, others = dim._symbols, other._symbols  # pyright: ignore[reportPrivateUsage]
        if mine is not others:
            polynomial.merge(dict(mine), others)
        return other._terms  # pyright: ignore[reportPrivateUsage]
    if isinstance(other, int):
        return polynomial.constant(other)
    if isinstance(other, np.integer):
        return polynomial.constant(operator.index(cast(Any, other)))
    return None


def _floor_divide(terms: Terms, by: Terms) -> Dimension:
    if not by:
        raise ZeroDivisionError(f"{polynomial.show(terms)} // 0")
    if not by[0][0]:
        divisor = by[0][1]
        return _of(quotients.floor_divide(polynomial.scale(terms, -1) if divisor < 0 else terms, abs(divisor)))
    quotient = polynomial.divide_exactly(terms, by)
    if quotient is not None:
        return _of(quotient)
    if is_negative(by):
        terms, by = polynomial.scale(terms, -1), polynomial.scale(by, -1)
    beyond = polynomial.add(by, polynomial.constant(-1))
    if is_negative(beyond) is not False:
        # A divisor that may be 0: the error names the bound that excludes 0.
        raise inconclusive(
            f"{polynomial.show(by)} >= 1, by which {polynomial.show(terms)} is divided,",
            lambda terms: is_negative(terms) is False or None,
            beyond,
        )
    return _of(quotients.quotient(terms, by))


def _names(*several: Terms) -> str:
    return ", ".join(sorted({name for terms in several for name in polynomial.symbols(terms)}))


# Questions


def _asked_by_user(frame: Any) -> bool:
    # The __eq__ that dataclasses generate compares on behalf of its caller.
    while frame is not None and frame.f_code.co_name == "__eq__" and frame.f_code.co_filename == "<string>":
        frame = frame.f_back
    return frame is not None and not is_internal(frame.f_code.co_filename)


def _decided(question: str, decide: Decision, terms: Terms) -> bool:
    decided = decide(terms)
    if decided is None:
        raise inconclusive(question, decide, terms)
    return decided


def _below(left: Dim, right: object, sign: str, side: int, margin: int) -> bool:
    """Whether `side` times the difference is less than `margin`."""
    other = _terms_of(left, right)
    if other is None:
        return NotImplemented
    terms = left._terms  # pyright: ignore[reportPrivateUsage]
    difference = polynomial.scale(polynomial.add(terms, polynomial.scale(other, -1)), side)
    difference = polynomial.add(difference, polynomial.constant(-margin))
    return _decided(f"{left} {sign} {right}", is_negative, difference)


def _difference(a: Dimension, b: Dimension) -> Dimension:
    """a - b. Raises TypeError if one of them is no size, such as a float."""
    difference: Any = a - b
    if isinstance(difference, (int, Dim)):
        return difference
    if isinstance(difference, np.integer):
        return operator.index(cast(Any, difference))
    raise TypeError(f"sizes, bounds and counts are integers, got {a if isinstance(b, int) else b!r}")


def decidedly_equal(a: Dimension, b: Dimension) -> bool:
    """Whether two dimensions are equal at every size. Raises InconclusiveDimensionError if they are at some only."""
    if a == b:
        return True
    difference = _difference(a, b)
    if isinstance(difference, int):
        return False
    return _decided(f"{a} == {b}", equals_zero, difference._terms)  # pyright: ignore[reportPrivateUsage]


def is_multiple(dim: Dimension, of: Dimension) -> bool:
    """Whether `of`, which is not 0, divides a dimension. Raises InconclusiveDimensionError if at some sizes only."""
    rest = dim % of
    if isinstance(rest, int):
        return rest == 0
    return _decided(f"{dim} is a multiple of {of}", equals_zero, rest._terms)  # pyright: ignore[reportPrivateUsage]


def surely_below(a: Dimension, b: Dimension) -> bool:
    """Whether a is less than b at every size, if the bounds can prove it."""
    difference = _difference(a, b)
    return difference < 0 if isinstance(difference, int) else is_negative(difference._terms) is True  # pyright: ignore[reportPrivateUsage]


def is_at_least(a: Dimension, b: Dimension) -> bool:
    """Whether a >= b at every size, for a rule that needs it. If it holds at some sizes only, the message of the
    InconclusiveDimensionError proposes bounds under which it holds."""
    rest = _difference(a, b)
    if isinstance(rest, int):
        return rest >= 0
    terms = rest._terms  # pyright: ignore[reportPrivateUsage]
    negative = is_negative(terms)
    if negative is None:
        raise inconclusive(f"{a} >= {b}", lambda terms: is_negative(terms) is False or None, terms)
    return not negative


def typical(dim: Dimension) -> int:
    """A possible size of a dimension, for choices that are correct for any size: 128, or the nearest bound."""
    if isinstance(dim, int):
        return dim
    near = {s: max(s.min, min(128, s.max or 128)) for s in dim.symbols()}
    return dim.evaluate({s.name: -(-size // s.multiple_of) * s.multiple_of for s, size in near.items()})


def is_empty(dim: Dimension) -> bool:
    """Whether a dimension is 0. Raises InconclusiveDimensionError when its symbols allow 0 and more."""
    return not dim


def _no_number(dim: Dim, function: str, what: str) -> NoReturn:
    raise InconclusiveDimensionError(
        f"{place()}{function}() of the dimension {dim}: it has no fixed size, so that it is not {what} of Python; its "
        f"symbols are {_names(dim._terms)}.\n"  # pyright: ignore[reportPrivateUsage]
        "What to do: compute with it as it is (met by an array it is a scalar array), or make the size an int"
    )


# Helpers of shape rules


def is_dimension(x: object) -> TypeGuard[Dimension]:
    """Whether `x` can be a dimension: an int (bool excepted) or symbolic."""
    return isinstance(x, Dim) or (isinstance(x, int) and not isinstance(x, bool))


def same_shape(a: Iterable[Dimension], b: Iterable[Dimension]) -> bool:
    """Whether two shapes are equal for all sizes."""
    return tuple(a) == tuple(b)


def dim_product(dims: Iterable[Dimension]) -> Dimension:
    """The number of elements of a shape."""
    product: Dimension = 1
    for dim in dims:
        product = product * dim
    return product


def broadcast_dim(a: Dimension, b: Dimension) -> Dimension:
    """The common dimension of two under NumPy's broadcasting.

    Raises ValueError if they differ and neither is 1, InconclusiveDimensionError if this holds at some sizes only.
    """
    if a == 1:
        return b
    if b == 1 or decidedly_equal(a, b):
        return a
    raise ValueError(f"dimensions {a} and {b} differ and neither is 1")


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The common shape of all under NumPy's broadcasting. Raises a ValueError that shows the shapes.

    If they broadcast at some sizes only, the error is an InconclusiveDimensionError.
    """
    rank = max(map(len, shapes), default=0)
    result: list[Dimension] = [1] * rank
    for shape in shapes:
        for axis, dim in enumerate(shape, rank - len(shape)):
            try:
                result[axis] = broadcast_dim(result[axis], dim)
            except InconclusiveDimensionError:
                raise
            except ValueError:
                shown = " and ".join(show_shape(shape) for shape in shapes)
                raise ArgumentError(
                    # The first words are JAX's, by which programs know this error.
                    f"Incompatible shapes for broadcasting: {shown}: axis {axis} has {result[axis]} and {dim}"
                ) from None
    return tuple(result)


def show_shape(shape: Iterable[Dimension]) -> str:
    """`[3,n]`."""
    return "[" + ",".join(map(str, shape)) + "]"
