"""The reference of the settings: one row for each setting in the table of pycompiler/core/config/settings.py."""

import importlib
from collections.abc import Iterator
from pathlib import Path

HEAD = """# Settings

There are three ways to set a setting: its environment variable when the process starts,
`pycompiler.config.update(name, value)` for the process, and `with pycompiler.config.override(name, value):` for a
block of this thread. Some also have a context manager with their own name.

| setting | type | default | environment variable | meaning |
|---|---|---|---|---|
"""

ELSEWHERE = """
## Other environment variables

They are read before the settings exist, or by tools. At import, a variable with the prefix `PYCOMPILER_` that is in
neither table causes a warning that names the nearest one.

| environment variable | meaning |
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
