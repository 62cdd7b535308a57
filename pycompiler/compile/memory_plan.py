"""The memory of a compiled function and the plan of its temporaries, as in `Compiled.memory_analysis()`.

`stages` fills in the objects of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class PlannedBuffer(NamedTuple):
    """One temporary of a compiled function: its place in the arena, and its first and last use.

    `first` and `last` number the operations of the function in execution order. `type` is the buffer's type, a memref
    of MLIR. `place` is "file:line", the user's line that needs the buffer, or empty if the line is unknown.
    """

    offset: int
    bytes: int
    first: int
    last: int
    type: str
    place: str


@dataclass(frozen=True)
class MemoryAnalysis:
    """Sizes in bytes, under JAX's names. The printed form also shows the plan of the temporaries.

    Temporaries lie in one arena. Those that are not live at the same time share bytes. `alias_size_in_bytes` is the
    size of the results that are computed in the memory of donated arguments.
    """

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int
    generated_code_size_in_bytes: int
    _plan: Callable[[], list[tuple[int, int, int, int, str, str]]] = field(repr=False, compare=False)

    def plan(self) -> list[PlannedBuffer]:
        """The temporaries by their offsets in the arena. The function is lowered again for it."""
        return [PlannedBuffer(*row) for row in self._plan()]

    def __str__(self) -> str:
        sizes = {
            "arguments": self.argument_size_in_bytes,
            "results": self.output_size_in_bytes,
            "of these in donated arguments": self.alias_size_in_bytes,
            "temporaries": self.temp_size_in_bytes,
            "code": self.generated_code_size_in_bytes,
        }
        lines = [f"{name:<30}{size:>15,} bytes" for name, size in sizes.items()]
        plan = self.plan()
        if plan:
            lines += ["", f"{'offset':>12} {'bytes':>12}  {'used':<13} temporary"]
        for buffer in plan:
            used = f"{buffer.first}-{buffer.last}"
            made = f"{buffer.type.removeprefix('memref<').removesuffix('>')}  {buffer.place}".rstrip()
            lines.append(f"{buffer.offset:>12,} {buffer.bytes:>12,}  {used:<13} {made}")
        return "\n".join(lines)
