"""The table of primitives, joined from one file for each family.

Stands between core, whose interpreters run the rules, and lax and numpy, which compose. The families, each building on
those before it: shape, elementwise, compare, complex, arithmetic, bits, math, creation, movement, reduction,
contraction, gather, indexing, sort, random, fft, special, cumulative, window, convolution; then the rooms `linalg`,
`collective`, `control` (loops, branches, solvers, callbacks) and `spmd` (shard_map, placement). `rules` and
`linalg.rules` hold what entries are built from. To add an operation is to add an entry to its family's TABLE, an op of
the same name to the dialect, and its lowering.
"""

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.ops import (
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
from pycompiler.ops.collective import exchange, reductions, sending
from pycompiler.ops.control import cond, scan, while_loop
from pycompiler.ops.linalg import eigenvalues, factorizations, orthogonal, spectral

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

# Those over named axes: equations of graphs, which the trace of the axis replaces, and no ops of the dialect.
COLLECTIVES: dict[str, Primitive] = {
    entry.name: entry for family in (reductions, exchange, sending) for entry in family.TABLE
}

# Those behind which LAPACK stands.
_LAPACK = (factorizations, orthogonal, spectral, eigenvalues)
DECOMPOSITIONS = frozenset(entry.name for family in _LAPACK for entry in family.TABLE)

# Parameters that are not attributes in the dialect, where the result's type says them (or, weak_type, nothing does).
TYPE_PARAMS = frozenset({"shape", "new_sizes", "new_dtype", "dtype", "preferred_element_type", "weak_type"})

# Parameters that no op needs and a compiler may heed: attributes of the dialect itself.
WISH_PARAMS = {"precision": "array.precision"}
