"""`to_shared_object`: an exported function as a shared library and a header, for programs in C without Python or MLIR.

Imports `exported`; `c_source` makes the C code. This module compiles the code of the module. The C++ compiler of the
machine links it with the runtime's routines (the archive beside this file, which the build makes).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.cache import identity
from pycompiler.compile.compile import object_of
from pycompiler.compile.foreign import readable
from pycompiler.core.dims.sizes import symbols_of
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.types import dtype as dtypes
from pycompiler.export.c_sizes import Size
from pycompiler.export.c_source import Library, Parameter, header, identifiers, is_identifier, source
from pycompiler.export.exported import Exported, export, narrowed
from pycompiler.primitives import DECOMPOSITIONS
from pycompiler.random import key_data

_HERE = Path(__file__).resolve().parent
_ARCHIVE = _HERE / "libpycompiler_export.a"
# The folders of the headers in an installed package and in a checkout.
_HEADERS = (_HERE / "include", _HERE.parent.parent / "runtime" / "include")

_COMPILERS = ("c++", "g++", "clang++")


@dataclass(frozen=True)
class SharedObject:
    """The output of `to_shared_object`: the library, its header, and the name of the function in both."""

    path: Path
    header: Path
    name: str


@boundary
def to_shared_object(
    fun: Callable[..., Any] | Exported,
    path: str | os.PathLike[str],
    *args: Any,
    name: str | None = None,
    cpu: str | None = None,
    **kwargs: Any,
) -> SharedObject:
    """Write a shared library that computes a function, and beside it `name.h`, which declares it for C and C++.

    The library needs only the system's C library, neither Python nor MLIR. For decompositions, it loads LAPACK itself.
    A C++ compiler links the library: the one in the environment variable CXX, or c++, g++ or clang++.

    Symbols in the arguments' shapes (`Dim`) are parameters of the C function, before the arrays: `int64_t n`. They are
    also the arguments of the macros for the arrays' sizes, and of the function `name_workspace_bytes(n)`. A call with a
    size outside its bounds returns an error.

    Args:
      fun: a function, which is exported for `args` and `kwargs` as by `export`; or an Exported, without `args` and
        `kwargs`.
      path: the file of the library, "libmodel.so".
      name: the name of the C function; by default that of the file, without "lib" and without the part from the first
        dot: "model".
      cpu: the processors of the code, by LLVM's name ("x86-64-v3"); by default the kind of this machine.

    Raises ValueError for a name that is invalid in C, for 64-bit arguments without enable_x64 (the function would take
    32 bits), and for functions that cannot be exported. Raises FileNotFoundError without a C++ compiler, and
    RuntimeError with the linker's text if linking fails.
    """
    if not isinstance(path, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"to_shared_object: path is a string or a Path, got {path!r} of type {type(path).__name__}")
    if not isinstance(fun, Exported):
        check_function("to_shared_object", fun)
    target = Path(path).resolve()
    chosen = target.name.split(".")[0].removeprefix("lib") if name is None else name
    if not is_identifier(chosen):
        raise ValueError(f"to_shared_object: {chosen!r} is not a C function name; give another one (name=...)")
    if isinstance(fun, Exported):
        if args or kwargs:
            raise TypeError("to_shared_object: an exported function has its arguments' shapes already: give none")
        exported = fun
    else:
        _check_widths(args, kwargs)
        exported = export(fun, platforms=["cpu"])(*args, **kwargs)
    if "cpu" not in exported.platforms:
        raise ValueError(
            f"to_shared_object: {exported.fun_name} was exported for {', '.join(exported.platforms)}; the library runs "
            "on the cpu"
        )
    compiler = _compiler()
    _check_built()
    written = SharedObject(target, target.with_name(f"{chosen}.h"), chosen)
    with exported._code.reading():
        source_of_module = readable(exported._code)
    compiled = object_of(source_of_module, cpu or "")
    with tempfile.TemporaryDirectory(prefix="pycompiler-export-") as folder:
        work = Path(folder)
        library = _library(exported, written, compiled, cpu, work)
        text = header(library)
        (work / written.header.name).write_text(text)
        (work / "library.c").write_text(source(library, written.header.name))
        (work / "code.o").write_bytes(compiled.object)
        (work / "exported.map").write_text(f"{{ global: {chosen}; {chosen}_*; local: *; }};\n")
        _link(compiler, work, chosen)
        os.makedirs(target.parent, exist_ok=True)
        # The replacement is atomic, because a program may use the old library.
        _replace(work / "library.so", target)
        _replace(work / written.header.name, written.header)
    return written


def _check_widths(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise ValueError for arguments that C would pass in another width than the given one."""
    for name, given, kept in narrowed((args, kwargs)):
        raise ValueError(
            f"to_shared_object: {name} is {given.name}, and the function would take {kept.name}, because 64-bit types "
            f'are off; ask for {kept.name}, or set PYCOMPILER_ENABLE_X64=1 or call config.update("enable_x64", True)'
        )


