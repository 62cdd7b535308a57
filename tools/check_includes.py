"""Checks the one-way rule of the C++ rooms: which headers a file of each room may include.

runtime/ never includes MLIR or LLVM, and Python only in runtime/python; dialect/ includes of runtime/ only what the
compiler and the runtime agree on. Prints each violation as file:line and exits with 1.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*[<"]([^">]+)[">]')
PYTHON = r"(Python\.h|nanobind/|numpy/|structmember\.h)"
MLIR = r"(mlir|llvm|mlir-c|llvm-c)/"

# folder -> (pattern of the headers it may not include, why)
RULES = [
    ("runtime/include", rf"({MLIR}|array/|{PYTHON})", "the runtime knows neither MLIR nor Python"),
    ("runtime/lib", rf"({MLIR}|array/|{PYTHON})", "the runtime knows neither MLIR nor Python"),
    ("runtime/python", rf"({MLIR}|array/)", "the runtime's binding knows no MLIR"),
    ("tests/cpp", rf"({MLIR}|array/|{PYTHON})", "the runtime's tests know neither MLIR nor Python"),
    ("dialect", r"runtime/(?!(Abi\.h|SizeChecks\.h|Symbols\.def)$)", "of runtime/, the compiler sees the ABI alone"),
    ("tools/array-opt", r"runtime/(?!(Abi\.h|SizeChecks\.h|Symbols\.def)$)", "array-opt runs nothing"),
    ("dialect/include", PYTHON, "Python belongs in dialect/python"),
    ("dialect/lib", PYTHON, "Python belongs in dialect/python"),
    ("tools", PYTHON, "the tools do not link Python"),
]


def main() -> int:
    violations: list[str] = []
    for folder, pattern, why in RULES:
        forbidden = re.compile(pattern)
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".def", ".inc", ".c", ".td"}:
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                match = INCLUDE.match(line)
                if match and forbidden.match(match[1]):
                    violations.append(f"{path.relative_to(ROOT)}:{number}: includes {match[1]}: {why}")
    print("\n".join(violations) or "includes: the rooms keep the one-way rule")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
