"""scipy.linalg: decompositions, systems of equations, functions of matrices and special matrices, by LAPACK.

Leading dimensions are batch dimensions unless the docstring names their sizes. Integers become the default float.
"""

from pycompiler.core.tracing.boundary import expose
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.linalg.decompositions import (
    cho_factor,
    cholesky,
    eigh,
    eigh_tridiagonal,
    hessenberg,
    lu,
    lu_factor,
    polar,
    qr,
    qr_multiply,
    rsf2csf,
    schur,
    svd,
)
from pycompiler.scipy.linalg.functions import (
    expm,
    expm_frechet,
    funm,
    sqrtm,
)
from pycompiler.scipy.linalg.matrices import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    leslie,
    pascal,
    toeplitz,
)
from pycompiler.scipy.linalg.solving import (
    cho_solve,
    det,
    inv,
    lu_solve,
    solve,
    solve_sylvester,
    solve_triangular,
)

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "leslie",
    "lu",
    "lu_factor",
    "lu_solve",
    "pascal",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]

expose(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
