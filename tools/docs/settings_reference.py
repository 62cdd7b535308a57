"""The reference of the settings: a row for each of the table in pycompiler/core/config/settings.py."""

import importlib
from collections.abc import Iterator
from pathlib import Path

HEAD = """# Settings

A setting is set in three ways: by its environment variable when the process starts, by
`pycompiler.config.update(name, value)` for the process, and by `with pycompiler.config.override(name, value):` for a
block of this thread. Some have a context manager of their own name, too.

| setting | type | default | environment variable | what it says |
|---|---|---|---|---|
"""

ELSEWHERE = """
## Environment variables that are no settings

They are read before there is a setting, or by tools. A variable that begins with `PYCOMPILER_` and stands in neither
table is a warning when the package is imported, which names the nearest.

| environment variable | what it says |
|---|---|
"""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """One page."""
    package = importlib.import_module("pycompiler")
    table = importlib.import_module("pycompiler.core.config.settings").TABLE
    rows: list[str] = []
    for setting in table:
        summary = setting.summary
        if setting.choices:
            summary += ": " + ", ".join(f"`{choice}`" for choice in setting.choices)
        if hasattr(package, setting.name):
            summary += f" (`with {setting.name}(...)`)"
        cells = (
            f"`{setting.name}`",
            f"`{setting.type.__name__}`",
            f"`{setting.default!r}`",
            f"`{setting.environment}`",
        )
        rows.append(f"| {' | '.join(cells)} | {summary} |")
    others = importlib.import_module("pycompiler.core.config.variables").ELSEWHERE
    more = [f"| `{name}` | {meaning} |" for name, meaning in others.items()]
    yield "reference/settings.md", HEAD + "\n".join(rows) + "\n" + ELSEWHERE + "\n".join(more) + "\n"
