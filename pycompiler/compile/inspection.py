"""Inspection of a compilation at its stages: on stderr by the setting `debug`, in files by `dump_dir`. `compile`
imports this module and passes functions that give the stages.

A folder in dump_dir is one compilation: its stages, numbered in order, and `reproducer.mlir`.
`array-opt --run-reproducer` runs the passes on this file again.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable

from pycompiler.compile.targets import Target
from pycompiler.core.config.config import config
from pycompiler.core.errors import MLIRError
from pycompiler.core.tracing.graph import Graph

# Every stage, in order, with the extension of its files.
STAGES: dict[str, str] = {
    "graph": ".txt",
    "array": ".mlir",
    "linalg": ".mlir",
    "bufferized": ".mlir",
    "loops": ".mlir",
    "llvm": ".mlir",
    "llvmir": ".ll",
    "asm": ".s",
    "ptx": ".ptx",
}

# The minimum level of `debug` that prints a stage; 1 prints only times.
_LEVELS = {"graph": 2, "array": 3}
_LATER = 4


def stages_of(target: Target) -> tuple[str, ...]:
    """The stages of code for a target."""
    return tuple(stage for stage in STAGES if stage != "ptx") if target.is_host else ("graph", "array", "ptx")


def is_asked_for() -> bool:
    """Whether a setting asks for the text of stages."""
    return config.dump_dir is not None or config.debug >= min(_LEVELS.values())


def tell(name: str, graph: Graph, target: Target, text_at: Callable[[str], str], reproducer: Callable[[], str]) -> None:
    """Print and write the stages of a compilation, up to a failing one. The compilation itself raises the error."""
    folder = _new_folder(config.dump_dir, name) if config.dump_dir is not None else None
    wanted = stages_of(target) if folder else _printed(target)
    stage = wanted[0]
    try:
        for number, stage in enumerate(wanted):
            text = f"{graph!r}\n" if stage == "graph" else text_at(stage)
            if folder:
                _write(f"{folder}/{number:02}-{stage}{STAGES[stage]}", text)
                if stage == "array":
                    _write(f"{folder}/reproducer.mlir", reproducer())
            if stage in _printed(target):
                print(f"pycompiler: {stage} of {name}:\n{text.rstrip()}", file=sys.stderr)
    except MLIRError as error:
        if folder:
            count = sum(entry[0].isdecimal() for entry in os.listdir(folder))
            _write(f"{folder}/{count:02}-{stage}-failed.txt", f"{error}\n")


def _printed(target: Target) -> tuple[str, ...]:
    return tuple(stage for stage in stages_of(target) if config.debug >= _LEVELS.get(stage, _LATER))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _new_folder(parent: str, name: str) -> str:
    """The next folder: `0003-loss`."""
    os.makedirs(parent, exist_ok=True)
    shown = re.sub(r"[^\w.-]", "_", name)
    while True:
        numbers = [re.match(r"(\d{4,})-", entry) for entry in os.listdir(parent)]
        last = max([int(number[1]) for number in numbers if number], default=0)
        folder = os.path.join(parent, f"{last + 1:04}-{shown}")
        # Another process may take the number first.
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
            return folder
