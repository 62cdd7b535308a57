"""The option `dynamic` of `jit`: the dimensions of the arguments that are symbols.

`jit`, which traces and compiles with them, imports this module. `Dynamic` holds the program's declaration; `automatic`
derives it from calls.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import Dim, is_dimension
from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.types.aval import same_type, shaped, short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten

__all__ = ["Dynamic", "Names", "SymbolicArguments", "may_be", "read_dynamic", "symbol_name"]

# The names of the leaves of a call: "params['w']".
Names = Callable[[], Sequence[str]]

_WANTED = (
    'a tuple with a name, a Dim, an int or None for each axis, as ("batch", None), or a tree of such tuples that is a '
    "prefix of the argument's"
)


def _is_entry(x: object) -> bool:
    """Whether it describes one array: its axes, or None if all of its sizes are fixed."""
    if x is None:
        return True
    return type(x) is tuple and all(part is None or isinstance(part, str) or is_dimension(part) for part in x)


def _is_said(x: object) -> bool:
    """Whether the user means it as an entry: a tuple with a name or a Dim in it is no container."""
    return _is_entry(x) or (type(x) is tuple and any(isinstance(part, (str, Dim)) for part in cast(Any, x)))


class Dynamic:
    """For each parameter, by number and by name, a tree of axes that marks the symbols."""

    def __init__(self, by_number: Mapping[int, Any], by_name: Mapping[str, Any]) -> None:
        self._by_number = by_number
        self._by_name = by_name

    def avals(
        self, flat: FlatFunction, kwargs: Mapping[str, Any], avals: Sequence[ShapedArray], of_symbols: bool = False
    ) -> tuple[ShapedArray, ...]:
        """The avals of the leaves, with symbols for the dynamic dimensions. Existing symbols, from a ShapeDtypeStruct
        or from an outer function, stay, unless `of_symbols`.

        Raises ValueError, naming the argument, for an entry that is no prefix of it, or that has another rank.
        """
        assert flat.places is not None
        entries: list[Any] = []
        for place in flat.places:
            entries += self._entries(self._by_number.get(place), flat.fixed[place], flat, f"argument {place}", place)
        for name in sorted(set(kwargs) - set(flat.fixed_kwargs)):
            entries += self._entries(self._by_name.get(name), kwargs[name], flat, f"argument '{name}'")
        return tuple(
            [
                aval if entry is None else self._symbolic(entry, aval, number, flat, of_symbols)
                for number, (entry, aval) in enumerate(zip(entries, avals, strict=True))
            ]
        )

    def _entries(self, entry: Any, given: Any, flat: FlatFunction, which: str, place: int = -1) -> list[Any]:
        try:
            return prefix_leaves(entry, given, _is_entry)
        except ValueError as error:
            which = next((f"argument '{name}'" for name, number in _positions(flat.fun) if number == place), which)
            raise ValueError(
                f"jit: dynamic has {entry!r} for {which} of {flat.debug_info().name}, which is no prefix of its tree: "
                f"{error}; expected {_WANTED}"
            ) from None

    def _symbolic(
        self, entry: tuple[Any, ...], aval: ShapedArray, number: int, flat: FlatFunction, of_symbols: bool
    ) -> ShapedArray:
        if len(entry) != aval.ndim:
            raise ValueError(
                f"jit: dynamic has {entry!r}, of {len(entry)} axes, for argument '{flat.names()[number]}' of "
                f"{flat.debug_info().name}, which is {short(aval)} of {aval.ndim} axes; expected one entry for each "
                "axis"
            )
        shape = [
            size if wanted is None or not (of_symbols or isinstance(size, int)) else wanted
            for wanted, size in zip(entry, aval.shape, strict=True)
        ]
        return shaped(shape, aval.dtype, aval.weak_type)


class SymbolicArguments(Dynamic):
    """Arguments whose avals, with symbols, are known: those of an exported program."""

    def __init__(self, avals: Sequence[ShapedArray]) -> None:
        super().__init__({}, {})
        self._avals = tuple(avals)

    def avals(
        self, flat: FlatFunction, kwargs: Mapping[str, Any], avals: Sequence[ShapedArray], of_symbols: bool = False
    ) -> tuple[ShapedArray, ...]:
        # The function itself reports arguments that do not fit.
        fit = len(avals) == len(self._avals) and all(map(may_be, avals, self._avals))
        return self._avals if fit else tuple(avals)


def may_be(given: ShapedArray, wanted: ShapedArray) -> bool:
    """Whether an argument fits the wanted aval for some size of the symbols: it has the dtype and rank."""
    if wanted.is_concrete:
        return same_type(given, wanted)
    return given.dtype == wanted.dtype and given.ndim == wanted.ndim


def _positions(fun: Callable[..., Any]) -> list[tuple[str, int]]:
    """The positional parameters, by name and number."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [(parameter.name, number) for number, parameter in enumerate(parameters) if parameter.kind in kinds]


