"""Programs of several operations for `fuzz`, with sizes of a call near the limits. Sizes that fit must run, others must
be refused. A program is drawn together with the sizes of one run, so that the expected outcome is known.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Messages for programs that cannot be compiled for any sizes.
NOT_COMPILED = re.compile(r"follow from|can't be compiled|bytes, and this machine|more bytes")
# A size that is far out of range.
FAR = 70_000
MOST_ELEMENTS = 1 << 22


def type_of(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{'?x' * len(shape)}{element}>"


@dataclass
class Array:
    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return type_of(self.shape)


@dataclass
class SizesProgram:
    """A drawn program. `fits` is None if both outcomes are right, as for an empty slice that starts beyond the end."""

    rng: random.Random
    sizes: list[int] = field(default_factory=list[int])
    lines: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])
    arrays: list[Array] = field(default_factory=list[Array])
    indices: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    fits: bool | None = True
    count: int = 0

    @classmethod
    def draw(cls, rng: random.Random) -> SizesProgram:
        """A random program of a few operations. Its arrays are small enough for a test."""
        while True:
            program = cls(rng)
            program.begin()
            for _ in range(rng.choice([1, 2, 2, 3, 4, 6])):
                program.operate()
                if program.fits is False:
                    break
            if all(math.prod(max(size, 1) for size in array.shape) <= MOST_ELEMENTS for array in program.arrays):
                return program

    @property
    def text(self) -> str:
        results = [f"%sum{number}" for number in range(len(self.arrays))]
        sums = [
            f"{result} = array.reduce_sum {a.name} axes = {list(range(len(a.shape)))} : ({a.type}) -> tensor<f32>"
            for result, a in zip(results, self.arrays, strict=True)
        ]
        types = ", ".join(["tensor<f32>"] * len(results))
        body = "\n".join(f"  {line}" for line in [*self.lines, *sums, f"return {', '.join(results)} : {types}"])
        return f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{\n{body}\n}}\n"

    @property
    def options(self) -> list[str]:
        """The options of array-run, with the sizes and an input for each argument."""
        return [f"--sizes={','.join(map(str, self.sizes))}", *["--input=fill:1"] * len(self.arguments), "--print=none"]

    def objection(self, status: int, told: str) -> str:
        """The fault in the outcome of a run; empty if there is none."""
        if self.fits and status != 0 and not NOT_COMPILED.search(told):
            return "refuses sizes that fit"
        return "accepts sizes that don't fit" if self.fits is False and status == 0 else ""

    def begin(self) -> None:
        base = self.rng.choice([0, 1, 2, 3, 5, 8])
        for rank in (1, 1, 2):
            shape: list[int] = []
            for _ in range(rank):
                edge = self.rng.choice([base] * 6 + [base + 1, max(base - 1, 0), 0, 1, FAR if rank == 1 else base])
                self.indices.append((f"%n{len(self.sizes)}", edge))
                self.lines.append(f"%n{len(self.sizes)} = array.symbol {len(self.sizes)} : index")
                self.sizes.append(edge)
                shape.append(edge)
            self.arguments.append(f"%arg{len(self.arguments)}: {type_of(shape)}")
            self.arrays.append(Array(f"%arg{len(self.arguments) - 1}", tuple(shape)))
        self.arguments.append("%start: tensor<i32>")
        self.lines.append("%one = array.constant dense<1.0> : tensor<f32>")
        for number in range(4):
            self.lines.append(f"%c{number} = arith.constant {number} : index")
            self.indices.append((f"%c{number}", number))
        for _ in range(3):
            (a, x), (b, y) = self.rng.choices(self.indices, k=2)
            name, (operation, value) = (
                self.name(),
                self.rng.choice([("addi", x + y), ("subi", x - y), ("muli", x * y)]),
            )
            self.lines.append(f"{name} = arith.{operation} {a}, {b} : index")
            self.indices.append((name, value))

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, rank: int | None = None) -> Array:
        return self.rng.choice([array for array in self.arrays if rank in (None, len(array.shape))])

    def pick_size(self, near: int) -> tuple[str, int]:
        """In most cases a size near another one, if there is one."""
        close = [index for index in self.indices if abs(index[1] - near) <= 1]
        return self.rng.choice(close if close and self.rng.random() < 0.7 else self.indices)

    def add(self, operation: str, shape: Sequence[int], fits: bool | None = True) -> None:
        """Append an operation. The shape is that of the result, if it fits."""
        array = Array(self.name(), tuple(max(size, 0) for size in shape))
        self.lines.append(f"{array.name} = {operation} -> {array.type}")
        self.arrays.append(array)
        self.note(False if min(shape, default=0) < 0 else fits)

    def note(self, fits: bool | None) -> None:
        if self.fits is not False and fits is not True:
            self.fits = fits

    def operate(self) -> None:
        drawn: list[Callable[[], None]] = [self.binary, self.binary, self.unary, self.join, self.slice, self.take]
        drawn += [self.update, self.spread, self.iota, self.reshape, self.pad, self.product, self.choose, self.extract]
        self.rng.choice(drawn)()

    def binary(self) -> None:
        a = self.pick()
        b = self.pick(len(a.shape))
        name = self.rng.choice(["add", "mul", "max", "atan2", "igamma", "nextafter"])
        self.add(f"array.{name} {a.name}, {b.name} : ({a.type}, {b.type})", a.shape, a.shape == b.shape)

    def unary(self) -> None:
        a = self.pick()
        axis = self.rng.randrange(len(a.shape))
        forms = ["exp {}", f"cumsum {{}} axis = {axis} reverse = false", f"reverse {{}} dimensions = [{axis}]"]
        forms.append(f"sort {{}} dimension = {axis} num_keys = 1 is_stable = true")
        self.add(f"array.{self.rng.choice(forms).format(a.name)} : ({a.type})", a.shape)

    def join(self) -> None:
        a = self.pick()
        b = self.pick(len(a.shape))
        axis = self.rng.randrange(len(a.shape))
        shape = [x + y if dim == axis else x for dim, (x, y) in enumerate(zip(a.shape, b.shape, strict=True))]
        fits = all(x == y for dim, (x, y) in enumerate(zip(a.shape, b.shape, strict=True)) if dim != axis)
        self.add(f"array.concatenate {a.name}, {b.name} dimension = {axis} : ({a.type}, {b.type})", shape, fits)

    def slice(self) -> None:
        a = self.pick(1)
        start, (limit, end) = self.rng.choice([0, 1, 2]), self.pick_size(a.shape[0])
        stride = self.rng.choice([1, 1, 2])
        count = math.ceil((end - start) / stride)
        fits = None if count <= 0 else end <= a.shape[0]
        text = f"start_indices = [{start}] limit_indices = [?] strides = [{stride}] sizes({limit})"
        self.add(f"array.slice {a.name} {text} : ({a.type})", (max(count, 0),), False if count < -1 else fits)

    def take(self) -> None:
        a = self.pick(1)
        name, count = self.pick_size(a.shape[0])
        text = f"at(%start) slice_sizes = [?] sizes({name})"
        self.add(
            f"array.dynamic_slice {a.name} {text} : ({a.type}, tensor<i32>, index)", (count,), 0 <= count <= a.shape[0]
        )

    def update(self) -> None:
        a, b = self.pick(1), self.pick(1)
        text = f"{a.name}, {b.name} at(%start) : ({a.type}, {b.type}, tensor<i32>)"
        self.add(f"array.dynamic_update_slice {text}", a.shape, b.shape <= a.shape)

    def spread(self) -> None:
        a = self.pick(1)
        (rows, m), (columns, n) = self.pick_size(1), self.pick_size(a.shape[0])
        text = f"broadcast_dimensions = [1] output_dims({rows}, {columns})"
        self.add(f"array.broadcast_in_dim {a.name} {text} : ({a.type})", (m, n), n == a.shape[0])

    def iota(self) -> None:
        name, size = self.pick_size(-1)
        self.add(f"array.broadcast_in_dim %one broadcast_dimensions = [] output_dims({name}) : (tensor<f32>)", (size,))

    def reshape(self) -> None:
        a = self.pick()
        count = math.prod(a.shape)
        (first, m), (second, n) = self.pick_size(count), self.pick_size(1)
        if self.rng.random() < 0.5:
            self.add(f"array.reshape {a.name} output_dims({first}) : ({a.type})", (m,), m == count)
        else:
            fits = m >= 0 and n >= 0 and m * n == count
            self.add(f"array.reshape {a.name} output_dims({first}, {second}) : ({a.type})", (m, n), fits)

    def pad(self) -> None:
        a = self.pick(1)
        (low, before), after = self.pick_size(-a.shape[0]), self.rng.choice([0, 1, -1])
        text = f"%one low = [?] high = [{after}] interior = [0] sizes({low})"
        fits = True if before >= -a.shape[0] and after >= -a.shape[0] else None
        self.add(f"array.pad {a.name}, {text} : ({a.type}, tensor<f32>)", (before + a.shape[0] + after,), fits)

    def product(self) -> None:
        a, b = self.pick(2), self.pick()
        text = f"array.dot_general {a.name}, {b.name} contracting = [1] x [0] : ({a.type}, {b.type})"
        self.add(text, (a.shape[0], *b.shape[1:]), a.shape[1] == b.shape[0])

    def choose(self) -> None:
        """Append a branch. A branch that is not taken may have other sizes."""
        a = self.pick()
        b = self.pick(len(a.shape))
        inner = self.name()
        branches = [
            f"{{\n    {inner}_{i} = array.exp {x.name} : {x.type}\n    array.yield {inner}_{i} : {x.type}\n  }}"
            for i, x in enumerate((a, b))
        ]
        result = Array(self.name(), a.shape)
        self.lines.append(f"{result.name} = array.cond %start : (tensor<i32>) -> {a.type} {', '.join(branches)}")
        self.arrays.append(result)
        self.note(a.shape == b.shape)

    def extract(self) -> None:
        a = self.pick(1)
        (start, offset), (name, count) = self.pick_size(0), self.pick_size(a.shape[0])
        result = Array(self.name(), (max(count, 0),))
        self.lines.append(f"{result.name} = tensor.extract_slice {a.name}[{start}] [{name}] [1] : {a.type} to {a.type}")
        self.arrays.append(result)
        fits = None if count == 0 else count > 0 and 0 <= offset <= a.shape[0] - count
        self.note(fits)
