"""The reference of the discardable attributes of the dialect: a row for each of Attributes.def."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = "dialect/include/array/IR/Attributes.def"

HEAD = f"""# Attributes

Attributes of the dialect on operations of any dialect, on modules, functions, and arguments and results of functions.
A program sets the attributes of the first table; passes set the others for later passes. The dialect verifies their
places and kinds. An attribute `array.*` that is not in a table is an error, which names the nearest name. Generated
from `{SOURCE}`.
"""

KINDS = {
    "Unit": "unit",
    "Number": "integer",
    "String": "string",
    "Numbers": "`array<i64>`",
    "List": "array",
    "Dictionary": "dictionary",
    "Map": "affine map",
    "Name": "unit, or string",
}


class Row(NamedTuple):
    """One attribute: its name, the operations that have it, its type, its meaning."""

    name: str
    places: tuple[str, ...]
    kind: str
    meaning: str


def tables(root: Path) -> dict[str, list[Row]]:
    """The rows, by the comments above them."""
    found: dict[str, list[Row]] = {}
    text = (root / SOURCE).read_text()
    for part in re.finditer(r"^// ([^\n]+)\n((?:ARRAY_ATTRIBUTE\(.*?\)\n)+)", text, re.MULTILINE | re.DOTALL):
        rows = found[part[1].rstrip(".")] = []
        for row in re.finditer(
            r'^ARRAY_ATTRIBUTE\((\w+), ([\w| ]+), (\w+),\s+"((?:[^"\\]|\\.)*)"\)', part[2], re.MULTILINE
        ):
            rows.append(Row(f"array.{row[1]}", tuple(row[2].split(" | ")), row[3], row[4].replace('\\"', '"')))
    return found


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """One page."""
    text = HEAD
    for title, rows in tables(root).items():
        text += f"\n## {title}\n\n| attribute | on | value | meaning |\n|---|---|---|---|\n"
        for row in rows:
            places = ", ".join(f"{place.lower()}s" for place in row.places)
            text += f"| `{row.name}` | {places} | {KINDS[row.kind]} | {row.meaning} |\n"
    yield "reference/attributes.md", text
