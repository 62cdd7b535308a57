"""Draws programs: values of random shapes and dtypes, 5 to 30 operations, loops and branches over some of them.

JAX tells the type of each drawn expression, by tracing it alone. An expression that JAX refuses is drawn again. So each
program is valid for JAX, independently of this project.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzz_programs.libraries import JAX_NAMES
from fuzz_programs.operations import FAMILIES, Maker
from fuzz_programs.programs import Body, Line, Program

_MOST_ELEMENTS = 256
_TRIES = 12
_MOST_RESULTS = 8
_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5)
_INPUT_DTYPES = ("float32",) * 8 + (
    "int32",
    "int32",
    "bool",
    "int8",
    "uint8",
    "uint32",
    "float16",
    "bfloat16",
    "complex64",
)
_WIDE_DTYPES = (*_INPUT_DTYPES, "float64", "float64", "float64", "int64", "uint64", "complex128")
# Values at which functions and comparisons change their results, and some values between them.
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 1e-3, 4.0)
_SPECIAL = (np.inf, -np.inf, np.nan)


class NoValueError(Exception):
    """There is no value of the kind that a maker asks for."""


class Scope:
    """The values that an expression may use, with their types."""

    def __init__(
        self, rng: random.Random, types: dict[str, jax.ShapeDtypeStruct], names: Names, effects: bool = True
    ) -> None:
        self.rng = rng
        self.types = types
        self.names = names
        self.effects = effects
        self.lines: list[Line] = []

    def pick(self, kinds: str = "", rank: int | None = None) -> str:
        kind = self.rng.choice(kinds) if kinds else ""
        fitting = [
            name
            for name, t in self.types.items()
            if (not kind or _kind(t.dtype) == kind) and (rank is None or len(t.shape) == rank)
        ]
        if not fitting:
            raise NoValueError
        # The latest values are picked more often, so that programs are deep, not wide.
        return self.rng.choice(fitting[-4:] if self.rng.random() < 0.5 else fitting)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.types[name].shape

    def dtype(self, name: str) -> np.dtype[Any]:
        return np.dtype(self.types[name].dtype)

    def add(self, line: Line, types: Sequence[jax.ShapeDtypeStruct]) -> None:
        self.lines.append(line)
        self.types.update(zip(line.targets, types, strict=True))

    def type_of(self, line: Line) -> list[jax.ShapeDtypeStruct]:
        """The types of a line's results. Raises TypeError and other errors if JAX refuses the line."""
        known = {name: self.types[name] for name in line.uses() if name in self.types}
        text = "".join(f"{row}\n" for body in line.bodies for row in body.text(0))

        def run(values: dict[str, Any]) -> Any:
            scope = {**JAX_NAMES, **values}
            exec(text, scope)
            return eval(line.expression, scope)

        out = jax.eval_shape(run, known)
        outs = list(out) if isinstance(out, tuple | list) else [out]
        for each in outs:
            if (
                not isinstance(each, jax.ShapeDtypeStruct)
                or int(np.prod(each.shape)) > _MOST_ELEMENTS
                or len(each.shape) > 4
            ):
                raise TypeError("too large")
        return outs


class Names:
    """Names of values and functions, each given once."""

    def __init__(self) -> None:
        self.count = 0

    def value(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def function(self) -> str:
        self.count += 1
        return f"body{self.count}"


def _kind(dtype: Any) -> str:
    kind = "f" if jnp.issubdtype(dtype, jnp.floating) else np.dtype(dtype).kind
    return "i" if kind == "u" else kind


def draw_program(rng: random.Random, wide: bool = False) -> Program:
    """A program of 5 to 30 operations with at least one input; with `wide`, 64-bit types are used, too."""
    program = _draw(rng, wide)
    while not program.inputs:
        program = _draw(rng, wide)
    return program


def _draw(rng: random.Random, wide: bool) -> Program:
    names = Names()
    inputs = {names.value(): _draw_input(rng, wide) for _ in range(rng.randrange(1, 4))}
    scope = Scope(rng, {name: jax.ShapeDtypeStruct(x.shape, x.dtype) for name, x in inputs.items()}, names)
    wanted = rng.randrange(5, 31)
    while len(scope.lines) < wanted:
        _draw_line(scope, depth=0)
    # The results are all unused values, so that every line counts.
    used = set().union(*(line.uses() for line in scope.lines))
    ends = [target for line in scope.lines for target in line.targets if target not in used]
    return Program(inputs, tuple(scope.lines), tuple(ends[-_MOST_RESULTS:])).pruned()


def _draw_input(rng: random.Random, wide: bool) -> np.ndarray:
    shape = tuple(rng.choice(_SIZES) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 4])))
    dtype = jnp.dtype(rng.choice(_WIDE_DTYPES if wide else _INPUT_DTYPES))
    kind, size = _kind(dtype), int(np.prod(shape))
    if kind == "b":
        values: list[Any] = [rng.random() < 0.5 for _ in range(size)]
    elif kind == "i":
        values = [rng.randrange(0 if dtype.kind == "u" else -4, 6) for _ in range(size)]
    else:
        # JAX's absolute value of a complex number with a nan and an infinity is nan, not C's infinity.
        some = (*_FLOATS, *_SPECIAL) if rng.random() < 0.1 and kind != "c" else _FLOATS
        values = [rng.choice(some) if rng.random() < 0.4 else rng.randrange(-40, 41) / 16 for _ in range(size)]
    x = np.array(values, np.float64)
    return (x + 1j * np.roll(x, 1) if kind == "c" else x).reshape(shape).astype(dtype)


