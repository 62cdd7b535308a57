"""Lists for the linker what libArrayCompiler.so must hold and show: what the objects of those that link it ask for.

usage: exports.py NM OPTIONS VERSIONS OBJECT...

Writes two files: OPTIONS, which has the linker take each name from the archives, and VERSIONS, the version script that
hides all others, so that what nobody reaches is left out. Data of which a process must have one copy and an object has
one itself (the static data of templates and inline functions: type ids, most of all) is shown too.
"""

import pathlib
import subprocess
import sys

# Tables that are alike in every copy, and are never compared by address.
COPIED = ("_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC")


def asked_for(nm: str, objects: list[str]) -> tuple[set[str], set[str]]:
    """The names that the objects lack, and those of data that they share with whoever has it too."""
    command = [nm, "--format=posix", "--extern-only", *objects]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lacking: set[str] = set()
    shared: set[str] = set()
    defined: set[str] = set()
    for line in listed.splitlines():
        name, _, rest = line.partition(" ")
        kind = rest[:1]
        if kind == "U":
            lacking.add(name)
        elif kind in ("V", "u"):
            shared.add(name)
        elif kind:
            defined.add(name)
    return lacking - defined, {name for name in shared if not name.startswith(COPIED)}


def main() -> None:
    nm, options, versions, *objects = sys.argv[1:]
    lacking, shared = asked_for(nm, objects)
    pathlib.Path(options).write_text("".join(f"--undefined={name}\n" for name in sorted(lacking)))
    shown = "".join(f"  {name};\n" for name in sorted(lacking | shared))
    pathlib.Path(versions).write_text(f"{{\nglobal:\n{shown}local:\n  *;\n}};\n")


if __name__ == "__main__":
    main()
