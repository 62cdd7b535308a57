"""Makes a failing program small: it removes parts while the same way fails with the same kind of failure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fuzz_programs.libraries import JAX_NAMES
from fuzz_programs.programs import Body, Line, Program, substitute

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, most: int = 300) -> Program:
    """The smallest program found in `most` tries that still fails."""
    tries = 0
    changed = True
    while changed and tries < most:
        changed = False
        for candidate in _smaller(program):
            candidate = candidate.pruned()
            if tries >= most or not candidate.inputs or _size(candidate) >= _size(program):
                continue
            tries += 1
            if fails(candidate):
                program, changed = candidate, True
                break
    return program


def _size(program: Program) -> tuple[int, int, int]:
    """The size of a program: the lines first, then the elements of the inputs, then the text."""
    elements = sum(x.size + x.ndim for x in program.inputs.values())
    simple = sum(int(np.count_nonzero(x)) for x in program.inputs.values())
    return program.length(), elements + len(program.inputs), simple + len(program.text())


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        for result in program.results:
            yield dataclasses.replace(program, results=(result,))
    made = [target for line in program.lines for target in line.targets]
    for name in reversed(made[:-1]):
        yield dataclasses.replace(program, results=(name,))
    yield from _with_values(program)
    yield from (dataclasses.replace(program, lines=lines) for lines in _fewer(program.lines))
    for name, x in program.inputs.items():
        for simpler in _simpler(x):
            yield dataclasses.replace(program, inputs={**program.inputs, name: simpler})


def _with_values(program: Program) -> Iterator[Program]:
    """Programs in which the result of a line is an input, so that earlier lines may be removed."""
    for number, line in reversed(list(enumerate(program.lines))):
        if len(line.targets) != 1 or line.has_effect():
            continue
        head = Program(program.inputs, program.lines[: number + 1], line.targets).pruned()
        try:
            value = np.asarray(head.function(JAX_NAMES)(*head.arguments()))
        except Exception:  # the line is invalid by itself
            continue
        lines = program.lines[:number] + program.lines[number + 1 :]
        yield Program({**program.inputs, line.targets[0]: value}, lines, program.results)


def _fewer(lines: Sequence[Line]) -> Iterator[tuple[Line, ...]]:
    """The lines without one, with another value in its place, or with a smaller body of one."""
    for number, line in enumerate(lines):
        before, after = tuple(lines[:number]), tuple(lines[number + 1 :])
        if not line.targets:
            yield (*before, *after)
        elif len(line.targets) == 1:
            for other in sorted(line.uses() - {"pnp", "lax", "nn"}):
                yield (*before, *(_renamed(each, line.targets[0], other) for each in after))
        for place, body in enumerate(line.bodies):
            for smaller in _fewer(body.lines):
                changed = dataclasses.replace(body, lines=smaller)
                bodies = (*line.bodies[:place], changed, *line.bodies[place + 1 :])
                yield (*before, dataclasses.replace(line, bodies=bodies), *after)


def _renamed(line: Line, name: str, other: str) -> Line:
    bodies = tuple(
        Body(
            body.name,
            body.parameters,
            tuple(_renamed(each, name, other) for each in body.lines),
            tuple(substitute(each, name, other) for each in body.results),
            substitute(body.form, name, other),
        )
        for body in line.bodies
    )
    return Line(line.targets, substitute(line.expression, name, other), bodies)


def _simpler(x: np.ndarray) -> Iterator[np.ndarray]:
    if x.size == 0:
        return
    yield np.zeros_like(x)
    yield np.ones_like(x)
    for axis, size in enumerate(x.shape):
        if size > 1:
            yield np.take(x, range(size // 2), axis)
            yield np.take(x, range(size - 1), axis)
    if x.ndim:
        yield x[0]
    if x.dtype.kind in "fc":
        yield np.round(x)