def _draw_line(scope: Scope, depth: int) -> None:
    """Add a line, if some tries find a valid one."""
    for _ in range(_TRIES):
        try:
            if depth < 2 and scope.rng.random() < 0.12:
                line = scope.rng.choice(_CONTROL)(scope, depth)
            else:
                maker: Maker = scope.rng.choices(list(FAMILIES), list(FAMILIES.values()))[0]
                line = Line(("?",), maker(scope))
            types = scope.type_of(line)
        except NoValueError:
            continue
        except Exception:  # any error of JAX for an invalid expression
            continue
        if line.targets:
            line = Line(tuple(scope.names.value() for _ in types), line.expression, line.bodies)
        scope.add(line, types if line.targets else ())
        return
    # This line can always be computed.
    name = scope.pick()
    line = Line((scope.names.value(),), f"pnp.count_nonzero({name})")
    scope.add(line, scope.type_of(line))


# Loops and branches


def _draw_body(
    scope: Scope,
    depth: int,
    wanted: Sequence[jax.ShapeDtypeStruct],
    more: Sequence[Any] = (),
    effects: bool = True,
    only_effects: bool = False,
) -> Body:
    """A function from values of the types `more` and `wanted` to values of the types `wanted`.

    The number of effects of a mapped function is not specified, so its body has none. With `only_effects` the function
    returns its arguments, and has an effect.
    """
    own = [scope.names.value() for _ in (*more, *wanted)]
    inner = Scope(
        scope.rng,
        {**scope.types, **dict(zip(own, (*more, *wanted), strict=True))},
        scope.names,
        scope.effects and effects,
    )
    for _ in range(scope.rng.randrange(1, 4)):
        _draw_line(inner, depth + 1)
    if inner.effects and (only_effects or scope.rng.random() < 0.2):
        inner.lines.append(Line((), f"debug.callback(seen, {inner.pick()})"))
    if only_effects:
        return Body(scope.names.function(), tuple(own), tuple(inner.lines), tuple(own[len(more) :]))
    results = [_fitting(inner, t, own) for t in wanted]
    return Body(scope.names.function(), tuple(own), tuple(inner.lines), tuple(results))


def _fitting(scope: Scope, wanted: jax.ShapeDtypeStruct, own: Sequence[str]) -> str:
    """An expression of the wanted type: one of the body's values, converted if necessary."""
    made = [target for line in scope.lines for target in line.targets]
    name = scope.rng.choice([*own, *made, *made])
    have = scope.types[name]
    expression = name
    if have.shape != wanted.shape:
        expression = f"pnp.resize({expression}, {wanted.shape})"
    if have.dtype != wanted.dtype:
        expression = (
            f"pnp.real({expression})" if _kind(have.dtype) == "c" and _kind(wanted.dtype) != "c" else expression
        )
    if have.dtype != wanted.dtype or have.weak_type or expression != name:
        expression = f"{expression}.astype(pnp.{np.dtype(wanted.dtype).name.replace('bool', 'bool_')})"
    return expression


def _carried(scope: Scope) -> tuple[list[jax.ShapeDtypeStruct], str]:
    """The types of some values, without weak types, and the expression of the values with these types."""
    picked = list(dict.fromkeys(scope.pick() for _ in range(scope.rng.randrange(1, 3))))
    types = [jax.ShapeDtypeStruct(scope.types[n].shape, scope.types[n].dtype) for n in picked]
    exact = [f"lax.asarray({n})" if not scope.types[n].weak_type else f"{n}.astype({n}.dtype)" for n in picked]
    return types, ", ".join(exact)


def _tupled(types: Sequence[Any], expression: str) -> str:
    return f"({expression})" if len(types) > 1 else expression


