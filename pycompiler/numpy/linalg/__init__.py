"""numpy.linalg: decompositions, systems of equations, norms and products of stacks of matrices, by LAPACK.

All leading dimensions are batch dimensions. Integers are converted to the default float; float16 and bfloat16 are
refused. A failure (a singular matrix, no convergence) gives nan or infinities, and no error.
"""

from typing import NoReturn

from pycompiler.core.tracing.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.numpy.linalg.decompositions import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from pycompiler.numpy.linalg.determinants import det, slogdet
from pycompiler.numpy.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from pycompiler.numpy.linalg.products import (
    cross,
    diagonal,
    matmul,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from pycompiler.numpy.linalg.solving import (
    inv,
    lstsq,
    matrix_power,
    pinv,
    solve,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

expose(globals(), __all__)
_missing = nearest_name(__name__, __all__)


def __getattr__(name: str) -> NoReturn:
    _missing(name)
