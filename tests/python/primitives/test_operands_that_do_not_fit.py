"""Shape rules refuse operands and parameters that do not fit, whoever binds a primitive: the package's functions, or an
interpreter of graphs that binds the operations again."""

import re

import numpy as np
import pytest

import pycompiler as pc
from pycompiler.core.errors import ArgumentError
from pycompiler.primitives import PRIMITIVES

KEY = pc.random.key(0)
F = np.zeros(3, np.float32)
M = np.zeros((2, 3), np.float32)
I = np.zeros(3, np.int32)  # noqa: E741
S = np.float32(0)

SLICE = {"start_indices": (0, 0), "limit_indices": (1, 1), "strides": (1, 1)}
PAD = {"low": (0,), "high": (0,), "interior": (0,)}
DOT = {"lhs_contracting": (0,), "rhs_contracting": (0,), "lhs_batch": (), "rhs_batch": ()}
DOT["preferred_element_type"] = np.dtype("float32")
CONV = {
    "lhs_spec": (0, 1, 2),
    "rhs_spec": (0, 1, 2),
    "out_spec": (0, 1, 2),
    "window_strides": (1,),
    "low": (0,),
    "high": (0,),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "feature_group_count": 1,
    "batch_group_count": 1,
}
IMAGES, FILTERS = np.zeros((4, 2, 8), np.float32), np.zeros((3, 2, 3), np.float32)
WINDOW = {
    "window_dimensions": (2,),
    "window_strides": (1,),
    "low": (0,),
    "high": (0,),
    "base_dilation": (1,),
    "window_dilation": (1,),
}
GATHER = {
    "offset_dims": (),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "operand_batching_dims": (),
    "start_indices_batching_dims": (),
    "slice_sizes": (1,),
    "mode": "clip",
    "indices_are_sorted": False,
    "unique_indices": False,
}
SCATTER = {
    "update_window_dims": (),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "operand_batching_dims": (),
    "scatter_indices_batching_dims": (),
    "kind": "set",
    "mode": "clip",
    "indices_are_sorted": False,
    "unique_indices": False,
}
SQUARE = np.zeros((3, 3), np.float32)

