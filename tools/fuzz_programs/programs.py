"""Programs as data: `generate` makes them, `ways` runs them, and `shrink` makes them small. A program's text is its
meaning.

A program is one function of arrays. Each line names the results of an expression. Expressions use modules such as
`pnp`, `lax`, `nn`, which are this project's or JAX's. Bodies of loops and branches are inner functions.
"""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_INDENT = "    "


@dataclasses.dataclass(frozen=True)
class Body:
    """A function that a line passes to a loop or a branch. It may use earlier values of the outer function."""

    name: str
    parameters: tuple[str, ...]
    lines: tuple[Line, ...]
    results: tuple[str, ...]
    """Expressions. A single one is returned itself, several are returned as a tuple."""
    form: str = "{}"
    """The form of the returned results: `({}, None)` for the body of a scan."""

    def text(self, depth: int, rounded: bool = False) -> Iterator[str]:
        yield f"{_INDENT * depth}def {self.name}({', '.join(self.parameters)}):"
        yield from _lines(self.lines, depth + 1, rounded)
        yield f"{_INDENT * (depth + 1)}return {self.form.format(_tuple(self.results))}"

    def free(self) -> set[str]:
        used = set().union(*(line.uses() for line in self.lines), *map(_words, self.results))
        return used - set(self.parameters) - {name for line in self.lines for name in line.targets}


@dataclasses.dataclass(frozen=True)
class Line:
    """`targets = expression`; without targets, a line for its effect."""

    targets: tuple[str, ...]
    expression: str
    bodies: tuple[Body, ...] = ()

    def uses(self) -> set[str]:
        names = _words(self.expression).union(*(body.free() for body in self.bodies))
        return names - {body.name for body in self.bodies}

    def has_effect(self) -> bool:
        return not self.targets or any(line.has_effect() for body in self.bodies for line in body.lines)


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of `inputs`, arrays by name."""

    inputs: Mapping[str, np.ndarray]
    lines: tuple[Line, ...]
    results: tuple[str, ...]

    def text(self, name: str = "f", rounded: bool = False) -> str:
        """`rounded`: each value passes through a function of that name."""
        body = Body(name, tuple(self.inputs), self.lines, self.results)
        return "\n".join(body.text(0, rounded)) + "\n"

    def arguments(self) -> list[np.ndarray]:
        return list(self.inputs.values())

    def function(self, names: Mapping[str, Any], rounded: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
        """The function over the modules and functions of `names`. `rounded` replaces each value by one with another
        rounding."""
        scope = dict(names) | {"rounded": rounded}
        exec(compile(self.text(rounded=rounded is not None), "<program>", "exec"), scope)
        return scope["f"]

    def pruned(self) -> Program:
        """The program without lines and inputs that no result or effect needs."""
        lines, needed = _needed(self.lines, set().union(*map(_words, self.results)))
        return Program({name: x for name, x in self.inputs.items() if name in needed}, lines, self.results)

    def length(self) -> int:
        return _length(self.lines)


def _length(lines: Sequence[Line]) -> int:
    return sum(1 + sum(_length(body.lines) for body in line.bodies) for line in lines)


def _needed(lines: Sequence[Line], needed: set[str]) -> tuple[tuple[Line, ...], set[str]]:
    kept: list[Line] = []
    for line in reversed(lines):
        if not line.has_effect() and needed.isdisjoint(line.targets):
            continue
        bodies = tuple(
            dataclasses.replace(body, lines=_needed(body.lines, set().union(*map(_words, body.results)))[0])
            for body in line.bodies
        )
        line = dataclasses.replace(line, bodies=bodies)
        kept.append(line)
        needed = (needed - set(line.targets)) | line.uses()
    return tuple(reversed(kept)), needed


def _lines(lines: Sequence[Line], depth: int, rounded: bool) -> Iterator[str]:
    for line in lines:
        for body in line.bodies:
            yield from body.text(depth, rounded)
        head = f"{', '.join(line.targets)} = " if line.targets else ""
        yield f"{_INDENT * depth}{head}{line.expression}"
        for target in line.targets if rounded else ():
            yield f"{_INDENT * depth}{target} = rounded({target})"


def _tuple(results: Sequence[str]) -> str:
    return results[0] if len(results) == 1 else f"({', '.join(results)})"


def _words(expression: str) -> set[str]:
    """The names in an expression, without attributes and keywords of calls."""
    return {
        word.group()
        for word in _WORD.finditer(expression)
        if not keyword.iskeyword(word.group()) and not re.match(r"=(?!=)", expression[word.end() :])
    }


def substitute(expression: str, name: str, other: str) -> str:
    """`expression` with `other` for the name."""
    return re.sub(rf"(?<![.\w]){re.escape(name)}(?!\w)", other, expression)


def literal(x: np.ndarray) -> str:
    """An expression that makes the array again, with `np`, `ml_dtypes`, `nan` and `inf`."""
    if x.dtype.isbuiltin != 1:
        return f"{literal(x.astype(np.float32))}.astype(ml_dtypes.{x.dtype.name})"
    dtype = "np.bool_" if x.dtype.kind == "b" else f"np.{x.dtype.name}"
    return f"np.array({_python(x.tolist())}, {dtype})" if x.size else f"np.zeros({x.shape}, {dtype})"


def _python(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    # The printed form of a complex number is a sum, which loses the signs of zeros, infinities and nans.
    return f"complex({value.real}, {value.imag})" if isinstance(value, complex) else repr(value)