def _library(exported: Exported, written: SharedObject, compiled: Any, cpu: str | None, work: Path) -> Library:
    """The contents of the C code. The constants are written to files."""
    results = [f"out{path}" for path in exported.out_tree.paths()]
    symbols = symbols_of(exported.in_avals)
    given = [*(symbol.name for symbol in symbols), *exported.argument_names, *results]
    names = identifiers(given, ("workspace", written.name))
    sizes = [Size(name, symbol) for name, symbol in zip(names, symbols, strict=False)]
    names = names[len(sizes) :]
    count = len(exported.in_avals)
    files: list[str] = []
    for number, const in enumerate(exported.consts):
        files.append(f"const{number}.bin")
        (work / files[-1]).write_bytes(np.asarray(key_data(const) if dtypes.is_key(const.dtype) else const).tobytes())
    return Library(
        written.name,
        exported.fun_name,
        cpu or f"this kind of processor: {(identity.target() or 'unknown').rpartition(' ')[0]}",
        _parameters(names[:count], exported.in_avals),
        _parameters(names[count:], exported.out_avals),
        files,
        compiled.arena_bytes,
        not exported.operations.isdisjoint(DECOMPOSITIONS),
        compiled.sites,
        sizes,
    )


def _parameters(names: list[str], avals: tuple[ShapedArray, ...]) -> list[Parameter]:
    return [Parameter(name, aval) for name, aval in zip(names, avals, strict=True)]


def _compiler() -> list[str]:
    """The C++ compiler, as the words of a command (CXX may be `ccache g++`). Raises FileNotFoundError."""
    given = os.environ.get("CXX", "").strip()
    candidates = [shlex.split(given)] if given else [[name] for name in _COMPILERS]
    for program, *options in candidates:
        found = shutil.which(program)
        if found:
            return [found, *options]
    if given:
        raise FileNotFoundError(f"to_shared_object: CXX names {given!r}, and there is no such program")
    raise FileNotFoundError(
        f"to_shared_object: a library is linked by a C++ compiler, and none of {', '.join(_COMPILERS)} is on "
        "PATH.\nWhat to do: install one (Debian and Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++), or "
        "name one by CXX"
    )


def _check_built() -> None:
    if not _ARCHIVE.exists():
        raise FileNotFoundError(
            f"to_shared_object: {_ARCHIVE} is missing. Libraries are linked with it, and the build makes it (make "
            "build, or pip install)"
        )


def _link(compiler: list[str], work: Path, name: str) -> None:
    """Link library.so from the contents of the folder."""
    headers = next(folder for folder in _HEADERS if (folder / "runtime" / "Exported.h").exists())
    command = [
        *(*compiler, "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-I", str(headers), "-o", "library.so"),
        *("-x", "c", "library.c", "-x", "none", "code.o", str(_ARCHIVE)),
        # The program needs no C++ runtime. The library stays loaded, because the pool of threads outlives dlclose.
        *("-static-libstdc++", "-static-libgcc", "-Wl,-z,nodelete", "-Wl,-z,noexecstack", "-Wl,--gc-sections"),
        *("-Wl,--version-script=exported.map", "-Wl,--no-undefined", "-s", "-lm", "-lpthread", "-ldl"),
    ]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"to_shared_object: {shlex.join(compiler)} can't link {name}:\n{done.stderr.strip()}")


def _replace(made: Path, target: Path) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(made, beside)
    os.chmod(beside, 0o755 if target.suffix != ".h" else 0o644)
    os.replace(beside, target)
