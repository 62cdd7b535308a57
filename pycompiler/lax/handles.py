"""The primitives under JAX's names, `sin_p`, for tables of rules and interpreters of graphs.

Primitives of compositions (`integer_pow_p`, `select_n_p`) can be bound, but no graph has equations of them: graphs have
the operations of the composition.
"""

from collections.abc import Callable
from typing import Any

from pycompiler.core.tracing.user_primitive import Composition
from pycompiler.lax.arrays import split, stack, tile, unstack
from pycompiler.lax.complexes import conj
from pycompiler.lax.elementwise import clamp, integer_pow, select_n, square
from pycompiler.lax.indexing import scatter_add, scatter_max, scatter_min, scatter_mul, scatter_sub
from pycompiler.lax.movement import squeeze
from pycompiler.primitives import COLLECTIVES, PRIMITIVES
from pycompiler.primitives.control.solvers import custom_linear_solve
from pycompiler.primitives.spmd.placement import device_put
from pycompiler.primitives.spmd.shard_map import sharding_constraint

__all__ = [
    "abs_p",
    "acos_p",
    "acosh_p",
    "add_p",
    "all_gather_p",
    "all_to_all_p",
    "and_p",
    "argmax_p",
    "argmin_p",
    "asin_p",
    "asinh_p",
    "atan2_p",
    "atan_p",
    "atanh_p",
    "axis_index_p",
    "bessel_i0e_p",
    "bessel_i1e_p",
    "bitcast_convert_type_p",
    "broadcast_in_dim_p",
    "cbrt_p",
    "ceil_p",
    "cholesky_p",
    "clamp_p",
    "clz_p",
    "complex_p",
    "concatenate_p",
    "cond_p",
    "conj_p",
    "conv_general_dilated_p",
    "convert_element_type_p",
    "copy_p",
    "cos_p",
    "cosh_p",
    "cumlogsumexp_p",
    "cummax_p",
    "cummin_p",
    "cumprod_p",
    "cumsum_p",
    "device_put_p",
    "digamma_p",
    "div_p",
    "dot_general_p",
    "dynamic_slice_p",
    "dynamic_update_slice_p",
    "eig_p",
    "eigh_p",
    "eq_p",
    "erf_inv_p",
    "erf_p",
    "erfc_p",
    "exp2_p",
    "exp_p",
    "expm1_p",
    "fft_p",
    "floor_p",
    "gather_p",
    "ge_p",
    "gt_p",
    "hessenberg_p",
    "householder_product_p",
    "igamma_grad_a_p",
    "igamma_p",
    "igammac_p",
    "imag_p",
    "integer_pow_p",
    "iota_p",
    "is_finite_p",
    "le_p",
    "lgamma_p",
    "linear_solve_p",
    "log1p_p",
    "log_p",
    "logistic_p",
    "lt_p",
    "lu_p",
    "max_p",
    "min_p",
    "mul_p",
    "mulhi_p",
    "ne_p",
    "neg_p",
    "nextafter_p",
    "not_p",
    "optimization_barrier_p",
    "or_p",
    "pad_p",
    "pmax_p",
    "pmin_p",
    "polygamma_p",
    "population_count_p",
    "pow_p",
    "ppermute_p",
    "psum_p",
    "qr_p",
    "real_p",
    "reduce_and_p",
    "reduce_max_p",
    "reduce_min_p",
    "reduce_or_p",
    "reduce_precision_p",
    "reduce_prod_p",
    "reduce_sum_p",
    "reduce_window_max_p",
    "reduce_window_min_p",
    "reduce_window_sum_p",
    "reduce_xor_p",
    "regularized_incomplete_beta_p",
    "rem_p",
    "reshape_p",
    "rev_p",
    "round_p",
    "rsqrt_p",
    "scan_p",
    "scatter_add_p",
    "scatter_max_p",
    "scatter_min_p",
    "scatter_mul_p",
    "scatter_p",
    "scatter_sub_p",
    "schur_p",
    "select_and_scatter_p",
    "select_n_p",
    "sharding_constraint_p",
    "shift_left_p",
    "shift_right_arithmetic_p",
    "shift_right_logical_p",
    "sign_p",
    "sin_p",
    "sinh_p",
    "slice_p",
    "sort_p",
    "split_p",
    "sqrt_p",
    "square_p",
    "squeeze_p",
    "stack_p",
    "stop_gradient_p",
    "sub_p",
    "svd_p",
    "tan_p",
    "tanh_p",
    "threefry2x32_p",
    "tile_p",
    "top_k_p",
    "transpose_p",
    "triangular_solve_p",
    "tridiagonal_p",
    "tridiagonal_solve_p",
    "unstack_p",
    "while_p",
    "xor_p",
    "zeta_p",
]


