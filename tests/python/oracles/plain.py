"""`lax` in plain Python and NumPy, an oracle: loops are Python's, windows are slices, and nothing is fast.

`lax` and `numpy` stand for the two modules in a program that is written as `program(lax, numpy, *arguments)`. Arrays
are of the class `Array`, which has `.at` as in JAX. Floats are in double precision (`numpy.float32` is `float64`), so
that differences of results are slopes; integers and narrow dtypes stay as they are.
"""

import types

import numpy as np
import scipy.special
from plain_elements import (
    COMBINE,
    _bits,
    broadcast_in_dim,
    div,
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_slice,
    gather,
    igamma_grad_a,
    mulhi,
    random_gamma_grad,
    reduce_precision,
    round_,
    scatter,
    select_n,
    shift_right_logical,
    sort,
)
from plain_loops import (
    Array,
    array,
    associative_scan,
    cond,
    custom_linear_solve,
    custom_root,
    fori_loop,
    leaves,
    map_,
    mapped,
    numpy,
    scan,
    stacked,
    switch,
    while_loop,
)
from plain_windows import (
    _cumulative,
    conv_general_dilated,
    conv_general_dilated_patches,
    dot,
    dot_general,
    padded,
    ragged_dot,
    reduce,
    reduce_window,
    top_k,
)

__all__ = ["Array", "array", "lax", "leaves", "mapped", "numpy", "reduce_window", "run", "stacked", "while_loop"]


def run(program, *args):
    """The results of a program."""
    return program(lax, numpy, *map(array, args))


def _along(axis, x, index):
    return (slice(None),) * (axis % x.ndim) + (index,)


_SAME_NAMES = (
    "abs cbrt ceil cos cosh exp exp2 expm1 floor log log1p nextafter reciprocal sign sin sinh sqrt square tan tanh "
    "bitwise_and bitwise_or bitwise_xor bitwise_not concatenate expand_dims squeeze transpose tile"
)
# lax's name, and that of NumPy or SciPy.
_NUMPYS = (
    "acos=arccos acosh=arccosh add=add asin=arcsin asinh=arcsinh atan=arctan atan2=arctan2 atanh=arctanh "
    "batch_matmul=matmul eq=equal ge=greater_equal gt=greater is_finite=isfinite le=less_equal lt=less "
    "max=maximum min=minimum mul=multiply ne=not_equal neg=negative pow=power rem=fmod reduce_and=all "
    "reduce_max=max reduce_min=min reduce_or=any reduce_prod=prod reduce_sum=sum rev=flip shift_left=left_shift "
    "shift_right_arithmetic=right_shift select=where sub=subtract"
)
_SCIPYS = (
    "bessel_i0e=i0e bessel_i1e=i1e betainc=betainc digamma=digamma erf=erf erf_inv=erfinv erfc=erfc "
    "igamma=gammainc igammac=gammaincc lgamma=gammaln logistic=expit polygamma=polygamma zeta=zeta"
)


def _named(module, pairs):
    return {ours: getattr(module, theirs) for ours, theirs in (pair.split("=") for pair in pairs.split())}


