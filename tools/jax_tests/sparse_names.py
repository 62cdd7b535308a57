"""Private names of the inner modules of `jax.experimental.sparse` that tests use, by this package's functions of
arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental import sparse
from stand_ins import INNER

from pycompiler.experimental.sparse import bcoo_places, bcoo_products, bcsr, coo, csr, formats, linalg, rows


class SparseInfo(NamedTuple):
    """The static data of a BCOO."""

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


class COOInfo(NamedTuple):
    """The static data of a COO."""

    shape: tuple[int, ...]
    rows_sorted: bool = False
    cols_sorted: bool = False


def _index(dtype: Any) -> Any:
    return np.dtype(dtype)


def _bcoo_fromdense(
    mat: Any, *, nse: Any, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> tuple[Any, Any]:
    out = sparse.bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return out.data, out.indices


def _bcoo_todense(data: Any, indices: Any, *, spinfo: SparseInfo) -> Any:
    return bcoo_places.todense(data, indices, shape=tuple(spinfo.shape))


def _bcoo_dot_general(
    data: Any,
    indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
    lhs_spinfo: SparseInfo,
) -> Any:
    numbers = bcoo_products.canonical_numbers(dimension_numbers)
    return bcoo_products.dot_general(
        data, indices, rhs, shape=tuple(lhs_spinfo.shape), numbers=numbers, preferred=preferred_element_type
    )


def _bcsr_fromdense(mat: Any, **options: Any) -> tuple[Any, Any, Any]:
    out = sparse.bcsr_fromdense(mat, **options)
    return out.data, out.indices, out.indptr


def _csr_fromdense(mat: Any, *, nse: Any, index_dtype: Any = np.int32) -> tuple[Any, Any, Any]:
    return csr.fromdense(jax.numpy.asarray(mat), nse=int(nse), index_dtype=_index(index_dtype))


def _csr_product(data: Any, indices: Any, indptr: Any, v: Any, *, shape: Any, transpose: bool = False) -> Any:
    return rows.product(
        *map(jax.numpy.asarray, (data, indices, indptr, v)), size=shape[1 if transpose else 0], transpose=transpose
    )


def _coo_fromdense(mat: Any, *, nse: Any, index_dtype: Any = np.int32) -> tuple[Any, Any, Any]:
    return coo.fromdense(jax.numpy.asarray(mat), nse=int(nse), index_dtype=_index(index_dtype))


def _coo_product(data: Any, row: Any, col: Any, v: Any, *, spinfo: COOInfo, transpose: bool = False) -> Any:
    if transpose:
        row, col = col, row
    return coo.product(*map(jax.numpy.asarray, (data, row, col, v)), size=spinfo.shape[1 if transpose else 0])


SPARSE: dict[str, dict[str, Any]] = {
    INNER: {"CuSparseEfficiencyWarning": sparse.SparseEfficiencyWarning},
    f"{INNER}.linalg": {"lobpcg_standard": linalg.lobpcg_standard, "spsolve": linalg.spsolve},
    f"{INNER}._lowerings": {"SUPPORTED_DATA_DTYPES": [np.float32, np.float64, np.complex64, np.complex128]},
    f"{INNER}.bcoo": {
        "_bcoo_dot_general": _bcoo_dot_general,
        "_bcoo_extract": bcoo_places.extract,
        "_bcoo_fromdense": _bcoo_fromdense,
        "_bcoo_todense": _bcoo_todense,
    },
    f"{INNER}.bcsr": {
        "_bcoo_to_bcsr": lambda indices, *, shape, index_dtype: bcsr.compressed(indices, shape, _index(index_dtype)),
        "_bcsr_fromdense": _bcsr_fromdense,
        "_bcsr_to_bcoo": lambda indices, indptr, *, shape: bcsr.places_of(indices, indptr, shape),
    },
    f"{INNER}.coo": {
        "COOInfo": COOInfo,
        "_coo_fromdense": _coo_fromdense,
        "_coo_matmat": _coo_product,
        "_coo_matvec": _coo_product,
        "_coo_todense": lambda data, row, col, *, spinfo: coo.todense(data, row, col, shape=tuple(spinfo.shape)),
    },
    f"{INNER}.csr": {
        "_csr_fromdense": _csr_fromdense,
        "_csr_matmat": _csr_product,
        "_csr_matvec": _csr_product,
        "_csr_todense": lambda data, indices, indptr, *, shape: csr.todense(data, indices, indptr, shape=tuple(shape)),
    },
    f"{INNER}.util": {
        "CuSparseEfficiencyWarning": sparse.SparseEfficiencyWarning,
        "SparseInfo": SparseInfo,
        "_count_stored_elements": lambda mat, n_batch=0, n_dense=0: formats.count_stored(
            jax.numpy.asarray(mat), n_batch, n_dense
        ),
        "_csr_to_coo": lambda indices, indptr: (rows.rows_of(indices, indptr), indices),
    },
}
