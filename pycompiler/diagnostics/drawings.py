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
      min_width, max_width: of the drawing, in characters, as far as the names of the devices allow.
      use_color, scale, color_map: accepted for compatibility; the drawing is plain text with one line for each part.

    Raises ValueError for another number of dimensions.

    >>> import pycompiler as pc
    >>> pc.debug.visualize_sharding((4, 2), pc.NamedSharding(pc.make_mesh((1,), ("x",)), pc.P("x")))
    ┌───────┐
    │ CPU 0 │
    └───────┘
    """
    if not isinstance(sharding, Sharding):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"visualize_sharding: takes a sharding, got {sharding!r} of type {type(sharding).__name__}")
    print(drawn(as_sizes("visualize_sharding", "shape", shape), sharding, min_width, max_width))


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


def drawn(shape: tuple[int, ...], sharding: Sharding, min_width: int = 9, max_width: int = 80) -> str:
    """The lines of `visualize_sharding`."""
    if len(shape) not in (1, 2):
        raise ValueError(
            f"visualize_sharding: draws arrays of one or two dimensions, the shape is {shape}; index the others away"
        )
    holders: dict[tuple[tuple[int, int], ...], list[Any]] = {}
    for device, index in sharding.devices_indices_map(shape).items():
        place = tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)])
        holders.setdefault(place if len(place) == 2 else ((0, 1), *place), []).append(device)
    starts = [sorted({place[dim][0] for place in holders}) for dim in (0, 1)]
    labels = {(place[0][0], place[1][0]): _label(devices) for place, devices in holders.items()}
    columns = len(starts[1])
    width = max(max(map(len, labels.values())) + 2, (min_width - 1) // columns - 1)
    longest = max((max_width - 1) // columns - 1, 3)
    width = min(width, longest)
    rule = "─" * width
    rows = ["│" + "│".join(_fitted(labels[row, column], width) for column in starts[1]) + "│" for row in starts[0]]
    inner = "├" + "┼".join([rule] * columns) + "┤"
    top, bottom = ("┌" + "┬".join([rule] * columns) + "┐", "└" + "┴".join([rule] * columns) + "┘")
    return "\n".join([top, f"\n{inner}\n".join(rows), bottom])


def _label(devices: Sequence[Any]) -> str:
    numbers = ",".join(str(device.id) for device in sorted(devices, key=lambda device: device.id))
    return f"{devices[0].platform.upper()} {numbers}"


def _fitted(text: str, width: int) -> str:
    return text.center(width) if len(text) <= width else text[: width - 1] + "…"