lax = types.SimpleNamespace(
    **{name: getattr(np, name) for name in _SAME_NAMES.split()},
    **_named(np, _NUMPYS),
    **_named(scipy.special, _SCIPYS),
    **{kind: lambda *args, kind=kind, **options: scatter(kind, *args, **options) for kind in COMBINE},
    argmax=lambda x, axis, dtype: np.argmax(x, axis),
    argmin=lambda x, axis, dtype: np.argmin(x, axis),
    associative_scan=associative_scan,
    approx_max_k=lambda x, k, reduction_dimension=-1, **_: top_k(x, k, reduction_dimension),
    approx_min_k=lambda x, k, reduction_dimension=-1, **_: tuple(
        part * sign for part, sign in zip(top_k(-x, k, reduction_dimension), (-1, 1), strict=True)
    ),
    bitcast_convert_type=lambda x, dtype: x.view(dtype),
    broadcast=lambda x, sizes: np.broadcast_to(x, (*sizes, *x.shape)),
    broadcast_in_dim=broadcast_in_dim,
    broadcast_like=lambda x, like: np.broadcast_to(x, like.shape),
    broadcast_shapes=np.broadcast_shapes,
    broadcast_to_rank=lambda x, rank: x.reshape((1,) * (rank - x.ndim) + x.shape),
    broadcasted_iota=lambda dtype, shape, axis: np.indices(shape)[axis].astype(dtype),
    clamp=lambda low, x, high: np.minimum(np.maximum(x, low), high),
    clz=_bits(lambda v: 32 - v.bit_length()),
    collapse=lambda x, start, stop=None: x.reshape((*x.shape[:start], -1, *(x.shape[stop:] if stop else ()))),
    cond=cond,
    conv=lambda x, w, strides, padding: conv_general_dilated(x, w, strides, padding),
    conv_general_dilated=conv_general_dilated,
    conv_general_dilated_patches=conv_general_dilated_patches,
    conv_with_general_padding=conv_general_dilated,
    convert_element_type=lambda x, dtype: x.astype(dtype),
    cumlogsumexp=_cumulative(np.logaddexp),
    cummax=_cumulative(np.maximum),
    cummin=_cumulative(np.minimum),
    cumprod=_cumulative(np.multiply),
    cumsum=_cumulative(np.add),
    custom_linear_solve=custom_linear_solve,
    custom_root=custom_root,
    div=div,
    dot=dot,
    dot_general=dot_general,
    Precision=types.SimpleNamespace(HIGHEST=None, HIGH=None, DEFAULT=None),
    dynamic_index_in_dim=dynamic_index_in_dim,
    dynamic_slice=dynamic_slice,
    dynamic_slice_in_dim=dynamic_slice_in_dim,
    dynamic_update_index_in_dim=lambda x, update, i, axis: dynamic_update_slice(
        x, np.expand_dims(update, axis), [i if a == axis else 0 for a in range(x.ndim)]
    ),
    dynamic_update_slice=dynamic_update_slice,
    dynamic_update_slice_in_dim=lambda x, update, start, axis: dynamic_update_slice(
        x, update, [start if a == axis else 0 for a in range(x.ndim)]
    ),
    fori_loop=fori_loop,
    full=np.full,
    full_like=lambda x, value, dtype=None, shape=None: np.full_like(x, value, dtype, shape=shape),
    gather=gather,
    igamma_grad_a=igamma_grad_a,
    index_in_dim=lambda x, i, axis=0, keepdims=True: np.take(x, [i] if keepdims else i, axis),
    integer_pow=lambda x, y: np.float_power(x, y),
    iota=lambda dtype, size: np.arange(size).astype(dtype),
    map=map_,
    mulhi=mulhi,
    pad=padded,
    population_count=_bits(lambda v: v.bit_count()),
    ragged_dot=ragged_dot,
    random_gamma_grad=random_gamma_grad,
    reduce=reduce,
    reduce_precision=reduce_precision,
    reduce_window=reduce_window,
    reduce_xor=lambda x, axes: np.bitwise_xor.reduce(x, axes),
    reshape=lambda x, shape, dimensions=None: (x if dimensions is None else np.transpose(x, dimensions)).reshape(shape),
    round=round_,
    rsqrt=lambda x: 1 / np.sqrt(x),
    scan=scan,
    select_n=select_n,
    shape_as_value=lambda shape: np.array(shape, np.int32),
    shift_right_logical=shift_right_logical,
    slice=lambda x, starts, stops, strides: x[tuple(map(slice, starts, stops, strides))],
    slice_in_dim=lambda x, start, stop, stride=1, axis=0: x[_along(axis, x, slice(start, stop, stride))],
    sort=sort,
    sort_key_val=lambda keys, values: sort((keys, values)),
    split=lambda x, sizes, axis=0: np.split(x, np.cumsum(sizes)[:-1], axis),
    stack=lambda xs, axis=0: np.stack(xs, axis),
    stage=lambda x: np.asarray(x),
    stop_gradient=lambda x: x,
    switch=switch,
    top_k=top_k,
    unstack=lambda x, axis=0: list(np.moveaxis(x, axis, 0)),
    while_loop=while_loop,
)
