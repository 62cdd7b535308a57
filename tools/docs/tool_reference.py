"""The reference of the pipelines: what array-opt says of them, and the passes that each runs, in order."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from llvm_tools import output, own_tool
from mkdocs.exceptions import PluginError

HEAD = """# Pipelines

`array-opt` runs a pipeline by its name, as `array-opt --array-to-linalg model.mlir`; options follow the name,
as in `--array-to-llvm="vector-bits=256"`. Generated from what `array-opt` itself prints.
"""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """One page."""
    tool = own_tool(root, "array-opt")
    text = HEAD
    for name, summary, options in pipelines(output([tool, "--help"])):
        text += f"\n## `{name}`\n\n{summary}.\n"
        if options:
            text += "\n| option | |\n|---|---|\n" + "".join(f"| `{option}` | {what} |\n" for option, what in options)
        text += f"\nIts passes, in order:\n\n```text\n{passes(tool, name)}\n```\n"
    yield "reference/pipelines.md", text


def pipelines(text: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """(name, summary, options) of our pipelines, from the text of --help."""
    _, found, rest = text.partition("    Pass Pipelines:\n")
    if not found:
        raise PluginError("docs: `array-opt --help` has no list of pipelines any more; tools/docs/tool_reference.py")
    entries: list[tuple[str, str, list[tuple[str, str]]]] = []
    for line in rest.splitlines():
        row = re.match(r"^( {4,10})(--|=)(\S+)\s+-\s+(.*)$", line)
        if row is None:
            break
        indent, mark, name, summary = len(row[1]), row[2], row[3], row[4].rstrip(". ")
        if indent == 6:
            entries.append((name, summary, []))
        elif mark == "--":
            entries[-1][2].append((name, summary))
        else:  # one of an option's values
            option, what = entries[-1][2][-1]
            entries[-1][2][-1] = option, f"{what}; `{name}`"
    return (entry for entry in entries if entry[0].startswith("array-"))


def passes(tool: Path, pipeline: str) -> str:
    """The passes of a pipeline with their options, as the pass manager writes them."""
    command = [str(tool), f"--{pipeline}", "--dump-pass-pipeline", "-"]
    run = subprocess.run(command, input="module {}", capture_output=True, text=True)
    _, found, text = run.stderr.partition("passes:\n")
    if not found:
        raise PluginError(f"docs: `{' '.join(command)}` prints no pipeline:\n{run.stderr}")
    text = text.partition("\n)")[0] + "\n)"  # then the error of the module, which is empty
    # Of MLIR's own passes the names say enough.
    return re.sub(r"^( *(?!array-|convert-array-)[\w.-]+)\{.*\}(,?)$", r"\1\2", text, flags=re.MULTILINE).strip()
