"""Sparse matrices under transformations: `BCOO`, coordinates with batch axes, `BCSR`, `COO`, `CSR`, `CSC`.

Matrices are trees of arrays, so compiled functions take and return them; `grad`, `jacfwd` and similar functions of this
module differentiate by their stored elements. `sparsify` makes a function of dense arrays accept sparse matrices.

>>> import pycompiler as pc, pycompiler.numpy as pnp
>>> from pycompiler.experimental import sparse
>>> m = sparse.BCOO.fromdense(pnp.array([[0.0, 1.0], [2.0, 0.0]]))
>>> pc.jit(lambda m, x: m.T @ x)(m, pnp.array([3.0, 4.0]))
Array([8., 3.], dtype=float32)
>>> sparse.sparsify(lambda m, x: pnp.sin(m) @ x)(m, pnp.zeros(2))
Array([0., 0.], dtype=float32)
"""

from typing import TYPE_CHECKING

from pycompiler.core.tracing.boundary import protect
from pycompiler.experimental.sparse import methods as methods  # attaches the methods of BCOO and BCSR
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcoo_parts import (
    bcoo_conv_general_dilated,
    bcoo_dynamic_slice,
    bcoo_gather,
    bcoo_reduce_sum,
    bcoo_slice,
)
from pycompiler.experimental.sparse.bcoo_places import (
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_update_layout,
)
from pycompiler.experimental.sparse.bcoo_products import (
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
)
from pycompiler.experimental.sparse.bcoo_shapes import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_transpose,
)
from pycompiler.experimental.sparse.bcsr import (
    BCSR,
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from pycompiler.experimental.sparse.coo import COO, coo_fromdense, coo_matmat, coo_matvec, coo_todense
from pycompiler.experimental.sparse.creation import empty, eye, random_bcoo
from pycompiler.experimental.sparse.csr import CSC, CSR, csr_fromdense, csr_matmat, csr_matvec, csr_todense
from pycompiler.experimental.sparse.derivatives import grad, jacfwd, jacobian, jacrev, value_and_grad
from pycompiler.experimental.sparse.formats import JAXSparse, SparseEfficiencyError, SparseEfficiencyWarning
from pycompiler.experimental.sparse.transform import sparsify, todense
from pycompiler.lax.names import nearest_name

if TYPE_CHECKING:
    from pycompiler.experimental.sparse import linalg as linalg

__all__ = [
    "BCOO",
    "BCSR",
    "COO",
    "CSC",
    "CSR",
    "JAXSparse",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_conv_general_dilated",
    "bcoo_dot_general",
    "bcoo_dot_general_sampled",
    "bcoo_dynamic_slice",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_gather",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
    "bcsr_broadcast_in_dim",
    "bcsr_concatenate",
    "bcsr_dot_general",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_sum_duplicates",
    "bcsr_todense",
    "coo_fromdense",
    "coo_matmat",
    "coo_matvec",
    "coo_todense",
    "csr_fromdense",
    "csr_matmat",
    "csr_matvec",
    "csr_todense",
    "empty",
    "eye",
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "random_bcoo",
    "sparsify",
    "todense",
    "value_and_grad",
]

protect(globals(), __all__)
__all__ += ["linalg"]
__getattr__ = nearest_name(__name__, __all__, later=("linalg",))
