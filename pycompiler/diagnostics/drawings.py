"""Drawings of shardings as text: the part of an array on each device. `pycompiler.debug` has the names.

Imports `core.mesh.sharding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.mesh.sharding import Sharding
from pycompiler.core.tracing.arguments import as_sizes
from pycompiler.core.tracing.trace import Tracer


def visualize_sharding(
    shape: Sequence[int],
    sharding: Sharding,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Print a drawing of the division of arrays of one or two dimensions. Each part shows its devices.

    Args:
      scale: a factor of the size.
      min_width, max_width: of each part with its borders, in characters; the drawing is not wider than max_width.
      use_color, color_map: accepted for compatibility; the drawing is plain text.

    Raises ValueError for another number of dimensions.

    >>> import pycompiler as pc
    >>> pc.debug.visualize_sharding((4,), pc.NamedSharding(pc.make_mesh((1,), ("x",)), pc.P("x")))
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    if not isinstance(sharding, Sharding):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"visualize_sharding: takes a sharding, got {sharding!r} of type {type(sharding).__name__}")
    print(drawn(as_sizes("visualize_sharding", "shape", shape), sharding, min_width, max_width, scale))


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print a drawing of the division of an array of one or two dimensions; see `visualize_sharding`.

    Raises TypeError for a traced array: its devices are known only when it is computed.
    """
    if isinstance(arr, Tracer):
        raise TypeError(
            "visualize_array_sharding: a traced array has no devices; call it on the result of the function"
        )
    if not isinstance(arr, Array):
        raise TypeError(f"visualize_array_sharding: takes an array, got {arr!r} of type {type(arr).__name__}")
    visualize_sharding(arr.shape, arr.sharding, **kwargs)


def inspect_array_sharding(value: Any, *, callback: Callable[[Sharding], None]) -> None:
    """Call `callback` with the sharding of an array.

    Raises TypeError for a traced array: its devices are known only when it is computed.
    """
    if isinstance(value, Tracer):
        raise TypeError("inspect_array_sharding: a traced array has no devices; call it on the result of the function")
    if not isinstance(value, Array):
        raise TypeError(f"inspect_array_sharding: takes an array, got {value!r} of type {type(value).__name__}")
    callback(value.sharding)


def drawn(
    shape: tuple[int, ...], sharding: Sharding, min_width: int = 9, max_width: int = 80, scale: float = 1.0
) -> str:
    """The lines of `visualize_sharding`. The sizes are JAX's: a whole array is 10 lines high, or 1 if it has one
    dimension, and wider in proportion to its sizes."""
    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_sharding: draws arrays of one or two dimensions, the shape is {shape}; index the others away"
        )
    holders: dict[tuple[tuple[int, int], ...], list[Any]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        place = tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)])
        holders.setdefault(place if len(place) == 2 else ((0, 1), *place), []).append(device)
    whole = shape if len(shape) == 2 else (1, *shape)
    lines = int(10 * scale)
    across = int(lines * (shape[1] if len(shape) == 2 else 1) / max(shape[0], 1)) * 2.5
    starts = [sorted({place[dim][0] for place in holders}) for dim in (0, 1)]
    longest = max((max_width - 1) // len(starts[1]) - 1, 3)
    cells: dict[tuple[int, int], tuple[str, int]] = {}
    for place, devices in holders.items():
        (top, bottom), (left, right) = place
        width = int((right - left) / max(whole[1], 1) * across)
        height = int((bottom - top) / max(whole[0], 1) * lines) if len(shape) == 2 else 1
        cells[top, left] = (
            _cell(_label(devices), min(max(width, min_width), max_width) - 2, longest),
            max(height - 1, 1),
        )
    widths = [max(len(cells[row, column][0]) for row in starts[0]) for column in starts[1]]
    drawn: list[str] = []
    for row in starts[0]:
        height = max(cells[row, column][1] for column in starts[1])
        texts = [cells[row, column][0].center(width) for column, width in zip(starts[1], widths, strict=True)]
        blank = "│".join(" " * width for width in widths)
        middle = (height - 1) // 2
        drawn.append("\n".join(f"│{'│'.join(texts) if line == middle else blank}│" for line in range(height)))
    rules = ["─" * width for width in widths]
    top, inner, bottom = (f"{first}{mark.join(rules)}{last}" for first, mark, last in ("┌┬┐", "├┼┤", "└┴┘"))
    return "\n".join([top, f"\n{inner}\n".join(drawn), bottom])


def _label(devices: Sequence[Any]) -> str:
    numbers = ",".join(str(device.id) for device in sorted(devices, key=lambda device: device.id))
    return f"{devices[0].platform.upper()} {numbers}"


def _cell(text: str, width: int, longest: int) -> str:
    """The text in the middle of a width that is at least its own. An odd space is on the right."""
    if len(text) > longest:
        return f"{text[: longest - 1]}…"
    left = max(min(width, longest) - len(text), 0) // 2
    return " " * left + text.ljust(max(min(width, longest), len(text)) - left)
