"""What a compiled function needs of memory, and where its temporaries lie: `Compiled.memory_analysis()` gives it.

Under `stages`, which fills it in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class PlannedBuffer(NamedTuple):
    """One temporary of a compiled function: where it lies in the arena, and when it is used.

    `first` and `last` number the operations of the function in the order in which they run; `type` is the buffer's, as
    a memref of MLIR; `place` is "file:line" of the user's line that it was made for, empty where that is not known.
    """

    offset: int
    bytes: int
    first: int
    last: int
    type: str
    place: str


@dataclass(frozen=True)
class MemoryAnalysis:
    """Sizes in bytes, under JAX's names; printed, it shows the plan of the temporaries too.

    Temporaries lie in one arena: those that are not used at the same time share its bytes. `alias_size_in_bytes` is
    what the results take that are computed in the memory of donated arguments.
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
