"""The C code of a shared library: the header for users, and the source that is linked with the compiled code.

`shared_object` imports this module and compiles the source. The source fills in the structures of runtime/Exported.h.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycompiler._runtime import ShapedArray
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import short
from pycompiler.export.c_sizes import Size, elements
from pycompiler.version import __version__

# The C type of an element, and the number of C elements for it. Other dtypes are bits in unsigned integers.
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

# Keywords and predefined macros of C and C++, and the parameter name `workspace`.
_WORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const constexpr continue
decltype default delete do double else enum explicit export extern false float for friend goto if inline int int8_t
int16_t int32_t int64_t linux long main mutable namespace new noexcept not nullptr operator or private protected public
register requires restrict return short signed sizeof static struct switch template this thread_local throw true try
typedef typeid typename typeof uint8_t uint16_t uint32_t uint64_t union unix unsigned using virtual void volatile
wchar_t while workspace xor
"""
_KEYWORDS = frozenset(_WORDS.split())


def is_identifier(name: str) -> bool:
    """Whether C accepts a text as the name of a function. Names that begin with pcrt belong to the source itself."""
    is_word = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    return is_word and name not in _KEYWORDS and not name.lower().startswith("pcrt")


def identifiers(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Distinct C names, for names such as `params['w'][0]`: params_w_0."""
    found: list[str] = []
    known = {name.lower() for name in taken}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "value"
        plain = plain if is_identifier(plain) else f"_{plain}".replace("__", "_")
        plain = f"{plain.strip('_')}_" if plain.strip("_") in _KEYWORDS else plain
        chosen, number = plain, 2
        # Macros have these names in capitals.
        while chosen.lower() in known:
            chosen, number = f"{plain}_{number}", number + 1
        found.append(chosen)
        known.add(chosen.lower())
    return found


@dataclass(frozen=True)
class Parameter:
    """An array in the signature."""

    name: str
    aval: ShapedArray

    @property
    def type(self) -> str:
        """The C type of its elements."""
        return _TYPES.get(self.aval.dtype.name, ("uint8_t", 1))[0]

    def count(self, names: Mapping[str, str]) -> str:
        """The number of its C elements, as a C expression. `names` has the parameters for the symbols' sizes."""
        return elements(self.aval.shape, names, _TYPES.get(self.aval.dtype.name, ("uint8_t", 1))[1])

    def bytes(self, names: Mapping[str, str]) -> str:
        """The number of its bytes, as a C expression."""
        return elements(self.aval.shape, names, self.aval.dtype.itemsize)

    @property
    def about(self) -> str:
        """The description in the header."""
        dtype = self.aval.dtype
        if dtypes.is_complex(dtype):
            return f"{short(self.aval)}: real and imaginary parts in turn"
        if dtypes.is_key(dtype):
            return f"{short(self.aval)}: two numbers a key"
        is_bits = dtype.name not in _TYPES or dtype.name in ("float16", "bfloat16")
        return f"{short(self.aval)}: the bits of {dtype.name}" if is_bits else short(self.aval)


@dataclass(frozen=True)
class Library:
    """The contents of a library's C code."""

    name: str
    # The exported function, and the processor of the code, for readers.
    function: str
    processor: str
    arguments: Sequence[Parameter]
    results: Sequence[Parameter]
    const_files: Sequence[str]
    arena_bytes: int
    needs_lapack: bool
    sites: Sequence[tuple[str, str]]
    # The symbols in the shapes of arrays, in the order of their numbers.
    sizes: Sequence[Size] = ()

    @property
    def size_names(self) -> dict[str, str]:
        """The name of the parameter for the size of each symbol."""
        return {size.symbol.name: size.name for size in self.sizes}

    @property
    def workspace_bytes(self) -> int:
        """The bytes of the temporaries, and of the results that are not computed in place."""
        return sum(map(_rounded, (self.arena_bytes, *(result.aval.nbytes for result in self.results)))) or _ALIGNMENT

    @property
    def declared_sizes(self) -> str:
        """The parameters for sizes."""
        return ", ".join(f"int64_t {size.name}" for size in self.sizes)

    @property
    def declared(self) -> str:
        """The parameters of the function."""
        given = [f"int64_t {size.name}" for size in self.sizes]
        given += [f"const {one.type} *{one.name}" for one in self.arguments]
        given += [f"{one.type} *{one.name}" for one in self.results]
        return ", ".join(given)


# PCRT_ALIGNMENT.
_ALIGNMENT = 64


def _rounded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


_HEADER = """\
/* {function}, compiled by pycompiler {version} for {processor}.
 *
 * Arrays are dense and row-major. Arguments and results need the alignment of their element type. A result may lie in
 * the memory of an argument. A result is computed in place, without a copy, if it is aligned to {upper}_ALIGNMENT and
 * overlaps no argument. Results must not overlap each other.
 *
 * Several threads may call all functions at the same time. A pool of threads shares loops. It starts with the first
 * long loop: see {name}_set_num_threads.{lapack}
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

/* The bytes and the alignment of a workspace. */
{workspace}
#define {upper}_ALIGNMENT {alignment}

/* The status of a successful call. Other numbers are errors: see {name}_error_message. */
#define {upper}_OK 0

/* Arguments:
{listed_sizes}{arguments}
 * Results:
{results}
 */
int {name}({declared_alone});

/* The same, with temporaries in the workspace. No other call may use the workspace at the same time. The call allocates
 * no memory that grows with the arrays. */
int {name}_with_workspace({declared}{comma}void *workspace);

/* The meaning of a number that a call returned, and the operation of the program that failed, as
 * "cholesky at model.py:12", or "" if no operation failed. The caller must not free them. */
const char *{name}_error_message(int status);
const char *{name}_error_place(int status);

/* Set the number of threads that share a loop, including the calling one, before the first call. The default is
 * PYCOMPILER_NUM_THREADS in the environment, or the number of cores of the process. */
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
    given = f"({', '.join(size.name for size in library.sizes)})" if library.sizes else ""
    names = {symbol: f"({name})" for symbol, name in library.size_names.items()}
    sizes = [f"#define {upper}_{one.name.upper()}_SIZE{given} {one.count(names)}" for one in every]
    listed_sizes = "".join(f" *   {size.name}: {size.about}\n" for size in library.sizes)

    def listed(parameters: Sequence[Parameter]) -> str:
        return "\n".join(f" *   {one.name}: {one.about}" for one in parameters) or " *   none"

    lapack = (
        "\n *\n * LAPACK is that of the system: liblapack.so.3 or libopenblas.so.0, or the file in PYCOMPILER_LAPACK."
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
        workspace=(
            f"int64_t {library.name}_workspace_bytes({library.declared_sizes});"
            if library.sizes
            else f"#define {upper}_WORKSPACE_BYTES {library.workspace_bytes}"
        ),
        listed_sizes=listed_sizes,
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

#define PCRT_PUBLIC __attribute__((visibility("default")))

extern int32_t pcrt_main(const PcrtFrame *frame);

{constants}
static const int64_t pcrt_arg_bytes[] = {{{arg_bytes}}};
static const int64_t pcrt_result_bytes[] = {{{result_bytes}}};
static const void *const pcrt_consts[] = {{{consts}}};
static const char *const pcrt_sites[] = {{{sites}}};
static const PcrtExported pcrt_function = {{
    pcrt_main, {arg_count}, {const_count}, {result_count}, pcrt_arg_bytes, pcrt_result_bytes, pcrt_consts,
    {arena_bytes}, {needs_lapack}, {site_count}, pcrt_sites, 0}};

{functions}
PCRT_PUBLIC const char *{name}_error_message(int status) {{ return pcrtExportedMessage(status); }}
PCRT_PUBLIC const char *{name}_error_place(int status) {{ return pcrtExportedPlace(&pcrt_function, status); }}
PCRT_PUBLIC int {name}_set_num_threads(int count) {{ return pcrtExportedSetThreads(count); }}
"""

_CALLS = """\
PCRT_PUBLIC int {name}_with_workspace({declared}{comma}void *workspace) {{
  const void *const pcrt_args[] = {{{args}}};
  void *const pcrt_results[] = {{{results}}};
  if (!workspace)
    return PCRT_EXPORTED_BAD_POINTER;
  return pcrtCallExported(&pcrt_function, pcrt_args, pcrt_results, workspace);
}}

PCRT_PUBLIC int {name}({declared_alone}) {{
  const void *const pcrt_args[] = {{{args}}};
  void *const pcrt_results[] = {{{results}}};
  return pcrtCallExported(&pcrt_function, pcrt_args, pcrt_results, 0);
}}
"""

# For functions with arrays whose sizes a call gives. The constant structure then has no byte counts of arrays.
_SIZED_CALLS = """\
extern int64_t pcrt_plan(const int64_t *pcrt_sizes);

static int pcrt_is_refused({declared_sizes}) {{ return {refused}; }}

static int64_t pcrt_rounded(int64_t pcrt_bytes) {{ return (pcrt_bytes + {alignment} - 1) / {alignment} * {alignment}; }}

static int pcrt_run({declared_sizes}, const void *const *pcrt_args, void *const *pcrt_results, void *workspace) {{
  if (pcrt_is_refused({size_names}))
    return PCRT_EXPORTED_BAD_SIZE;
  const int64_t pcrt_sizes[] = {{{size_names}}};
  const int64_t pcrt_arg_sizes[] = {{{arg_sizes}}}, pcrt_result_sizes[] = {{{result_sizes}}};
  PcrtExported pcrt_sized = pcrt_function;
  pcrt_sized.argBytes = pcrt_arg_sizes;
  pcrt_sized.resultBytes = pcrt_result_sizes;
  pcrt_sized.sizes = pcrt_sizes;
  pcrt_sized.arenaBytes = pcrt_plan(pcrt_sizes);
  if (pcrt_sized.arenaBytes < 0)
    return PCRT_EXPORTED_BAD_SIZE;
  return pcrtCallExported(&pcrt_sized, pcrt_args, pcrt_results, workspace);
}}

PCRT_PUBLIC int64_t {name}_workspace_bytes({declared_sizes}) {{
  if (pcrt_is_refused({size_names}))
    return -1;
  const int64_t pcrt_sizes[] = {{{size_names}}}, pcrt_bytes[] = {{{result_sizes}}};
  int64_t pcrt_total = pcrt_plan(pcrt_sizes);
  if (pcrt_total < 0)
    return -1;
  pcrt_total = pcrt_rounded(pcrt_total);
  for (int pcrt_i = 0; pcrt_i < {result_count}; ++pcrt_i)
    pcrt_total += pcrt_rounded(pcrt_bytes[pcrt_i]);
  return pcrt_total ? pcrt_total : {alignment};
}}

PCRT_PUBLIC int {name}_with_workspace({declared}{comma}void *workspace) {{
  const void *const pcrt_args[] = {{{args}}};
  void *const pcrt_results[] = {{{results}}};
  return workspace ? pcrt_run({size_names}, pcrt_args, pcrt_results, workspace) : PCRT_EXPORTED_BAD_POINTER;
}}

PCRT_PUBLIC int {name}({declared_alone}) {{
  const void *const pcrt_args[] = {{{args}}};
  void *const pcrt_results[] = {{{results}}};
  return pcrt_run({size_names}, pcrt_args, pcrt_results, 0);
}}
"""


# The bytes of a file as a constant. The assembler reads the file.
_CONSTANT = """\
extern const char pcrt_const_{number}[] __attribute__((visibility("hidden")));
__asm__(".section .rodata\\n.balign {alignment}\\n.globl pcrt_const_{number}\\n.hidden pcrt_const_{number}\\n"
        "pcrt_const_{number}:\\n.incbin \\"{path}\\"\\n.previous");"""


def source(library: Library, header_name: str) -> str:
    """The text of the source. C has no empty arrays: an empty list becomes one zero."""
    constants = [
        _CONSTANT.format(number=number, path=path, alignment=_ALIGNMENT)
        for number, path in enumerate(library.const_files)
    ]
    sites = [_quoted(f"{primitive} at {place}" if place else primitive) for primitive, place in library.sites]
    names = library.size_names
    arg_bytes, result_bytes = (
        _listed([one.bytes(names) for one in part]) for part in (library.arguments, library.results)
    )
    functions = (_SIZED_CALLS if library.sizes else _CALLS).format(
        name=library.name,
        declared=library.declared,
        declared_alone=library.declared or "void",
        declared_sizes=library.declared_sizes,
        refused=" || ".join(size.refused for size in library.sizes),
        size_names=", ".join(names.values()),
        arg_sizes=arg_bytes,
        result_sizes=result_bytes,
        result_count=len(library.results),
        alignment=_ALIGNMENT,
        comma=", " if library.declared else "",
        args=_listed([one.name for one in library.arguments]),
        results=_listed([one.name for one in library.results]),
    )
    return _SOURCE.format(
        functions=functions,
        header=header_name,
        name=library.name,
        constants="\n".join(constants),
        # A call fills in the byte counts of arrays with symbolic sizes.
        arg_bytes="0" if library.sizes else arg_bytes,
        result_bytes="0" if library.sizes else result_bytes,
        consts=_listed([f"pcrt_const_{number}" for number in range(len(constants))]),
        sites=_listed(sites),
        arg_count=len(library.arguments),
        const_count=len(constants),
        result_count=len(library.results),
        arena_bytes=library.arena_bytes,
        needs_lapack=int(library.needs_lapack),
        site_count=len(sites),
    )


def _listed(entries: Sequence[object]) -> str:
    return ", ".join(map(str, entries)) or "0"


def _quoted(text: str) -> str:
    """A string literal of C. Characters other than printable ASCII are written as bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()
    )
    return f'"{plain}"'
