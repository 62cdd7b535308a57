"""The table of primitives, joined from one file for each family.

Core's interpreters run the rules; lax and numpy compose the primitives. The families, in the order of their imports:
shape, elementwise, compare, complex, arithmetic, bits, math, creation, movement, reduction, contraction, gather,
indexing, sort, random, fft, special, cumulative, window, convolution; then the folders `linalg`, `collective`,
`control` (loops, branches, solvers, callbacks) and `spmd` (shard_map, placement). `rules` and `linalg.rules` have
helpers for entries. To add an operation, add an entry to its family's TABLE, an op of the same name to the dialect, and
its lowering.
"""

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives import (
    arithmetic,
    bits,
    compare,
    complex,
    contraction,
    convolution,
    creation,
    cumulative,
    elementwise,
    fft,
    gather,
    indexing,
    math,
    movement,
    random,
    reduction,
    shape,
    sort,
    special,
    window,
)
from pycompiler.primitives.collective import exchange, reductions, sending
from pycompiler.primitives.control import cond, scan, while_loop
from pycompiler.primitives.linalg import eigenvalues, factorizations, orthogonal, spectral

_FAMILIES = (
    shape,
    elementwise,
    compare,
    complex,
    arithmetic,
    bits,
    math,
    creation,
    movement,
    reduction,
    contraction,
    gather,
    indexing,
    sort,
    random,
    fft,
    factorizations,
    orthogonal,
    spectral,
    special,
    cumulative,
    window,
    convolution,
    while_loop,
    cond,
    scan,
    eigenvalues,
)

PRIMITIVES: dict[str, Primitive] = {entry.name: entry for family in _FAMILIES for entry in family.TABLE}

# Primitives over named axes: equations of graphs that the trace of the axis replaces. The dialect has no ops for them.
COLLECTIVES: dict[str, Primitive] = {
    entry.name: entry for family in (reductions, exchange, sending) for entry in family.TABLE
}

# The families that LAPACK computes.
_LAPACK = (factorizations, orthogonal, spectral, eigenvalues)
DECOMPOSITIONS = frozenset(entry.name for family in _LAPACK for entry in family.TABLE)

# Parameters that are no attributes in the dialect: the type of the result has them (weak_type has no counterpart).
TYPE_PARAMS = frozenset({"shape", "new_sizes", "new_dtype", "dtype", "preferred_element_type", "weak_type"})

# Parameters that are only hints: no op needs them, the compiler may use them. They become attributes of the dialect.
WISH_PARAMS = {"precision": "array.precision"}
