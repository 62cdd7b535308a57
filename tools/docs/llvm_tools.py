"""The places of the programs of LLVM and of this project that print pages, and messages for a missing program."""

import subprocess
from pathlib import Path

from mkdocs.exceptions import PluginError


def llvm_path(root: Path, what: str) -> Path:
    """A folder of the LLVM that the build uses: "bindir", "includedir"."""
    version = (root / "llvm-version.txt").read_text().strip()
    config = f"llvm-config-{version}"
    try:
        return Path(output([config, f"--{what}"]).strip())
    except FileNotFoundError:
        raise PluginError(f"docs: {config} is missing; `make system` installs Debian's packages") from None


def own_tool(root: Path, name: str) -> Path:
    """A program of build/bin."""
    tool = root / "build" / "bin" / name
    if not tool.exists():
        raise PluginError(f"docs: {tool.relative_to(root)} is missing; `make build` makes it")
    return tool


def output(command: list[str | Path], text: str = "") -> str:
    """The output of a command; an error with the error output of the command if it fails."""
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    if run.returncode:
        raise PluginError(f"docs: {' '.join(map(str, command))} failed:\n{run.stderr}")
    return run.stdout
