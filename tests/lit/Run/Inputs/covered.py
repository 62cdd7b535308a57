"""Checks that every op of the dialect is run by a file of the folder: `covered.py FOLDER < documentation of the ops`.

Reads what `mlir-tblgen -gen-op-doc` prints. Names the ops that no file runs, and has status 1 if there are any.
"""

import re
import sys
from pathlib import Path

# Why no file runs them.
EXCUSED = {
    "arena": "stands in what the pipeline makes of a module, behind bufferization, and in no module that is read",
    "host_call": "calls a function of the Python program; errors.mlir has what array-run says of it",
    "spend": "stands in what the pipeline makes of a module, behind bufferization, and in no module that is read",
}


def main(folder: Path) -> int:
    ops = set(re.findall(r"^### `array\.(\w+)`", sys.stdin.read(), re.MULTILINE))
    run: set[str] = set()
    for path in folder.rglob("*.mlir"):
        if path.name != "errors.mlir":
            run |= set(re.findall(r"\barray\.(\w+)", path.read_text()))
    for name in sorted(ops - run - EXCUSED.keys()):
        print(f"array.{name} is run by no file of {folder}: add it to that of its family")
    for name in sorted((EXCUSED.keys() & run) | (EXCUSED.keys() - ops)):
        print(f"array.{name} needs no excuse in {__file__}: it is run, or is no op any more")
    print(f"{len(ops)} ops, {len(ops & run)} of them run")
    return 0 if len(ops) > 150 and ops - run == EXCUSED.keys() else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
