"""The display of an array in a notebook: a title, and its elements as a table. `array` attaches it.

The display reads the elements, as `repr` does, and so waits for them. A large array shows its corners, as in NumPy's
print.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

# Up to the first number, all rows or columns are shown, else the second number at each end. The third number limits the
# tables for an array of more than two dimensions.
_WHOLE, _ENDS, _MOST_TABLES = 12, 4, 3

_GAP = "…"


def html_of(title: str, values: np.ndarray[Any, Any]) -> str:
    """The elements under a title: a table, or several for more than two dimensions."""
    parts = [f"<div><code>{escape(title)}</code></div>"]
    if values.size == 0:
        parts.append("<div>no elements</div>")
    elif values.ndim == 0:
        parts.append(f"<div><code>{_cell(values[()])}</code></div>")
    elif values.ndim == 1:
        parts.append(_table(values[None]))
    else:
        shape = values.shape[:-2]
        count = int(np.prod(shape))
        for index in itertools.islice(np.ndindex(shape), _MOST_TABLES):
            if shape:
                parts.append(f"<div><code>[{', '.join(map(str, index))}]</code></div>")
            parts.append(_table(values[index]))
        if count > _MOST_TABLES:
            parts.append(f"<div>{count - _MOST_TABLES} more of {count} tables</div>")
    return "".join(["<div>", *parts, "</div>"])


def _table(rows: np.ndarray[Any, Any]) -> str:
    columns = list(_shown(rows.shape[1]))
    lines = []
    for row in _shown(rows.shape[0]):
        cells = [_GAP if row is None or column is None else _cell(rows[row, column]) for column in columns]
        lines.append("<tr>" + "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells) + "</tr>")
    return f"<table>{''.join(lines)}</table>"


def _shown(size: int) -> Iterator[int | None]:
    """The indices that are shown, with None for a gap."""
    if size <= _WHOLE:
        return iter(range(size))
    return itertools.chain(range(_ENDS), [None], range(size - _ENDS, size))


def _cell(value: Any) -> str:
    # As in a printed array: with NumPy's precision, and without the type.
    return escape(np.array2string(np.asarray(value)))