def _cond(scope: Scope, depth: int) -> Line:
    types, args = _carried(scope)
    count, only_effects = scope.rng.choice([2, 2, 2, 3]), scope.effects and scope.rng.random() < 0.2
    branches = tuple(_draw_body(scope, depth, types, only_effects=only_effects) for _ in range(count))
    choice = scope.pick("bi", 0) if scope.rng.random() < 0.3 else f"pnp.sum({scope.pick('fi')}) > 0"
    if scope.rng.random() < 0.15:
        choice = f"pnp.sum({scope.pick('i')})"
    if not only_effects and _kind(types[0].dtype) == "f" and scope.rng.random() < 0.3:
        branches, choice = (_guarded(scope, branches[0]), branches[1]), f"pnp.all({args.split(', ')[0]} > 0)"
    if len(branches) == 2:
        return Line(("?",), f"lax.cond({choice}, {branches[0].name}, {branches[1].name}, {args})", branches)
    named = ", ".join(branch.name for branch in branches)
    return Line(("?",), f"lax.switch(pnp.sum({scope.pick('i')}).astype(pnp.int32), [{named}], {args})", branches)


def _guarded(scope: Scope, branch: Body) -> Body:
    """The branch, with a function of its first argument that has no derivative, or an infinite one, where the branch is
    not taken."""
    name, operation = scope.names.value(), scope.rng.choice(["sqrt", "log", "reciprocal"])
    line = Line((name,), f"pnp.{operation}({branch.parameters[0]})")
    results = (f"({branch.results[0]}) + {name}", *branch.results[1:])
    return Body(branch.name, branch.parameters, (*branch.lines, line), results)


def _fori(scope: Scope, depth: int) -> Line:
    types, args = _carried(scope)
    index = jax.ShapeDtypeStruct((), np.int32)
    inner = _draw_body(scope, depth, types, [index])
    body = _unpacking(inner, len(types), 1)
    return Line(("?",), f"lax.fori_loop(0, {scope.rng.randrange(4)}, {body.name}, {_tupled(types, args)})", (body,))


def _unpacking(body: Body, carried: int, first: int) -> Body:
    """The body with its carry as one parameter."""
    if carried == 1:
        return body
    names = body.parameters[first : first + carried]
    unpacked = Line(tuple(names), "carry")
    parameters = (*body.parameters[:first], "carry", *body.parameters[first + carried :])
    return Body(body.name, parameters, (unpacked, *body.lines), body.results, body.form)


def _scan(scope: Scope, depth: int) -> Line:
    types, args = _carried(scope)
    over = scope.pick()
    shape = scope.shape(over)
    if not shape or shape[0] > 4:
        raise NoValueError
    inner = _draw_body(scope, depth, types)
    slice_ = scope.names.value()
    carried = _unpacking(inner, len(types), 0)
    kept = scope.rng.choice([slice_, *(t for line in inner.lines for t in line.targets)])
    body = Body(carried.name, (*carried.parameters, slice_), carried.lines, carried.results, f"({{}}, {kept})")
    reverse = scope.rng.choice(["", ", reverse=True"])
    call = f"lax.scan({body.name}, {_tupled(types, args)}, {over}{reverse})"
    if len(types) > 1:
        return Line(("?",), f"pack({call})", (body,))
    return Line(("?",), call, (body,))


def _while(scope: Scope, depth: int) -> Line:
    name = scope.pick("f")
    t = jax.ShapeDtypeStruct(scope.shape(name), scope.types[name].dtype)
    body = _draw_body(scope, depth, [t])
    body = Body(
        body.name,
        ("carry",),
        (Line((body.parameters[0], "count"), "carry"), *body.lines),
        body.results,
        "({}, carry[1] + 1)",
    )
    test = Body(
        scope.names.function(), ("carry",), (), (f"(carry[1] < {scope.rng.randrange(4)}) & (pnp.sum(carry[0]) < 9)",)
    )
    dtype = np.dtype(t.dtype).name
    return Line(("?",), f"lax.while_loop({test.name}, {body.name}, ({name}.astype(pnp.{dtype}), 0))", (test, body))


def _called(scope: Scope, depth: int) -> Line:
    """A function under a transformation that changes no value."""
    types, args = _carried(scope)
    body = _draw_body(scope, depth, types)
    return Line(("?",), f"{scope.rng.choice(['jit', 'checkpoint', 'jit'])}({body.name})({args})", (body,))


def _mapped(scope: Scope, depth: int) -> Line:
    name = scope.pick()
    shape = scope.shape(name)
    if not shape or shape[0] == 0:
        raise NoValueError
    body = _draw_body(scope, depth, [jax.ShapeDtypeStruct(shape[1:], scope.types[name].dtype)], effects=False)
    return Line(("?",), f"{scope.rng.choice(['vmap({})', 'partial(lax.map, {})']).format(body.name)}({name})", (body,))


_CONTROL = (_cond, _cond, _fori, _scan, _while, _called, _mapped)
