"""The examples of the documentation's pages: extracted, run in order in one namespace for each page, and compared.

    ```python    is run; a block with `>>>` is treated as `pycon`
    ```pycon     is a doctest: the output is compared
    ```console   `$ command` lines run in a shell, in a separate folder for the page; their output is compared
    ```mlir      is read by array-opt if it is a module or a function
    ```python no-run   is shown: separate tests run examples that raise, and readers run measurements

In compared output, `...` matches anything, white space counts once, and a float matches to six digits, or to the
written digits. Typed lines have the file `<stdin>`, as in a session. A block with a title that is a file of the
repository (```cpp title="dialect/lib/...") is not run: its lines must occur there, in this order. A page whose examples
need several CPU devices has `devices: 4` in the YAML at its head.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", *PAGES]
RUN = ("python", "pycon", "console", "mlir")
# Blocks that are shown and are not examples: sources, names of files, commands of the loop (make), other formats.
SHOWN = (
    "text",
    "sh",
    "cpp",
    "tablegen",
    "yaml",
    "json",
    "toml",
    "mermaid",
    "diff",
    "lua",
    "vim",
    "elisp",
    "lisp",
    "asm",
    "c",
)

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PADDING = re.compile(r"(?<=\[) +| +(?=[\],])")
TYPED = re.compile(r"<doctest [^>]*>")
FLOAT = re.compile(r"[-+]?\d+\.\d*(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+")


class Block(NamedTuple):
    """A fenced block: its language, the number of its first line on the page, its contents, its title."""

    language: str
    line: int
    text: str
    title: str


def head(page: Path) -> dict[str, Any]:
    """The YAML at the head of a page."""
    found = re.match(r"---\n(.*?)\n---\n", page.read_text(), re.DOTALL)
    return yaml.safe_load(found[1]) if found else {}


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, including those in lists."""
    found: list[Block] = []
    for token in MarkdownIt().parse(page.read_text()):
        language, _, rest = token.info.partition(" ")
        if token.type == "fence" and token.map and "no-run" not in rest.split():
            title = re.search(r'title="([^"]*)"', rest)
            found.append(Block(language, token.map[0] + 2, token.content, title[1] if title else ""))
    return found


class Checker(doctest.OutputChecker):
    """Compares as doctest does, but compares floats to the written digits: the last digits differ between machines."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        got = TYPED.sub("<stdin>", got)
        # NumPy pads all elements to the longest one.
        want, got = (PADDING.sub("", text) for text in (want, got))
        return super().check_output(want, self.as_written(want, got), optionflags)

    @staticmethod
    def as_written(want: str, got: str) -> str:
        """`got`, with each matching float in the written form of the expected one."""
        wanted = FLOAT.findall(want)
        found = list(FLOAT.finditer(got))
        if len(wanted) != len(found):
            return got
        for match, text in reversed(list(zip(found, wanted, strict=True))):
            if abs(float(match[0]) - float(text)) <= max(1.01 * unit_of_last_digit(text), 1e-6 * abs(float(text))):
                got = got[: match.start()] + text + got[match.end() :]
        return got


def unit_of_last_digit(text: str) -> float:
    """10 to the power of the last written digit: 0.01 for 1.25, 1e-7 for 1.0e-6."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


class Runner:
    """Runs the blocks of one page, in order; fails at the page's line."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        (folder / "build").symlink_to(ROOT / "build")

    def run(self, block: Block) -> None:
        if block.title:
            self.find_quoted(block)
        elif block.language == "console":
            self.run_console(block)
        elif block.language == "mlir":
            self.run_mlir(block)
        elif ">>> " in block.text:
            self.run_doctest(block)
        else:
            self.run_python(block)

    def run_python(self, block: Block) -> None:
        # Blank lines before the code give each line its number on the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(self.page), "exec"), self.namespace)

    def run_doctest(self, block: Block) -> None:
        name = f"{self.page.name}:{block.line}"
        # A blank line ends the expected output, unless more output follows.
        text = re.sub(r"(?<=\n)\n(?!\n|>>> |$)", "<BLANKLINE>\n", block.text)
        test = doctest.DocTestParser().get_doctest(text, {}, name, str(self.page), block.line - 1)
        test.globs = self.namespace  # not a copy: later blocks see definitions of this one
        report: list[str] = []
        runner = doctest.DocTestRunner(checker=Checker(), optionflags=FLAGS, verbose=False)
        runner.run(test, out=report.append, clear_globs=False)
        assert not runner.failures, "".join(report)

    def run_console(self, block: Block) -> None:
        # The page has a separate disk cache, because its examples may list or empty it.
        cache = {"PYCOMPILER_COMPILATION_CACHE_DIR": str(self.folder / "cache")}
        for command, want in commands(block.text):
            run = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                cwd=self.folder,
                env=shell_environment() | cache,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
            )
            where = f"{self.page}:{block.line}: $ {command}"
            assert run.returncode == 0 or "error" in want, f"{where}\nended with {run.returncode}:\n{run.stdout}"
            if want.strip():
                matches = Checker().check_output(want, run.stdout, FLAGS)
                assert matches, f"{where}\nexpected:\n{want}\ngot:\n{run.stdout}"

    def find_quoted(self, block: Block) -> None:
        source = iter((ROOT / block.title).read_text().splitlines())
        for line in filter(None, map(str.strip, block.text.splitlines())):
            there = line in ("...", "// ...", "# ...") or any(line == other.strip() for other in source)
            assert there, f"{self.page}:{block.line}: {block.title} does not have, in this order, the line\n{line}"

    def run_mlir(self, block: Block) -> None:
        if not re.search(r"^\s*(module|func\.func)\b", block.text, re.MULTILINE):
            return  # one op whose operands are not defined
        command = [ROOT / "build/bin/array-opt", "-o", "/dev/null", "-"]
        run = subprocess.run(command, input=block.text, capture_output=True, text=True)
        assert run.returncode == 0, f"{self.page}:{block.line}: array-opt does not take this:\n{run.stderr}"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The pairs (command, output) of a shell session: `$ ` opens a command, `> ` continues it."""
    command, printed = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line[2:], ""
        elif line.startswith(("> ", ">\n")) and not printed:
            command += line[1:].removeprefix(" ")
        else:
            printed += line
    if command:
        yield command, printed


def shell_environment() -> dict[str, str]:
    """`python` is this interpreter with this checkout's package; the tools of build/bin are on the path."""
    places = [str(Path(sys.executable).parent), str(ROOT / "build" / "bin"), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(places), "PYTHONPATH": str(ROOT)}
