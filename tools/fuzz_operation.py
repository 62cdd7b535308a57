"""A program of one operation on arrays with sizes of a call. `fuzz_operations` has the rules of operations."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Messages for programs that cannot be compiled for any sizes.
NOT_COMPILED = re.compile(
    r"follow from|can't be compiled|bytes, and this machine|more bytes|is not known where it must be checked"
)
# A size that is far out of range.
FAR = 70_000
MOST_ELEMENTS = 1 << 22

# The sizes of a type.
SIZES = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")

Shape = tuple[int, ...]
Results = Sequence[tuple[str, Shape]] | None


def spelled(sizes: Sequence[int | str], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def element_of(type_: str) -> str:
    return re.sub(r"^tensor<(?:(?:\d+|\?)x)*", "", type_)[:-1]


@dataclass
class OperationProgram:
    """A function of one operation. `fits` is None if data decides, or if both outcomes are right."""

    rng: random.Random
    name: str = ""
    operation: str = ""
    fits: bool | None = True
    sizes: list[int] = field(default_factory=list[int])
    lines: list[str] = field(default_factory=list[str])
    arguments: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    inputs: list[str] = field(default_factory=list[str])
    types: list[str] = field(default_factory=list[str])
    numbers: list[int] = field(default_factory=list[int])
    # The results. They may be missing if the sizes don't fit.
    expected: list[tuple[str, Shape]] = field(default_factory=list[tuple[str, Shape]])
    elements: int = 0
    is_plain: bool = False
    # The fraction of known sizes. Code is generated for sums and products of the others.
    known: float = 0.15

    @classmethod
    def draw(cls, rng: random.Random, name: str | None = None) -> OperationProgram:
        """A random program of an operation. Its arrays are small enough for a test."""
        while True:
            program = cls(rng, name or rng.choice(sorted(RULES)))
            # About half of the programs fit.
            program.is_plain, program.known = rng.random() < 0.4, rng.choice([0.15, 0.6, 0.9])
            program.settle(RULES[program.name](program))
            if program.elements <= MOST_ELEMENTS:
                return program

    @property
    def text(self) -> str:
        given = ", ".join(f"%arg{number}: {type_}{dims}" for number, (type_, dims) in enumerate(self.arguments))
        body = "\n".join(f"  {line}" for line in self.lines)
        results = ", ".join(self.types)
        count = f":{len(self.types)}" if len(self.types) > 1 else ""
        attached = self.operation.replace("RESULTS", f"({results})" if len(self.types) > 1 else results)
        # The results are sums, because the sizes of a function's results must follow from those of its arguments.
        sums: list[str] = []
        scalars = [f"tensor<{element_of(type_)}>" for type_ in self.types]
        for number, (type_, scalar) in enumerate(zip(self.types, scalars, strict=True)):
            name = f"%r#{number}" if len(self.types) > 1 else "%r"
            kind = "or" if scalar == "tensor<i1>" else "sum"
            axes = list(range(len(SIZES.findall(type_))))
            sums.append(f"  %s{number} = array.reduce_{kind} {name} axes = {axes} : ({type_}) -> {scalar}\n")
        names = ", ".join(f"%s{number}" for number in range(len(self.types)))
        return (
            f"func.func @main({given}) -> ({', '.join(scalars)}) {{\n{body}\n  %r{count} = array.{attached}\n"
            f"{''.join(sums)}  return {names} : {', '.join(scalars)}\n}}\n"
        )

    @property
    def options(self) -> list[str]:
        """The options of array-run, with the sizes and an input for each argument."""
        sizes = [f"--sizes={','.join(map(str, self.sizes))}"] if self.sizes else []
        return [*sizes, *(f"--input={given}" for given in self.inputs), "--print=none"]

    def objection(self, status: int, told: str) -> str:
        """The fault in the outcome of a run; empty if there is none."""
        if self.fits and status != 0 and not NOT_COMPILED.search(told):
            return f"refuses sizes that fit: {self.name}"
        if self.fits is False and status == 0:
            return f"accepts sizes that don't fit: {self.name}"
        names = ["add"] if self.name == "scan" else []  # the op in its body
        names += [self.name.partition("/")[0], "--sizes"]
        if status == 1 and told and not any(name in told for name in names) and not NOT_COMPILED.search(told):
            return f"an error that does not name the operation: {self.name}"
        return ""

    # Methods for rules.

    def near(self, size: int) -> int:
        """The size itself in most cases, else a size near it."""
        if self.is_plain or self.rng.random() < 0.75:
            return size
        return max(0, self.rng.choice([size + 1, size - 1, 0, 1, 2 * size, FAR]))

    def base(self, least: int = 0) -> int:
        return max(least, self.rng.choice([0, 1, 2, 3, 4, 5]))

    def array(self, shape: Sequence[int], element: str = "f32", given: str = "fill:1") -> str:
        """The name of a new argument, whose sizes may be partly known."""
        sizes: list[int | str] = []
        for size in shape:
            if self.rng.random() < self.known:
                sizes.append(size)
            else:
                sizes.append("?")
                self.sizes.append(size)
        self.elements = max(self.elements, math.prod(max(size, 1) for size in shape))
        self.arguments.append((spelled(sizes, element), ""))
        self.inputs.append(given)
        return f"%arg{len(self.arguments) - 1}"

    def type(self, argument: str) -> str:
        return self.arguments[int(argument.removeprefix("%arg"))][0]

    def call(self, arguments: Sequence[str]) -> str:
        """The operand types of an operation."""
        return f"({', '.join(self.type(one) if one.startswith('%arg') else 'index' for one in arguments)}) -> RESULTS"

    def number(self, value: int, indices: list[str]) -> str:
        """One number of an operation, which may be `?`."""
        if self.rng.random() < 0.4:
            return str(value)
        indices.append(f"%n{len(self.numbers)}")
        self.numbers.append(value)
        return "?"

    def settle(self, results: Results) -> None:
        """Complete the program from the output of the rule. Without results, the sizes don't fit."""
        first = len(self.sizes)
        for place, value in enumerate(self.numbers):
            self.sizes.append(abs(value))
            symbol = f"array.symbol {first + place} : index"
            if value >= 0:
                self.lines.append(f"%n{place} = {symbol}")
            else:
                self.lines += [f"%m{place} = {symbol}", f"%z{place} = arith.constant 0 : index"]
                self.lines.append(f"%n{place} = arith.subi %z{place}, %m{place} : index")
        if first != len(self.sizes):
            # The sizes of the arguments are the first symbols, in order. The numbers are the other symbols.
            names = ", ".join(f"s{number}" for number in range(len(self.sizes)))
            position = 0
            for number, (type_, _) in enumerate(self.arguments):
                dims: list[str] = []
                for size in SIZES.findall(type_):
                    dims.append(f"s{position}" if size == "?" else size)
                    position += size == "?"
                if "?" in type_:
                    spoken = f" {{array.dims = affine_map<()[{names}] -> ({', '.join(dims)})>}}"
                    self.arguments[number] = (type_, spoken)
        if results is None:
            self.fits = False
            results = self.expected
        for element, shape in [] if self.types else results:
            sizes: list[int | str] = ["?"] * len(shape)
            self.elements = max(self.elements, math.prod(max(size, 1) for size in shape))
            if shape and self.fits and self.rng.random() < 0.15:
                dim = self.rng.randrange(len(shape))
                sizes[dim] = max(0, shape[dim] + (0 if self.is_plain else self.rng.choice([0, 0, 1, -1])))
                if sizes[dim] != shape[dim]:
                    self.fits = False
            self.types.append(spelled(sizes, element))


Rule = Callable[[OperationProgram], Results]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Callable[[OperationProgram, str], Results]], object]:
    def added(function: Callable[[OperationProgram, str], Results]) -> object:
        for name in names:
            RULES[name] = lambda program, name=name: function(program, name)
        return function

    return added


def dilated(size: int, by: int) -> int:
    return max(0, (size - 1) * by + 1)


def windows(padded: int, window: int, stride: int) -> int:
    return 0 if padded < window else (padded - window) // stride + 1
