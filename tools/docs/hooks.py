"""Hooks of MkDocs (mkdocs.yml). They add the pages of the reference, which are generated from the code.

Each generator is a file beside this one that yields (path below docs/, Markdown). Their output is not in git.
"""

import re
from pathlib import Path
from typing import Any

import attributes_reference
import python_reference
import settings_reference
import tablegen_reference
import tool_reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
GENERATORS = (
    attributes_reference.pages,
    python_reference.pages,
    settings_reference.pages,
    tablegen_reference.pages,
    tool_reference.pages,
)


@event_priority(100)
def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of docs/."""
    for generate in GENERATORS:
        for path, text in generate(ROOT):
            files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Remove the mark `no-run`, which tells the tests about examples that raise."""
    return re.sub(r"^```python no-run$", "```python", markdown, flags=re.MULTILINE)
