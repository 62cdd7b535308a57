"""The C of a shared library: its header, for those who call it, and the source that is linked with its code.

Before `shared_object`, which compiles them; runtime/Exported.h is what the source fills in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pycompiler._runtime import ShapedArray
from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import short
from pycompiler.version import __version__

# The C type of an element, and how many of it an element takes; other dtypes are bits in an unsigned integer.
_TYPES: dict[str, tuple[str, int]] = {
    "bool": ("bool", 1),
    **{f"{sign}int{bits}": (f"{sign}int{bits}_t", 1) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("int1", "int2", "int4"), ("int8_t", 1)),
    **dict.fromkeys(("float16", "bfloat16"), ("uint16_t", 1)),
    "float32": ("float", 1),
    "float64": ("double", 1),
    "complex64": ("float", 2),
    "complex128": ("double", 2),
    dtypes.KEY.name: ("uint32_t", 2),
}

# Words of C and C++, and the name of a parameter of every function.
_WORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const constexpr continue
decltype default delete do double else enum explicit export extern false float for friend goto if inline int int8_t
int16_t int32_t int64_t long main mutable namespace new noexcept not nullptr operator or private protected public
register requires restrict return short signed sizeof static struct switch template this throw true try typedef typeid
typename uint8_t uint16_t uint32_t uint64_t union unsigned using virtual void volatile while workspace xor
"""
_KEYWORDS = frozenset(_WORDS.split())


def is_identifier(name: str) -> bool:
    """Whether C takes it for the name of a function."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and name not in _KEYWORDS


def identifiers(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Names of C, all different, for names such as `params['w'][0]`: params_w_0."""
    found: list[str] = []
    known = {name.lower() for name in taken}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "value"
        plain = plain if is_identifier(plain) else f"_{plain}".replace("__", "_")
        plain = f"{plain.strip('_')}_" if plain.strip("_") in _KEYWORDS else plain
        chosen, number = plain, 2
        # Macros are made of them, in capitals.
        while chosen.lower() in known:
            chosen, number = f"{plain}_{number}", number + 1
        found.append(chosen)
        known.add(chosen.lower())
    return found


@dataclass(frozen=True)
class Parameter:
    """An array of the signature."""

    name: str
    aval: ShapedArray

    @property
    def type(self) -> str:
        """Of its elements, in C."""
        return _TYPES.get(self.aval.dtype.name, ("uint8_t", 1))[0]

    @property
    def count(self) -> int:
        """How many of these there are."""
        return self.aval.size * _TYPES.get(self.aval.dtype.name, ("uint8_t", 1))[1]

    @property
    def about(self) -> str:
        """What a header says of it."""
        dtype = self.aval.dtype
        if dtypes.is_complex(dtype):
            return f"{short(self.aval)}: real and imaginary parts in turn"
        if dtypes.is_key(dtype):
            return f"{short(self.aval)}: two numbers a key"
        is_bits = dtype.name not in _TYPES or dtype.name in ("float16", "bfloat16")
        return f"{short(self.aval)}: the bits of {dtype.name}" if is_bits else short(self.aval)


@dataclass(frozen=True)
class Library:
    """All that a library's C says."""

    name: str
    # Of what was exported, and the processor that its code is for; for people.
    function: str
    processor: str
    arguments: Sequence[Parameter]
    results: Sequence[Parameter]
    const_files: Sequence[str]
    arena_bytes: int
    needs_lapack: bool
    sites: Sequence[tuple[str, str]]

    @property
    def workspace_bytes(self) -> int:
        """Of the temporaries, and of the results that are not computed in place."""
        return sum(map(_rounded, (self.arena_bytes, *(result.aval.nbytes for result in self.results)))) or _ALIGNMENT

    @property
    def declared(self) -> str:
        """The parameters of its function."""
        given = [f"const {one.type} *{one.name}" for one in self.arguments]
        given += [f"{one.type} *{one.name}" for one in self.results]
        return ", ".join(given)


# PCRT_ALIGNMENT.
_ALIGNMENT = 64


def _rounded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


_HEADER = """\
/* {function}, compiled by pycompiler {version} for {processor}.
 *
 * Arrays are dense and row-major. Arguments and results may lie wherever their element type may, a result in the
 * memory of an argument too. A result is computed in place, without a copy, where it is aligned to {upper}_ALIGNMENT
 * and touches no argument. Results must not overlap each other.
 *
 * All functions may be called by several threads at once. Loops are shared by a pool of threads, which starts with the
 * first one that is long enough: see {name}_set_num_threads.{lapack}
 */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Elements of the arrays. */
{sizes}

/* Bytes, and alignment, of a workspace. */
#define {upper}_WORKSPACE_BYTES {workspace}
#define {upper}_ALIGNMENT {alignment}

/* What a call returns: 0, or a number of which {name}_error_message says what it means. */
#define {upper}_OK 0

/* Arguments:
{arguments}
 * Results:
{results}
 */
int {name}({declared_alone});

/* The same; temporaries are put into the workspace, which no other call may use meanwhile, and nothing is allocated
 * that grows with the arrays. */
int {name}_with_workspace({declared}{comma}void *workspace);

/* What a number that a call returned means; and of which operation of the program, as "cholesky at model.py:12", or ""
 * where it is of none. Neither is to be freed. */
const char *{name}_error_message(int status);
const char *{name}_error_place(int status);

/* How many threads share a loop, the calling one among them; before the first call. Otherwise the environment's
 * PYCOMPILER_NUM_THREADS, or as many as there are cores for the process. */
int {name}_set_num_threads(int count);

#ifdef __cplusplus
}}
#endif

#endif
"""