def read_dynamic(
    fun: Callable[..., Any], given: Any, static_numbers: Sequence[int], static_names: Sequence[str]
) -> Dynamic:
    """The checked option of `jit`. Raises TypeError if it is no such dict; ValueError for a parameter that does not
    exist, is given twice or is static, and for two symbols with one name."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f'jit: dynamic must be "auto" or a dict by the names or positions of parameters, as '
            f'{{"x": ("batch", None)}}; got {given!r} of type {type(given).__name__}'
        )
    entries = {_checked_key(key): value for key, value in cast("Mapping[Any, Any]", given).items()}
    for key, value in entries.items():
        _check_entry(key, value)
    symbols = _symbols(entries)
    numbers, names = dict[int, Any](), dict[str, Any]()
    positions = _positions(fun)
    for key, value in entries.items():
        number, name = _parameter(fun, key, positions)
        if number in static_numbers or name in static_names:
            raise ValueError(f"jit: dynamic has {key!r}, which is a static argument: it has no dimensions")
        if (number is not None and number in numbers) or (name is not None and name in names):
            raise ValueError(f"jit: dynamic has the parameter {name or number!r} twice, by its name and its position")
        value = _with_symbols(value, symbols)
        if number is not None:
            numbers[number] = value
        if name is not None:
            names[name] = value
    return Dynamic(numbers, names)


def _checked_key(key: Any) -> int | str:
    if isinstance(key, bool) or not isinstance(key, (int, str)):
        raise TypeError(
            f"jit: dynamic is a dict by the names or positions of parameters; got the key {key!r} of type "
            f"{type(key).__name__}"
        )
    return key


def _check_entry(key: int | str, value: Any) -> None:
    for entry in tree_flatten(value, _is_said)[0]:
        if not _is_entry(entry):
            hint = f"; for one axis write ({entry!r},)" if isinstance(entry, (str, Dim)) else ""
            raise TypeError(
                f"jit: dynamic has {entry!r} of type {type(entry).__name__} for {key!r}; expected {_WANTED}{hint}"
            )


def _symbols(entries: Mapping[Any, Any]) -> dict[str, Dim]:
    """The symbols that are given as a Dim, by name. A string of this name means the same symbol."""
    found: dict[str, Dim] = {}
    for value in entries.values():
        for entry in tree_flatten(value, _is_entry)[0]:
            for dim in entry or ():
                for symbol in dim.symbols() if isinstance(dim, Dim) else ():
                    made = Dim(symbol.name, min=symbol.min, max=symbol.max, multiple_of=symbol.multiple_of)
                    known = found.setdefault(symbol.name, made)
                    if known.symbols() != made.symbols():
                        raise ValueError(
                            f"jit: dynamic has two symbols of the name {symbol.name!r}, {known.symbols()[0]!r} and "
                            f"{symbol!r}; make one of them, and use it for both, or give them different names"
                        )
    return found


def _with_symbols(value: Any, symbols: dict[str, Dim]) -> Any:
    """The tree with Dims for strings."""
    leaves, tree = tree_flatten(value, _is_entry)
    return tree.unflatten([entry and tuple([_dim_of(part, symbols) for part in entry]) for entry in leaves])


def _dim_of(part: Any, symbols: dict[str, Dim]) -> Any:
    return symbols.setdefault(part, Dim(part)) if isinstance(part, str) else part


def _parameter(
    fun: Callable[..., Any], key: int | str, positions: Sequence[tuple[str, int]]
) -> tuple[int | None, str | None]:
    """The number and the name of a parameter, from either. Raises ValueError for a parameter that does not exist."""
    try:
        parameters = inspect.signature(fun).parameters
    except (TypeError, ValueError):
        return (key, None) if isinstance(key, int) else (None, key)
    kinds = {parameter.kind for parameter in parameters.values()}
    if isinstance(key, int):
        number = key + len(positions) if key < 0 else key
        if not 0 <= number < len(positions) and not (inspect.Parameter.VAR_POSITIONAL in kinds and key >= 0):
            raise ValueError(f"jit: dynamic has {key}, but {fun} has {len(positions)} positional parameters")
        return number, next((name for name, place in positions if place == number), None)
    found = parameters.get(key)
    if found is not None and found.kind is inspect.Parameter.VAR_POSITIONAL:
        raise ValueError(f"jit: dynamic has '{key}', the tuple *{key} of {fun}; name its entries by their positions")
    if (found is None or found.kind is found.VAR_KEYWORD) and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ValueError(f"jit: dynamic has '{key}', but the parameters of {fun} are {sorted(parameters)}")
    return dict(positions).get(key), key


def symbol_name(leaf: str, axis: int, taken: Sequence[str]) -> str:
    """A unique name for the size of an axis of an argument: `x_0`."""
    plain = re.sub(r"\W+", "_", leaf).strip("_") or "size"
    name = f"{plain}_{axis}" if plain[0].isalpha() else f"_{plain}_{axis}"
    while name in taken:
        name += "_"
    return name