def _conj(x: Any, input_dtype: Any = None) -> Any:
    return conj(x)


def _copy(x: Any) -> Any:
    return x


def _stack(*operands: Any, axis: int) -> Any:
    return stack(operands, axis)


def _scattering(scatter: Callable[..., Any]) -> Callable[..., Any]:
    def apply(
        operand: Any, indices: Any, updates: Any, *, update_jaxpr: Any = None, update_consts: Any = (), **params: Any
    ) -> Any:
        return scatter(operand, indices, updates, **params)

    return apply


abs_p = PRIMITIVES["abs"]
acos_p = PRIMITIVES["acos"]
acosh_p = PRIMITIVES["acosh"]
add_p = PRIMITIVES["add"]
all_gather_p = COLLECTIVES["all_gather"]
all_to_all_p = COLLECTIVES["all_to_all"]
and_p = PRIMITIVES["and"]
argmax_p = PRIMITIVES["argmax"]
argmin_p = PRIMITIVES["argmin"]
asin_p = PRIMITIVES["asin"]
asinh_p = PRIMITIVES["asinh"]
atan2_p = PRIMITIVES["atan2"]
atan_p = PRIMITIVES["atan"]
atanh_p = PRIMITIVES["atanh"]
axis_index_p = COLLECTIVES["axis_index"]
bessel_i0e_p = PRIMITIVES["bessel_i0e"]
bessel_i1e_p = PRIMITIVES["bessel_i1e"]
bitcast_convert_type_p = PRIMITIVES["bitcast"]
broadcast_in_dim_p = PRIMITIVES["broadcast_in_dim"]
cbrt_p = PRIMITIVES["cbrt"]
ceil_p = PRIMITIVES["ceil"]
cholesky_p = PRIMITIVES["cholesky"]
clamp_p = Composition("clamp", clamp)
clz_p = PRIMITIVES["clz"]
complex_p = PRIMITIVES["complex"]
concatenate_p = PRIMITIVES["concatenate"]
cond_p = PRIMITIVES["cond"]
conj_p = Composition("conj", _conj)
conv_general_dilated_p = PRIMITIVES["conv_general_dilated"]
convert_element_type_p = PRIMITIVES["convert"]
copy_p = Composition("copy", _copy)
cos_p = PRIMITIVES["cos"]
cosh_p = PRIMITIVES["cosh"]
cumlogsumexp_p = PRIMITIVES["cumlogsumexp"]
cummax_p = PRIMITIVES["cummax"]
cummin_p = PRIMITIVES["cummin"]
cumprod_p = PRIMITIVES["cumprod"]
cumsum_p = PRIMITIVES["cumsum"]
device_put_p = device_put
digamma_p = PRIMITIVES["digamma"]
div_p = PRIMITIVES["div"]
dot_general_p = PRIMITIVES["dot_general"]
dynamic_slice_p = PRIMITIVES["dynamic_slice"]
dynamic_update_slice_p = PRIMITIVES["dynamic_update_slice"]
eig_p = PRIMITIVES["eig"]
eigh_p = PRIMITIVES["eigh"]
eq_p = PRIMITIVES["eq"]
erf_inv_p = PRIMITIVES["erf_inv"]
erf_p = PRIMITIVES["erf"]
erfc_p = PRIMITIVES["erfc"]
exp2_p = PRIMITIVES["exp2"]
exp_p = PRIMITIVES["exp"]
expm1_p = PRIMITIVES["expm1"]
fft_p = PRIMITIVES["fft"]
floor_p = PRIMITIVES["floor"]
gather_p = PRIMITIVES["gather"]
ge_p = PRIMITIVES["ge"]
gt_p = PRIMITIVES["gt"]
hessenberg_p = PRIMITIVES["hessenberg"]
householder_product_p = PRIMITIVES["householder_product"]
igamma_grad_a_p = PRIMITIVES["igamma_grad_a"]
igamma_p = PRIMITIVES["igamma"]
igammac_p = PRIMITIVES["igammac"]
imag_p = PRIMITIVES["imag"]
integer_pow_p = Composition("integer_pow", integer_pow)
iota_p = PRIMITIVES["iota"]
is_finite_p = PRIMITIVES["is_finite"]
le_p = PRIMITIVES["le"]
lgamma_p = PRIMITIVES["lgamma"]
linear_solve_p = custom_linear_solve
log1p_p = PRIMITIVES["log1p"]
log_p = PRIMITIVES["log"]
logistic_p = PRIMITIVES["logistic"]
lt_p = PRIMITIVES["lt"]
lu_p = PRIMITIVES["lu"]
max_p = PRIMITIVES["max"]
min_p = PRIMITIVES["min"]
mul_p = PRIMITIVES["mul"]
mulhi_p = PRIMITIVES["mulhi"]
ne_p = PRIMITIVES["ne"]
neg_p = PRIMITIVES["neg"]
nextafter_p = PRIMITIVES["nextafter"]
not_p = PRIMITIVES["not"]
optimization_barrier_p = PRIMITIVES["optimization_barrier"]
or_p = PRIMITIVES["or"]
pad_p = PRIMITIVES["pad"]
pmax_p = COLLECTIVES["pmax"]
pmin_p = COLLECTIVES["pmin"]
polygamma_p = PRIMITIVES["polygamma"]
population_count_p = PRIMITIVES["population_count"]
pow_p = PRIMITIVES["pow"]
ppermute_p = COLLECTIVES["ppermute"]
psum_p = COLLECTIVES["psum"]
qr_p = PRIMITIVES["qr"]
real_p = PRIMITIVES["real"]
reduce_and_p = PRIMITIVES["reduce_and"]
reduce_max_p = PRIMITIVES["reduce_max"]
reduce_min_p = PRIMITIVES["reduce_min"]
reduce_or_p = PRIMITIVES["reduce_or"]
reduce_precision_p = PRIMITIVES["reduce_precision"]
reduce_prod_p = PRIMITIVES["reduce_prod"]
reduce_sum_p = PRIMITIVES["reduce_sum"]
reduce_window_max_p = PRIMITIVES["reduce_window_max"]
reduce_window_min_p = PRIMITIVES["reduce_window_min"]
reduce_window_sum_p = PRIMITIVES["reduce_window_sum"]
reduce_xor_p = PRIMITIVES["reduce_xor"]
regularized_incomplete_beta_p = PRIMITIVES["betainc"]
rem_p = PRIMITIVES["rem"]
reshape_p = PRIMITIVES["reshape"]
rev_p = PRIMITIVES["reverse"]
round_p = PRIMITIVES["round"]
rsqrt_p = PRIMITIVES["rsqrt"]
scan_p = PRIMITIVES["scan"]
scatter_add_p = Composition("scatter-add", _scattering(scatter_add))
scatter_max_p = Composition("scatter-max", _scattering(scatter_max))
scatter_min_p = Composition("scatter-min", _scattering(scatter_min))
scatter_mul_p = Composition("scatter-mul", _scattering(scatter_mul))
scatter_p = PRIMITIVES["scatter"]
scatter_sub_p = Composition("scatter-sub", _scattering(scatter_sub))
schur_p = PRIMITIVES["schur"]
select_and_scatter_p = PRIMITIVES["select_and_scatter"]
select_n_p = Composition("select_n", select_n)
sharding_constraint_p = sharding_constraint
shift_left_p = PRIMITIVES["shift_left"]
shift_right_arithmetic_p = PRIMITIVES["shift_right_arithmetic"]
shift_right_logical_p = PRIMITIVES["shift_right_logical"]
sign_p = PRIMITIVES["sign"]
sin_p = PRIMITIVES["sin"]
sinh_p = PRIMITIVES["sinh"]
slice_p = PRIMITIVES["slice"]
sort_p = PRIMITIVES["sort"]
split_p = Composition("split", split, True)
sqrt_p = PRIMITIVES["sqrt"]
square_p = Composition("square", square)
squeeze_p = Composition("squeeze", squeeze)
stack_p = Composition("stack", _stack)
stop_gradient_p = PRIMITIVES["stop_gradient"]
sub_p = PRIMITIVES["sub"]
svd_p = PRIMITIVES["svd"]
tan_p = PRIMITIVES["tan"]
tanh_p = PRIMITIVES["tanh"]
threefry2x32_p = PRIMITIVES["threefry2x32"]
tile_p = Composition("tile", tile)
top_k_p = PRIMITIVES["top_k"]
transpose_p = PRIMITIVES["transpose"]
triangular_solve_p = PRIMITIVES["triangular_solve"]
tridiagonal_p = PRIMITIVES["tridiagonal"]
tridiagonal_solve_p = PRIMITIVES["tridiagonal_solve"]
unstack_p = Composition("unstack", unstack, True)
while_p = PRIMITIVES["while"]
xor_p = PRIMITIVES["xor"]
zeta_p = PRIMITIVES["zeta"]
