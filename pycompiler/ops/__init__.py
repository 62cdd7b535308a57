"""The table of primitives, joined from one file for each family.

Stands between core, whose interpreters run the rules, and lax and numpy, which compose. The families, each building on
those before it: shape, elementwise, compare, complex, arithmetic, bits, math, creation, movement, reduction,
contraction, gather, indexing, sort, random, fft, linalg and its parts, special, cumulative, window, convolution,
control, cond, scan, collective, exchange, sending; `rules` and `linalg_rules` hold what they are built from, `graphs`,
`residuals`, `products`, `accumulate` and `segments` what the loops and branches are. To add an operation is to add an
entry to its family's TABLE, an op of the same name to the dialect, and its lowering.
"""

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.ops import (
    arithmetic,
    bits,
    collective,
    compare,
    complex,
    cond,
    contraction,
    control,
    convolution,
    creation,
    cumulative,
    elementwise,
    exchange,
    fft,
    gather,
    indexing,
    linalg,
    linalg_complex,
    linalg_orthogonal,
    linalg_spectral,
    math,
    movement,
    random,
    reduction,
    scan,
    sending,
    shape,
    sort,
    special,
    window,
)

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
    linalg,
    linalg_orthogonal,
    linalg_spectral,
    special,
    cumulative,
    window,
    convolution,
    control,
    cond,
    scan,
    linalg_complex,
)

PRIMITIVES: dict[str, Primitive] = {entry.name: entry for family in _FAMILIES for entry in family.TABLE}

# Those over named axes: equations of graphs, which the trace of the axis replaces, and no ops of the dialect.
COLLECTIVES: dict[str, Primitive] = {
    entry.name: entry for family in (collective, exchange, sending) for entry in family.TABLE
}

# Those behind which LAPACK stands.
_LAPACK = (linalg, linalg_orthogonal, linalg_spectral, linalg_complex)
DECOMPOSITIONS = frozenset(entry.name for family in _LAPACK for entry in family.TABLE)

# Parameters that are not attributes in the dialect, where the result's type says them (or, weak_type, nothing does).
TYPE_PARAMS = frozenset({"shape", "new_sizes", "new_dtype", "dtype", "preferred_element_type", "weak_type"})

# Parameters that no op needs and a compiler may heed: attributes of the dialect itself.
WISH_PARAMS = {"precision": "array.precision"}
