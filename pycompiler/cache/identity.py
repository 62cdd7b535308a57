"""The compiler and the machine, as parts of a key. They are determined without loading the compiler.

Each is one readable line, and is determined once in a process.
"""

from __future__ import annotations

import functools
import hashlib
import os

from pycompiler import _runtime
from pycompiler.version import __version__

# Constants of ELF: the type of a segment of notes, and the note with the linker's build id.
_PT_NOTE = 4
_BUILD_ID = (b"GNU\0", 3)

# Linux's names for the properties of a processor, on x86 and on Arm. They distinguish processors whose code differs,
# even if a hypervisor hides some of them.
_MODEL = (
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
)
_FEATURES = ("flags", "Features")
# The instruction sets that people look for: the width of vectors, and multiplications in one instruction.
_VECTOR_SETS = ("sse4", "fma", "f16c", "avx", "amx", "asimd", "sve", "bf16", "i8mm")
# glibc's _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE. Tiles depend on them.
_CACHES = (188, 191, 194)


@functools.cache
def compiler() -> str:
    """The version, the build of `_compiler`, and the digest of its Python half."""
    folder = os.path.dirname(os.path.abspath(_runtime.__file__))
    suffix = os.path.basename(_runtime.__file__).removeprefix("_runtime")
    # In a wheel, _compiler has only the bindings, and links a library with the compiler.
    parts = [os.path.join(folder, name) for name in (f"_compiler{suffix}", "lib/libArrayCompiler.so")]
    binary = " ".join(_build(part) for part in parts if os.path.exists(part)) or "-"
    above = os.path.dirname(os.path.dirname(__file__))
    formulas = os.path.join(above, "primitives", "formulas")
    sources = [os.path.join(above, "compile", name) for name in ("emit.py", "emit_sizes.py")]
    sources += [os.path.join(formulas, name) for name in sorted(os.listdir(formulas)) if name.endswith(".py")]
    emission = b"".join(_read(name, 1 << 16) for name in sources)
    return f"{__version__} {binary} {hashlib.blake2b(emission, digest_size=6).hexdigest()}"


def _read(path: str, size: int) -> bytes:
    """The first bytes of a file; empty if the file does not exist."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, size)
    except OSError:
        return b""
    finally:
        os.close(file)


def _build(path: str) -> str:
    """The linker's build id of a shared object; without one, its size and time."""
    found = _build_id(_read(path, 4096))
    if found:
        return found
    try:
        status = os.stat(path)
    except OSError:
        return "-"
    return f"{status.st_size}.{status.st_mtime_ns}"


def _build_id(head: bytes) -> str:
    """The build id from the first page of a 64-bit ELF file, where linkers put the notes. Empty if it is not there."""
    if head[:5] != b"\x7fELF\x02":
        return ""

    def number(offset: int, size: int) -> int:
        return int.from_bytes(head[offset : offset + size], "little")

    table, entry, count = number(32, 8), number(54, 2), number(56, 2)
    for segment in [table + entry * index for index in range(count)]:
        offset = number(segment + 8, 8)
        end = min(offset + number(segment + 32, 8), len(head))
        while number(segment, 4) == _PT_NOTE and offset + 12 <= end:
            name, size, kind = (number(offset + at, 4) for at in (0, 4, 8))
            start = offset + 12 + (name + 3) // 4 * 4
            if (head[offset + 12 : offset + 12 + name], kind) == _BUILD_ID and start + size <= end:
                return head[start : start + size].hex()
            offset = start + (size + 3) // 4 * 4
    return ""


@functools.cache
def _processor() -> dict[str, str]:
    """Linux's description of the first processor, by name."""
    # The first processor is in this part. Reading all takes long on machines with many.
    first = _read("/proc/cpuinfo", 16384).partition(b"\n\n")[0].decode(errors="replace")
    said: dict[str, str] = {}
    for line in first.splitlines():
        name, _, value = line.partition(":")
        said[name.rstrip()] = value.strip()
    return said


def processor() -> str:
    """The model name of the processor, for people."""
    said = _processor()
    return said.get("model name") or said.get("CPU part") or os.uname().machine


def instruction_sets() -> str:
    """The processor's instruction sets for vectors, for people."""
    said = _processor()
    features = next((said[name] for name in _FEATURES if name in said), "").split()
    return " ".join(name for name in features if name.startswith(_VECTOR_SETS)) or "unknown"


@functools.cache
def target() -> str | None:
    """The processor: its model name, and a digest of all properties that affect code. None if the system does not
    describe it."""
    said = _processor()
    features = next((said[name] for name in _FEATURES if name in said), None)
    if features is None:
        return None
    machine = os.uname().machine
    exact = [machine, *(said.get(name, "") for name in _MODEL), *sorted(features.split()), *map(_cache, _CACHES)]
    digest = hashlib.blake2b("\n".join(exact).encode(), digest_size=8).hexdigest()
    return f"{machine} {said.get('model name') or said.get('CPU part', 'processor')} {digest}"


def _cache(which: int) -> str:
    try:
        return str(os.sysconf(which))
    except (OSError, ValueError):
        return "-"
