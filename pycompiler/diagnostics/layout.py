"""The positions of the boxes in a drawing of a graph: layers from top to bottom, few crossings, straight edges.

Sugiyama's method in its simplest form: layers by the longest path, points for edges that pass a layer, barycentres for
the order in each layer, then positions near the neighbours. `pictures` draws the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

# Pixels between neighbouring boxes, and between layers.
_BESIDE, _BETWEEN = 18.0, 34.0
_SWEEPS = 6


@dataclass(eq=False)
class Box:
    """One box, or, if it has no size, a point that an edge passes through."""

    width: float = 0.0
    height: float = 0.0
    layer: int = 0
    x: float = 0.0  # of the box's middle
    y: float = 0.0  # of the box's top
    before: list[Box] = field(default_factory=list["Box"])
    after: list[Box] = field(default_factory=list["Box"])


@dataclass(frozen=True)
class Layout:
    """The layout: the total size, and for each edge the boxes that it passes, including its ends."""

    width: float
    height: float
    paths: list[list[Box]]


def place(boxes: Sequence[Box], edges: Sequence[tuple[Box, Box]]) -> Layout:
    """Set the position of every box. Edges go from earlier boxes of the sequence to later ones."""
    incoming: dict[int, list[Box]] = {id(box): [] for box in boxes}
    outgoing: dict[int, list[Box]] = {id(box): [] for box in boxes}
    for start, end in edges:
        incoming[id(end)].append(start)
        outgoing[id(start)].append(end)
    for box in boxes:
        box.layer = max([start.layer + 1 for start in incoming[id(box)]], default=0)
    for box in reversed(boxes):
        # A box without predecessors goes to the nearest layer above its successors.
        if not incoming[id(box)] and outgoing[id(box)]:
            box.layer = min(end.layer for end in outgoing[id(box)]) - 1
    paths = [_path(start, end) for start, end in edges]
    layers: list[list[Box]] = [[] for _ in range(max([box.layer for box in boxes], default=0) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    for path in paths:
        for point in path[1:-1]:
            layers[point.layer].append(point)
    _order(layers)
    _spread(layers)
    left = min([box.x - box.width / 2 for layer in layers for box in layer], default=0.0)
    right = max([box.x + box.width / 2 for layer in layers for box in layer], default=0.0)
    y = 0.0
    for layer in layers:
        height = max([box.height for box in layer], default=0.0)
        for box in layer:
            box.x -= left
            if not box.width:
                # An edge passes through the whole height of the layer.
                box.height = height
            box.y = y + (height - box.height) / 2
        y += height + _BETWEEN
    return Layout(right - left, y - _BETWEEN, paths)


def _path(start: Box, end: Box) -> list[Box]:
    """The boxes that an edge passes, with a point in each layer between."""
    path = [start, *(Box(layer=layer) for layer in range(start.layer + 1, end.layer)), end]
    for box, follower in itertools.pairwise(path):
        box.after.append(follower)
        follower.before.append(box)
    return path


def _order(layers: list[list[Box]]) -> None:
    """Sort each layer by the middle of its neighbours above, then below, several times."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            position = {id(box): index for other in layers for index, box in enumerate(other)}
            middles = {id(box): _middle(box, box.before if down else box.after, position) for box in layer}
            layer.sort(key=lambda box: middles[id(box)])


def _middle(box: Box, neighbours: list[Box], position: dict[int, int]) -> float:
    places = [position[id(other)] for other in neighbours] or [position[id(box)]]
    return sum(places) / len(places)


def _spread(layers: list[list[Box]]) -> None:
    """Set positions in each layer, each as near to the mean of its neighbours as earlier boxes allow."""
    for layer in layers:
        _separate(layer, [0.0] * len(layer))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            _separate(layer, [_mean(box, box.before if down else box.after) for box in layer])


def _mean(box: Box, neighbours: list[Box]) -> float:
    return sum(other.x for other in neighbours) / len(neighbours) if neighbours else box.x


def _separate(layer: list[Box], wanted: list[float]) -> None:
    """Set the wanted positions. Boxes that would overlap are moved apart, without a shift of the whole layer to one
    side."""
    for index, (box, x) in enumerate(zip(layer, wanted, strict=True)):
        if index:
            last = layer[index - 1]
            x = max(x, last.x + last.width / 2 + _BESIDE + box.width / 2)
        box.x = x
    shift = sum(x - box.x for box, x in zip(layer, wanted, strict=True)) / max(len(layer), 1)
    for box in layer:
        box.x += shift