def header(library: Library) -> str:
    """The text of the header."""
    upper = library.name.upper()
    every = (*library.arguments, *library.results)
    sizes = [f"#define {upper}_{one.name.upper()}_SIZE {one.count}" for one in every]

    def listed(parameters: Sequence[Parameter]) -> str:
        return "\n".join(f" *   {one.name}: {one.about}" for one in parameters) or " *   none"

    lapack = (
        "\n *\n * LAPACK is the system's: liblapack.so.3 or libopenblas.so.0, or the file that PYCOMPILER_LAPACK names."
        if library.needs_lapack
        else ""
    )
    return _HEADER.format(
        function=library.function.replace("*/", ""),
        version=__version__,
        processor=library.processor,
        name=library.name,
        upper=upper,
        guard=f"{upper}_H",
        lapack=lapack,
        sizes="\n".join(sizes) or "/* (none) */",
        workspace=library.workspace_bytes,
        alignment=_ALIGNMENT,
        arguments=listed(library.arguments),
        results=listed(library.results),
        declared=library.declared,
        declared_alone=library.declared or "void",
        comma=", " if every else "",
    )


_SOURCE = """\
#include "runtime/Exported.h"
#include "{header}"

#define PUBLIC __attribute__((visibility("default")))

extern int32_t pcrt_main(const PcrtFrame *frame);

{constants}
static const int64_t argBytes[] = {{{arg_bytes}}};
static const int64_t resultBytes[] = {{{result_bytes}}};
static const void *const consts[] = {{{consts}}};
static const char *const sites[] = {{{sites}}};
static const PcrtExported function = {{
    pcrt_main, {arg_count}, {const_count}, {result_count}, argBytes, resultBytes, consts, {arena_bytes}, {needs_lapack},
    {site_count}, sites, 0}};

PUBLIC int {name}_with_workspace({declared}{comma}void *workspace) {{
  const void *const args[] = {{{args}}};
  void *const results[] = {{{results}}};
  if (!workspace)
    return PCRT_EXPORTED_BAD_POINTER;
  return pcrtCallExported(&function, args, results, workspace);
}}

PUBLIC int {name}({declared_alone}) {{
  const void *const args[] = {{{args}}};
  void *const results[] = {{{results}}};
  return pcrtCallExported(&function, args, results, 0);
}}

PUBLIC const char *{name}_error_message(int status) {{ return pcrtExportedMessage(status); }}
PUBLIC const char *{name}_error_place(int status) {{ return pcrtExportedPlace(&function, status); }}
PUBLIC int {name}_set_num_threads(int count) {{ return pcrtExportedSetThreads(count); }}
"""


# The bytes of a file as a constant: the assembler reads the file.
_CONSTANT = """\
extern const char pcrt_const_{number}[] __attribute__((visibility("hidden")));
__asm__(".section .rodata\\n.balign {alignment}\\n.globl pcrt_const_{number}\\n.hidden pcrt_const_{number}\\n"
        "pcrt_const_{number}:\\n.incbin \\"{path}\\"\\n.previous");"""


def source(library: Library, header_name: str) -> str:
    """The text of the source. C has no empty arrays: where there is nothing, there is one zero."""
    constants = [
        _CONSTANT.format(number=number, path=path, alignment=_ALIGNMENT)
        for number, path in enumerate(library.const_files)
    ]
    sites = [_quoted(f"{primitive} at {place}" if place else primitive) for primitive, place in library.sites]
    return _SOURCE.format(
        header=header_name,
        name=library.name,
        constants="\n".join(constants),
        arg_bytes=_listed([one.aval.nbytes for one in library.arguments]),
        result_bytes=_listed([one.aval.nbytes for one in library.results]),
        consts=_listed([f"pcrt_const_{number}" for number in range(len(constants))]),
        sites=_listed(sites),
        arg_count=len(library.arguments),
        const_count=len(constants),
        result_count=len(library.results),
        arena_bytes=library.arena_bytes,
        needs_lapack=int(library.needs_lapack),
        site_count=len(sites),
        declared=library.declared,
        declared_alone=library.declared or "void",
        comma=", " if library.declared else "",
        args=_listed([one.name for one in library.arguments]),
        results=_listed([one.name for one in library.results]),
    )


def _listed(entries: Sequence[object]) -> str:
    return ", ".join(map(str, entries)) or "0"


def _quoted(text: str) -> str:
    """A string of C; what is no plain character of ASCII as its bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()
    )
    return f'"{plain}"'
