"""The reference of array-opt: its pipelines with their passes, and the passes that no .td file describes."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from llvm_tools import output, own_tool
from mkdocs.exceptions import PluginError

PIPELINES = """# Pipelines

`array-opt` runs a pipeline by its name, as `array-opt --array-to-linalg model.mlir`; options follow the name,
as in `--array-to-llvm="vector-bits=256"`. Generated from the output of `array-opt`.
"""

PASSES = """# Passes: array-opt

The passes that only `array-opt` has. Generated from its output.
"""


class Entry(NamedTuple):
    """A pass or a pipeline from the list of --help; each option with its description."""

    name: str
    summary: str
    options: list[tuple[str, str]]

    def __str__(self) -> str:
        text = f"\n## `{self.name}`\n\n{self.summary}.\n"
        if self.options:
            text += "\n| option | |\n|---|---|\n" + "".join(f"| `{name}` | {what} |\n" for name, what in self.options)
        return text


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """A page of pipelines and, if there are such passes, a page of passes."""
    tool = own_tool(root, "array-opt")
    text = output([tool, "--help"])
    pipelines = PIPELINES
    for entry in entries(text, "Pass Pipelines"):
        pipelines += f"{entry}\nIts passes, in order:\n\n```text\n{passes(tool, entry.name)}\n```\n"
    yield "reference/pipelines.md", pipelines
    described = "".join(path.read_text() for path in (root / "dialect" / "include").rglob("*.td"))
    own = [entry for entry in entries(text, "Passes") if f'Pass<"{entry.name}"' not in described]
    if own:
        yield "reference/passes/array-opt.md", PASSES + "".join(map(str, own))


def entries(text: str, heading: str) -> list[Entry]:
    """The entries of this project in the list under the heading, in the text of --help."""
    _, found, rest = text.partition(f"    {heading}:\n")
    if not found:
        raise PluginError(f"docs: `array-opt --help` has no list of {heading} any more; tools/docs/tool_reference.py")
    listed: list[Entry] = []
    for line in rest.splitlines():
        row = re.match(r"^( {4,10})(--|=)(\S+)\s+-\s+(.*)$", line)
        if row is None:
            break
        indent, mark, name, summary = len(row[1]), row[2], row[3], row[4].rstrip(". ")
        if indent == 6:
            listed.append(Entry(name, summary, []))
        elif mark == "--":
            listed[-1].options.append((name, summary))
        else:  # a value of an option
            option, what = listed[-1].options[-1]
            listed[-1].options[-1] = option, f"{what}; `{name}`"
    return [entry for entry in listed if entry.name.startswith(("array-", "convert-array-"))]


def passes(tool: Path, pipeline: str) -> str:
    """The passes of a pipeline with their options, as the pass manager prints them."""
    command = [str(tool), f"--{pipeline}", "--dump-pass-pipeline", "-"]
    run = subprocess.run(command, input="module {}", capture_output=True, text=True)
    _, found, text = run.stderr.partition("passes:\n")
    if not found:
        raise PluginError(f"docs: `{' '.join(command)}` prints no pipeline:\n{run.stderr}")
    text = text.partition("\n)")[0] + "\n)"  # the rest is the error for the empty module
    # The names of MLIR's own passes are enough.
    return re.sub(r"^( *(?!array-|convert-array-)[\w.-]+)\{.*\}(,?)$", r"\1\2", text, flags=re.MULTILINE).strip()
