"""`visualize`: a picture of a function's graph, as SVG, which notebooks show and `save` writes. Imports `layout`.

Boxes are operations, with the shapes and dtypes of their results. The graphs of loops, branches and nested calls lie in
the box of their operation. A pointer over a box shows its parameters and the user's line.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal
from pycompiler.core.types.aval import short
from pycompiler.diagnostics.layout import Box, place
from pycompiler.transforms import make_jaxpr

# Numbers of operations: above the first, inner graphs are not drawn; above the second, a picture is not readable.
_MOST_OPEN, _MOST = 300, 1500

# Pixels: the width of a character, the height of a line, the margin around text and around inner graphs.
_CHARACTER, _LINE, _AROUND = 7.0, 16.0, 8.0
_LONGEST = 40

_STYLE = """
text { font: 12px monospace; fill: #1a1a1a; text-anchor: middle; }
.type { fill: #666; }
.operation { fill: #eef3fb; stroke: #7a93bd; }
.input, .output { fill: #f1f7ea; stroke: #86a866; }
.constant { fill: #f6f1e7; stroke: #b59d6c; }
.edge { fill: none; stroke: #999; }
.arrow { fill: #999; }
"""


class Picture:
    """A drawing of a graph: `svg` is its text. Notebooks show it; `save("graph.svg")` writes it."""

    def __init__(self, name: str, svg: str, operations: int) -> None:
        self.name = name
        self.svg = svg
        self.operations = operations

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture into a file that browsers show. Raises ValueError for the extension of another format."""
        stem, suffix = os.path.splitext(os.path.basename(path))
        if suffix.lower() not in ("", ".svg"):
            raise ValueError(f"save: the picture is SVG, got {str(path)!r}; name it '{stem}.svg'")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture of {self.name}: {self.operations} operations; notebooks show it, save('graph.svg') writes it>"


def visualize(fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()) -> Callable[..., Picture]:
    """A function that draws the graph of `fun` for its arguments, as `make_jaxpr` prints it.

    `visualize` needs no other packages. Raises ValueError for a graph of more than 1500 operations, whose picture would
    not be readable.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.visualize(lambda x: pnp.sin(x) * 2)(3.0)
    <picture of <lambda>: 2 operations; notebooks show it, save('graph.svg') writes it>
    """
    trace = make_jaxpr(fun, static_argnums)
    name = getattr(fun, "__name__", type(fun).__name__)

    def visualize_fun(*args: Any, **kwargs: Any) -> Picture:
        return drawn(name, trace(*args, **kwargs))

    return visualize_fun


def drawn(name: str, closed: ClosedGraph) -> Picture:
    """The picture of a graph."""
    from html import escape  # few programs draw, and the module would slow the import

    count, here = _count(closed.graph), len(closed.graph.equations)
    if here > _MOST:
        raise ValueError(
            f"visualize: {name} has {here} operations, and a picture has at most {_MOST}; draw a function that it calls"
        )
    width, height, content = _graph(closed.graph, count <= _MOST_OPEN)
    size = f'width="{width + 20:.0f}" height="{height + 20:.0f}"'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><title>{escape(name)}</title><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="white"/><g transform="translate(10,10)">{content}</g></svg>'
    )
    return Picture(name, svg, count)


def _inner(equation: Equation) -> list[tuple[str, ClosedGraph]]:
    """The graphs among the parameters of an equation, by name."""
    found: list[tuple[str, ClosedGraph]] = []
    for name, value in equation.params.items():
        parts = value if isinstance(value, tuple) else (value,)
        graphs = [part for part in parts if isinstance(part, ClosedGraph)]
        found += [(f"{name}[{i}]" if len(graphs) > 1 else name, graph) for i, graph in enumerate(graphs)]
    return found


def _count(graph: Graph) -> int:
    return sum(1 + sum(_count(inner.graph) for _, inner in _inner(equation)) for equation in graph.equations)


class _Shape(Box):
    """A box with its contents."""

    def __init__(self, kind: str, lines: Sequence[str], about: str = "", inner: Sequence[tuple[str, Any]] = ()) -> None:
        self.kind = kind
        self.lines = [line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…" for line in lines]
        self.about = about
        self.inner = inner
        text = max(len(line) for line in self.lines) * _CHARACTER
        graphs = sum(size[0] + _AROUND for _, size in inner)
        deepest = max([size[1] + _LINE + _AROUND for _, size in inner], default=0.0)
        super().__init__(max(text, graphs) + 2 * _AROUND, len(self.lines) * _LINE + _AROUND + deepest)

    def svg(self) -> str:
        from html import escape

        left = self.x - self.width / 2
        round_ = 4 if self.kind == "operation" else 12
        parts = [
            f'<g class="box"><title>{escape(self.about)}</title><rect class="{self.kind}" x="{left:.1f}" '
            f'y="{self.y:.1f}" width="{self.width:.1f}" height="{self.height:.1f}" rx="{round_}"/>'
        ]
        y = self.y + _LINE
        for number, line in enumerate(self.lines):
            kind = ' class="type"' if number else ""
            parts.append(f'<text{kind} x="{self.x:.1f}" y="{y:.1f}">{escape(line)}</text>')
            y += _LINE
        x = left + _AROUND
        for name, (width, _, content) in self.inner:
            parts.append(f'<text class="type" x="{x + width / 2:.1f}" y="{y:.1f}">{escape(name)}</text>')
            parts.append(f'<g transform="translate({x:.1f},{y + _AROUND:.1f})">{content}</g>')
            x += width + _AROUND
        return "".join([*parts, "</g>"])


def _graph(graph: Graph, is_open: bool) -> tuple[float, float, str]:
    """The size of a graph, and its drawing."""
    owners: dict[Atom, _Shape] = {}
    shapes: list[_Shape] = []
    edges: list[tuple[Box, Box]] = []

    def add(shape: _Shape, inputs: Sequence[Atom], outputs: Sequence[Atom]) -> None:
        shapes.append(shape)
        edges.extend((owners[atom], shape) for atom in dict.fromkeys(inputs) if atom in owners)
        owners.update(dict.fromkeys(outputs, shape))

    for kind, variables in (("constant", graph.constvars), ("input", graph.inputs)):
        for number, var in enumerate(variables):
            add(_Shape(kind, [f"{kind} {number}", short(var.aval)]), (), (var,))
    for equation in graph.equations:
        add(_operation(equation, is_open), equation.inputs, equation.outputs)
    for number, atom in enumerate(graph.outputs):
        value = [f"= {atom.value}"] if isinstance(atom, Literal) else []
        add(_Shape("output", [f"output {number}", *value, short(atom.aval)]), (atom,), ())
    layout = place(shapes, edges)
    drawn_edges = [_edge(path) for path in layout.paths]
    return layout.width, layout.height, "".join([*drawn_edges, *(shape.svg() for shape in shapes)])


def _operation(equation: Equation, is_open: bool) -> _Shape:
    graphs = _inner(equation)
    # A scalar literal of the graph has no box of its own.
    literals = [str(atom.value) for atom in equation.inputs if isinstance(atom, Literal)]
    name = " ".join([equation.primitive.name, *literals])
    types = ", ".join(short(var.aval) for var in equation.outputs)
    closed = [f"{sum(_count(inner.graph) for _, inner in graphs)} operations inside"] if graphs and not is_open else []
    names = {inner for inner, _ in graphs} | {inner.partition("[")[0] for inner, _ in graphs}
    params = [f"{key}={value}" for key, value in sorted(equation.params.items()) if key not in names]
    about = "\n".join([name, *params, *([str(equation.source)] if equation.source else [])])
    inside = [(title, _graph(inner.graph, is_open)) for title, inner in graphs] if is_open else []
    return _Shape("operation", [name, *closed, *([types] if types else [])], about, inside)


def _edge(path: Sequence[Box]) -> str:
    """A curve with an arrow, from the bottom of the first box through the points between to the top of the last."""
    points = [(box.x, y) for box in path for y in (box.y, box.y + box.height)][1:-1]
    curve = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        middle = (y0 + y1) / 2
        curve.append(f"C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}")
    x, y = points[-1]
    arrow = f"{x - 3.5:.1f},{y - 7:.1f} {x + 3.5:.1f},{y - 7:.1f} {x:.1f},{y:.1f}"
    return f'<path class="edge" d="{" ".join(curve)}"/><polygon class="arrow" points="{arrow}"/>'
