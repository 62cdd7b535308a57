"""Reading foreign modules, whose bytecode a separate process reads first, and the operations of a module.

`emit` and `imported` import this module. MLIR's reader of bytecode is not safe against damaged files: on some bytes it
aborts, on others it never ends. So another process reads the bytes, within limits of time and memory, and writes the
result. This process reads only the result. The other process takes a tenth of a second. Text, and bytecode that this
process wrote, need no other process.
"""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pycompiler.core.errors import MLIRError
from pycompiler.primitives.module_call import ModuleCode

if TYPE_CHECKING:
    from pycompiler._compiler import ir

# Loads the compiler as a library, without importing the package or NumPy.
_READ = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).pycompiler_reread_bytecode(int(sys.argv[2])))"
# The maximum; a correct module takes milliseconds.
_SECONDS = 10
_LINES = 4


def readable(code: ModuleCode) -> str | bytes:
    """The source of a module as this process can read it. Raises as `reread` does."""
    if code.readable is None:
        code.readable = code.source if isinstance(code.source, str) else reread(code.source)
    return code.readable


def reread(source: bytes) -> bytes:
    """A module in bytecode, rewritten by this version of the compiler. Raises `ir.MLIRError` for a module that can't be
    read or does not verify, or whose reading does not end, takes too much memory or crashes."""
    found = importlib.util.find_spec("pycompiler._compiler")
    if found is None or found.origin is None or not sys.executable:
        raise _error(
            f"can't read a module in bytecode, which takes a process of its own: sys.executable is {sys.executable!r}, "
            f"the compiler is {found and found.origin!r}.\nWhat to do: set sys.executable to a Python interpreter, or "
            "give the module as text"
        )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _READ, found.origin, str(_SECONDS)],
        input=source,
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        return done.stdout
    told = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    if done.returncode > 0:
        raise _error("\n".join(["can't parse the module", *(f"error: {line}" for line in told[:_LINES])]))
    ended = -done.returncode
    if ended in (signal.SIGXCPU, signal.SIGKILL):
        raise _error(f"can't parse the module: MLIR's reader took too long for {len(source)} bytes")
    why = next((f": {line}" for line in told if "ERROR" in line), "")
    raise _error(f"can't parse the module: MLIR's reader was ended by {signal.Signals(ended).name}{why}")


def operations_of(module: ir.Module) -> frozenset[str]:
    """The names of the ops in a module, without their dialect."""
    return frozenset(_operations(module.operation))


def _operations(operation: ir.Operation) -> Iterator[str]:
    """The names of all ops inside of one, without their dialect."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.name.rpartition(".")[2]
                yield from _operations(inner)


def _error(text: str) -> MLIRError:
    """An error with the attributes of the compiler's own errors, but without a place in a file."""
    error = MLIRError(text)
    error.message = text.removeprefix("can't parse the module\nerror: ").partition("\n")[0]
    error.file = error.line = error.column = None
    error.notes, error.error_diagnostics = [], []
    return error