# name of the primitive, operands, parameters, error, the whole message
BAD = [
    ("add", (F, I), {}, TypeError, "add: dtypes differ: f32[3] and i32[3]"),
    ("add", (F, M), {}, ArgumentError, "add: shapes differ: f32[3] and f32[2,3]"),
    ("add", (F > 0, F > 0), {}, TypeError, "add: takes numbers, got bool[3] and bool[3]; on bools use `or`"),
    (
        "broadcast_in_dim",
        (F,),
        {"shape": (2, 3), "broadcast_dimensions": ()},
        ArgumentError,
        "broadcast_in_dim: f32[3] has 1 dimensions, broadcast_dimensions () has 0",
    ),
    (
        "broadcast_in_dim",
        (M,),
        {"shape": (2, 3), "broadcast_dimensions": (1, 0)},
        ArgumentError,
        "broadcast_in_dim: broadcast_dimensions (1, 0) must increase, from 0 to 1",
    ),
    (
        "broadcast_in_dim",
        (F,),
        {"shape": (2, 3), "broadcast_dimensions": (0,)},
        ArgumentError,
        "broadcast_in_dim: axis 0 of f32[3] is neither 1 nor axis 0 of (2, 3)",
    ),
    (
        "transpose",
        (M,),
        {"permutation": (0, 0)},
        ArgumentError,
        "transpose: (0, 0) is not a permutation of the 2 axes of f32[2,3]",
    ),
    (
        "reduce_sum",
        (M,),
        {"axes": (0, 2)},
        ValueError,
        "reduce_sum: axes (0, 2) must be different axes of f32[2,3]",
    ),
    ("reduce_sum", (KEY,), {"axes": ()}, TypeError, "reduce_sum: takes numbers, got key<fry>[]"),
    (
        "reduce_sum",
        (F > 0,),
        {"axes": (0,)},
        TypeError,
        "reduce_sum: takes numbers, got bool[3]; convert them to count, reduce_or says whether any is true",
    ),
    (
        "convert",
        (KEY,),
        {"new_dtype": np.dtype("float32")},
        TypeError,
        "convert: keys of random numbers are no numbers, got key<fry>[] to convert to float32",
    ),
    (
        "bitcast",
        (F,),
        {"new_dtype": np.dtype("int8")},
        TypeError,
        "bitcast: cannot read f32[3] as int8: their elements have to be equally wide, and not bool or complex",
    ),
    ("complex", (I, I), {}, TypeError, "complex: takes parts of f32 or f64, got i32[3]"),
    (
        "mul",
        (F, I),
        {},
        TypeError,
        "mul: dtypes differ: f32[3] and i32[3]; convert one to the dtype of the other",
    ),
    (
        "dot_general",
        (F, F),
        {**DOT, "rhs_contracting": ()},
        ArgumentError,
        "dot_general: contracting dimensions (0,) of f32[3] and () of f32[3] differ in number",
    ),
    (
        "dot_general",
        (F, F),
        {**DOT, "lhs_contracting": (1,)},
        ArgumentError,
        "dot_general: dimensions of lhs (1,) must be distinct and in range(1)",
    ),
    ("slice", (F,), SLICE, ValueError, "slice: f32[3] has 1 dimensions; got 2 starts, 2 limits and 2 strides"),
    (
        "slice",
        (M,),
        {**SLICE, "limit_indices": (3, 1)},
        ArgumentError,
        "slice: axis 0 of f32[2,3]: needs 0 <= start <= limit <= 2 and stride >= 1, got 0:3:1",
    ),
    ("pad", (F, F), PAD, ArgumentError, "pad: the value must be a scalar, got f32[3]"),
    (
        "pad",
        (M, S),
        PAD,
        ValueError,
        "pad: f32[2,3] has 2 dimensions; got low (0,), high (0,), interior (0,)",
    ),
    (
        "pad",
        (F, S),
        {**PAD, "low": (-4,)},
        ValueError,
        "pad: axis 0 of f32[3]: low -4, high 0, interior 0 leave -1 elements; the interior must not be negative, "
        "low and high must not take more than there is",
    ),
    ("concatenate", (), {"dimension": 0}, ValueError, "concatenate: needs at least one array"),
    (
        "argmax",
        (np.zeros((2, 0), np.float32),),
        {"axis": 1, "index_dtype": np.dtype("int32")},
        ValueError,
        "argmax: axis 1 of f32[2,0] is empty",
    ),
    (
        "fft",
        (F,),
        {"fft_type": "HFFT", "fft_lengths": (3,)},
        ValueError,
        "fft: fft_type must be one of FFT, IFFT, RFFT, IRFFT, got 'HFFT'",
    ),
    (
        "fft",
        (F,),
        {"fft_type": "RFFT", "fft_lengths": (3, 3)},
        ValueError,
        "fft: takes 1 to 1 fft_lengths for f32[3], got (3, 3)",
    ),
    (
        "fft",
        (F.astype(np.float16),),
        {"fft_type": "RFFT", "fft_lengths": (3,)},
        TypeError,
        "fft: RFFT takes float32 or float64, got f16[3]",
    ),
    (
        "dynamic_slice",
        (M, np.int32(0)),
        {"slice_sizes": (1, 1)},
        ArgumentError,
        "dynamic_slice: f32[2,3] has 2 dimensions, got 1 starts",
    ),
    (
        "dynamic_slice",
        (F, I),
        {"slice_sizes": (1,)},
        TypeError,
        "dynamic_slice: a start must be a scalar integer, got i32[3]",
    ),
    (
        "dynamic_slice",
        (F, np.int32(0)),
        {"slice_sizes": (4,)},
        ArgumentError,
        "dynamic_slice: slice_sizes (4,) do not fit into f32[3]",
    ),
    (
        "dynamic_update_slice",
        (F, np.zeros(4, np.float32), np.int32(0)),
        {},
        ArgumentError,
        "dynamic_update_slice: the update f32[4] does not fit into f32[3]",
    ),
    (
        "gather",
        (F, I),
        {**GATHER, "mode": "wrap"},
        ArgumentError,
        "gather: mode is one of clip, fill, promise_in_bounds, got 'wrap'",
    ),
    (
        "gather",
        (F,),
        GATHER,
        ArgumentError,
        "gather: 0 indices for the dimensions (0,) of f32[3]; it needs one for each",
    ),
    ("gather", (F, F), GATHER, TypeError, "gather: an index is int32 or int64, got f32[3]"),
    (
        "gather",
        (F, I, I[0]),
        {**GATHER, "mode": "fill"},
        TypeError,
        "gather: the fill must be a scalar of the dtype of f32[3], got i32[]",
    ),
    (
        "gather",
        (M, I),
        {**GATHER, "slice_sizes": (1, 3), "offset_dims": ()},
        ArgumentError,
        "gather: offset_dims () must name 1 dimensions, those of a window",
    ),
    (
        "gather",
        (M[None], I, I),
        {
            **GATHER,
            "slice_sizes": (1, 1, 3),
            "collapsed_slice_dims": (1, 0),
            "start_index_map": (0, 1),
            "offset_dims": (1,),
        },
        ArgumentError,
        "gather: collapsed_slice_dims (1, 0) must increase",
    ),
    (
        "gather",
        (M, I),
        {
            **GATHER,
            "slice_sizes": (1, 1),
            "collapsed_slice_dims": (1,),
            "start_index_map": (1,),
            "operand_batching_dims": (0,),
            "start_indices_batching_dims": (0,),
        },
        ArgumentError,
        "gather: the batching dimensions (0,) of f32[2,3] and (0,) of the indices (3,) differ",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "feature_group_count": 0},
        ValueError,
        "conv_general_dilated: feature_group_count and batch_group_count must be at least 1, and one of them 1; got 0 "
        "and 1",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "batch_group_count": 2},
        ValueError,
        "conv_general_dilated: output features (3) must be a multiple of the number of groups, 2",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS[0]),
        CONV,
        ArgumentError,
        "conv_general_dilated: takes arrays of one number of dimensions, at least 2: got f32[4,2,8] and f32[2,3]",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "out_spec": (0, 0, 2)},
        ValueError,
        "conv_general_dilated: a spec must be a permutation of 3 dimensions, got (0, 0, 2)",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "low": (0, 0)},
        ValueError,
        "conv_general_dilated: padding must have 1 entries for f32[4,2,8]",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "window_strides": (0,)},
        ValueError,
        "conv_general_dilated: window_strides must be at least 1, got (0,)",
    ),
    (
        "conv_general_dilated",
        (IMAGES, FILTERS),
        {**CONV, "low": (-9,)},
        ValueError,
        "conv_general_dilated: padding (-9, 0) takes more than the 8 elements of f32[4,2,8]",
    ),
    (
        "reduce_window_sum",
        (M,),
        WINDOW,
        ArgumentError,
        "reduce_window_sum: f32[2,3] has 2 dimensions; got window_dimensions (2,), window_strides (1,), padding "
        "((0, 0),), base_dilation (1,), window_dilation (1,)",
    ),
    (
        "reduce_window_sum",
        (F,),
        {**WINDOW, "window_strides": (0,)},
        ArgumentError,
        "reduce_window_sum: window_strides must be at least 1, got (0,)",
    ),
    (
        "reduce_window_sum",
        (F,),
        {**WINDOW, "low": (-4,)},
        ArgumentError,
        "reduce_window_sum: padding (-4, 0) takes more than axis 0 of f32[3] has",
    ),
    (
        "lu_pivots_to_permutation",
        (F,),
        {"permutation_size": 3},
        TypeError,
        "lu_pivots_to_permutation: pivots are a vector of int32, got f32[3]",
    ),
    (
        "lu_pivots_to_permutation",
        (I,),
        {"permutation_size": 2},
        ValueError,
        "lu_pivots_to_permutation: permutation_size 2 is less than the 3 pivots",
    ),
    (
        "householder_product",
        (M, F),
        {},
        ValueError,
        "householder_product: expects at most as many taus as columns, and columns as rows, got f32[2,3] and f32[3]",
    ),
    (
        "ormqr",
        (M, F, M),
        {"left": True, "transpose": False},
        ValueError,
        "ormqr: more taus than columns or rows: f32[2,3] and f32[3]",
    ),
    (
        "cholesky",
        (np.zeros((3, 3), np.int32),),
        {},
        TypeError,
        "cholesky: takes arrays of float32, float64, complex64, complex128, got i32[3,3]; convert it first",
    ),
    ("cholesky", (F,), {}, ArgumentError, "cholesky: expects shapes [..., n, n], got f32[3]"),
    (
        "scatter",
        (F, F, I),
        {**SCATTER, "kind": "sub"},
        ArgumentError,
        "scatter: kind is one of set, add, mul, min, max, got 'sub'",
    ),
    (
        "linear_solve",
        (SQUARE, SQUARE, F, SQUARE),
        {"transpose_a": 0},
        TypeError,
        "linear_solve: pivots and permutations are int32, got f32[3]",
    ),
    (
        "linear_solve",
        (SQUARE, np.zeros((2, 3, 3), np.float32), I, SQUARE),
        {"transpose_a": 0},
        ArgumentError,
        "linear_solve: leading dimensions () and (2,) differ: f32[3,3] and f32[2,3,3] and i32[3] and f32[3,3]",
    ),
]


@pytest.mark.parametrize(
    ("name", "operands", "params", "error", "message"),
    BAD,
    ids=[f"{case[0]}-{number}" for number, case in enumerate(BAD)],
)
def test_what_does_not_fit_is_told(name, operands, params, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        PRIMITIVES[name].bind(*operands, **params)
