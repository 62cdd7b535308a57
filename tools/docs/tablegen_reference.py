"""The reference of the dialect and the passes: mlir-tblgen's output for each .td file, one page for each family.

Only the .td files describe ops and passes; this module adds titles.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from llvm_tools import llvm_path, output
from mkdocs.exceptions import PluginError

DIALECT = "dialect/include/array"
# Titles of families with more than one word. Other titles are the name of the file.
TITLES = {
    "Fft": "Fourier transforms",
    "LinearAlgebra": "Linear algebra",
    "ControlFlow": "Control flow",
    "Symbol": "Symbolic sizes",
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Pages of the dialect, of each family of its ops, and of each file of passes."""
    folder = root / DIALECT / "IR"
    families = re.findall(r'^include "array/IR/(\w+\.td)"', (folder / "ArrayOps.td").read_text(), re.MULTILINE)
    ops: list[str] = []
    for path in (folder / name for name in sorted(families)):
        # A family may include another one. The output then has the ops of both.
        sections = re.split(r"^(?=## )", described(root, path, "-gen-op-doc"), flags=re.MULTILINE)[1:]
        own = {name_of(section): section for section in sections if f'"{name_of(section)}"' in path.read_text()}
        if not own:
            continue  # shared base classes of families
        text, names = "".join(own.values()), list(own)
        page = f"{path.stem.lower()}.md"
        title = TITLES.get(path.stem, path.stem)
        ops.append(f"| [{title}]({page}) | {', '.join(f'[`{name}`]({page}#array{name})' for name in names)} |")
        yield f"reference/ops/{page}", f"# {title}\n\n{first_comment(path)}\n\n{source(root, path)}\n\n{text}"
    yield "reference/ops/index.md", dialect_page(root, ops)
    for path in sorted((root / DIALECT).rglob("*.td")):
        if '"mlir/Pass/PassBase.td"' in path.read_text():
            name = path.parent.name if path.stem == "Passes" else path.stem
            text = described(root, path, "-gen-pass-doc")
            head = f"# Passes: {name}\n\n{first_comment(path)}\n\n{source(root, path)}"
            yield f"reference/passes/{name.lower()}.md", f"{head}\n\n{text}"


def name_of(section: str) -> str:
    """The op that a section describes, without the name of the dialect."""
    heading = re.match(r"## `array\.(\w+)`", section)
    if heading is None:
        raise PluginError(f"docs: mlir-tblgen writes headings in an unknown form: {section.splitlines()[0]}")
    return heading[1]


def dialect_page(root: Path, ops: list[str]) -> str:
    """The description of the dialect, then its families."""
    text = tablegen(root, root / DIALECT / "IR" / "ArrayOps.td", "-gen-dialect-doc", "-dialect=array")
    description = text.split("[TOC]")[0].split("# 'array' Dialect")[1].strip()
    types = text.split("## Types")[1].strip() if "## Types" in text else ""
    table = "\n".join(["| family | ops |", "|---|---|", *ops])
    return f"# The array dialect\n\n{description}\n\n## Ops\n\n{table}\n\n## Types\n\n{types}\n"


def described(root: Path, path: Path, *options: str) -> str:
    """The output of mlir-tblgen for one file: a second-level heading for each op or pass, and no other headings."""
    text = tablegen(root, path, *options).split("-->", 1)[1].strip()
    text = re.sub(r"^#### (.*?):?$", r"**\1**", text, flags=re.MULTILINE)
    # Writers of IR do not need the C++ class. The heading of a pass has no dash of the command line.
    text = re.sub(r"^### (`array\.[\w.]+`) \(.*\)$", r"## \1", text, flags=re.MULTILINE)
    text = re.sub(r"^### `-([\w-]+)`$", r"## `\1`", text, flags=re.MULTILINE)
    return re.sub(r"^```\n(?=operation ::=)", "```text\n", text, flags=re.MULTILINE) + "\n"


def tablegen(root: Path, path: Path, *options: str) -> str:
    includes = [root / "dialect" / "include", llvm_path(root, "includedir")]
    command = [llvm_path(root, "bindir") / "mlir-tblgen", *options]
    return output([*command, *(f"-I{folder}" for folder in includes), path])


def first_comment(path: Path) -> str:
    """The header comment of the file, which describes its contents."""
    lines: list[str] = []
    for line in path.read_text().splitlines():
        if not line.startswith("// "):
            break
        lines.append(line.removeprefix("// "))
    return "\n".join(lines)


def source(root: Path, path: Path) -> str:
    return f"Generated from `{path.relative_to(root)}`."
