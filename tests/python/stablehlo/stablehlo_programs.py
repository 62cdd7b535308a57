"""Programs of JAX by family, with arguments: test_programs lowers them in JAX, and imports and runs them here."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Program(NamedTuple):
    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    tolerance: float = 1e-5


_rng = np.random.default_rng(0)
X = _rng.normal(size=(4, 6)).astype(np.float32)
Y = _rng.normal(size=(4, 6)).astype(np.float32)
P = np.abs(X) + np.float32(0.5)
U = _rng.uniform(-0.9, 0.9, (4, 6)).astype(np.float32)
C = (X + 1j * Y).astype(np.complex64)
D = (Y + 1j * X).astype(np.complex64)
K = _rng.integers(-9, 9, (4, 6)).astype(np.int32)
J = _rng.integers(1, 9, (4, 6)).astype(np.int32)
N = _rng.integers(0, 200, (4, 6)).astype(np.uint8)
B = X > 0
H = X.astype(jnp.bfloat16)
F16 = X.astype(np.float16)
F8 = X.astype(jnp.float8_e4m3fn)
IMAGES = _rng.normal(size=(2, 8, 7, 3)).astype(np.float32)
KERNEL = _rng.normal(size=(3, 2, 3, 4)).astype(np.float32)
SQUARE = (_rng.normal(size=(2, 4, 4)) + 4 * np.eye(4)).astype(np.float32)
COMPLEX_SQUARE = (SQUARE + 1j * _rng.normal(size=(2, 4, 4))).astype(np.complex64)
TALL = _rng.normal(size=(5, 3)).astype(np.float32)
KEY = np.array([7, 9], np.uint32)


def _elementwise() -> list[Program]:
    unary = [
        "abs",
        "neg",
        "sign",
        "floor",
        "ceil",
        "exp",
        "exp2",
        "expm1",
        "sin",
        "cos",
        "tan",
        "tanh",
        "cbrt",
        "logistic",
        "erf",
        "erfc",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "is_finite",
        "digamma",
        "lgamma",
        "bessel_i0e",
        "bessel_i1e",
        "square",
    ]
    rows = [Program(name, getattr(lax, name), (X,)) for name in unary]
    rows += [Program(name, getattr(lax, name), (U,)) for name in ("asin", "acos", "atanh", "erf_inv", "log1p")]
    rows += [Program(name, getattr(lax, name), (P,)) for name in ("log", "sqrt", "rsqrt")]
    rows += [Program("acosh", lax.acosh, (P + 1,))]
    complex_unary = [
        "abs",
        "neg",
        "sign",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sqrt",
        "rsqrt",
        "logistic",
        "expm1",
        "log1p",
        "exp2",
        "real",
        "imag",
        "conj",
        "square",
    ]
    rows += [Program(f"complex_{name}", getattr(lax, name), (C,), 1e-4) for name in complex_unary]
    for name in ("add", "sub", "mul", "div", "pow", "eq", "ne"):
        rows.append(Program(f"complex_{name}", getattr(lax, name), (C, D), 1e-4))
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "max",
        "min",
        "atan2",
        "nextafter",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    ):
        rows.append(Program(name, getattr(lax, name), (X, Y)))
    rows.append(Program("pow", lax.pow, (P, Y)))
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "max",
        "min",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "lt",
        "ge",
    ):
        rows.append(Program(f"int_{name}", getattr(lax, name), (K, J)))
        rows.append(Program(f"uint8_{name}", getattr(lax, name), (N, N[::-1] | 1)))
    for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
        rows.append(Program(name, getattr(lax, name), (K, J)))
    for name in ("bitwise_not", "clz", "population_count", "sign", "abs"):
        rows.append(Program(f"int_{name}", getattr(lax, name), (K,)))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "max", "min", "eq", "ne", "lt"):
        rows.append(Program(f"bool_{name}", getattr(lax, name), (B, B[::-1])))
    for name in ("igamma", "igammac", "polygamma", "zeta", "random_gamma_grad"):
        first = np.round(P) + 1
        rows.append(Program(name, getattr(lax, name), (first, P + 1), 1e-3))
    rows.append(Program("betainc", lax.betainc, (P, P[::-1], np.abs(U)), 1e-4))
    for kind in (H, F16):
        for name in ("exp", "tanh", "add", "mul", "div", "lt"):
            binary = name in ("add", "mul", "div", "lt")
            rows.append(
                Program(f"{kind.dtype}_{name}", getattr(lax, name), (kind, kind[::-1]) if binary else (kind,), 1e-2)
            )
    rows += [
        Program("complex", lax.complex, (X, Y)),
        Program("round_away", lax.round, (np.array([-2.5, -0.3, 0.49999997, 0.5, 1.5, np.inf, np.nan], np.float32),)),
        Program("round_even", jnp.round, (np.array([-2.5, -0.5, 0.5, 1.5, np.inf, np.nan], np.float32),)),
        Program("integer_pow", lambda x: lax.integer_pow(x, 3), (X,)),
        Program("clamp", lambda x: lax.clamp(np.float32(-0.5), x, np.float32(0.5)), (X,)),
        Program("select", lax.select, (B, X, Y)),
        Program("select_scalar", lambda p, x, y: lax.select(p, x, y), (np.bool_(True), X, Y)),
        Program("select_n", lax.select_n, (np.abs(K) % 3, X, Y, X + Y)),
        Program("reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), (X,)),
        Program("accuracy", lambda x: lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST), (X,)),
        Program("softplus", jax.nn.softplus, (X,)),
        Program("mulhi", lax.mulhi, (K * 123456789, J * 987654321)),
    ]
    return rows


def _types() -> list[Program]:
    rows: list[Program] = []
    for name, given in (("f32", X), ("bf16", H), ("i32", K), ("u8", N), ("bool", B), ("f16", F16)):
        for to in ("float32", "int8", "uint16", "bool", "bfloat16", "float16", "complex64"):
            if name in ("f32", "bf16", "f16") and to == "uint16":
                continue  # negative numbers: not defined
            rows.append(Program(f"convert_{name}_{to}", lambda x, to=to: lax.convert_element_type(x, to), (given,)))
    rows += [
        Program("bitcast_f32_u32", lambda x: lax.bitcast_convert_type(x, np.uint32), (X,)),
        Program("bitcast_f32_u8", lambda x: lax.bitcast_convert_type(x, np.uint8), (X,)),
        Program("bitcast_u8_i32", lambda x: lax.bitcast_convert_type(x, np.int32), (N[:, :4],)),
        Program("float8", lambda x: (x.astype(jnp.float32) * 2).astype(jnp.float8_e5m2), (F8,)),
        Program("int4_sums", lambda x: (x.astype(jnp.int4) + jnp.int4(3)).astype(jnp.int32), (K,)),
        Program("float8_products", lambda x: (x * x).astype(jnp.float32), (F8,)),
        Program("int4", lambda x: (x // 4).astype(jnp.int4).astype(jnp.int32), (K,)),
        Program("int64", lambda x: x * 3, (K.astype(np.int64),)),
    ]
    return rows


def _movement() -> list[Program]:
    return [
        Program("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 6, 2), (1,)), (X[0],)),
        Program("reshape", lambda x: x.reshape(3, 8), (X,)),
        Program("transpose", lambda x: x.transpose(2, 0, 3, 1), (IMAGES,)),
        Program("slice", lambda x: x[1:4:2, ::3], (X,)),
        Program("pad", lambda x: lax.pad(x, np.float32(2), [(1, 2, 1), (-1, 0, 2)]), (X,)),
        Program("concatenate", lambda x, y: jnp.concatenate([x, y, x], 1), (X, Y)),
        Program("reverse", lambda x: lax.rev(x, (0, 1)), (X,)),
        Program("iota", lambda x: x + lax.broadcasted_iota(np.float32, (4, 6), 1), (X,)),
        Program("roll", lambda x: jnp.roll(x, 2, 1), (X,)),
        Program("tile", lambda x: jnp.tile(x, (2, 3)), (X,)),
        Program("constants", lambda x: x + np.arange(24, dtype=np.float32).reshape(4, 6), (X,)),
        Program("nothing", lambda x: (x, x), (X,)),
        Program("a_constant", lambda x: (jnp.float32(3), x + 1), (X,)),
        Program("empty", lambda x: x[:0].sum(), (X,)),
    ]


def _reductions() -> list[Program]:
    names = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "cumprod"]
    rows = [Program(name, lambda x, name=name: getattr(jnp, name)(x, axis=1), (X,)) for name in names]
    rows += [Program(f"int_{name}", lambda x, name=name: getattr(jnp, name)(x, axis=0), (K,)) for name in names[:11]]
    rows += [
        Program(f"bf16_{n}", lambda x, n=n: getattr(jnp, n)(x), (H,), 2e-2) for n in ("sum", "max", "mean", "argmax")
    ]
    rows += [
        Program(f"complex_{n}", lambda x, n=n: getattr(jnp, n)(x, axis=0), (C,), 1e-4)
        for n in ("sum", "prod", "cumsum")
    ]
    rows += [
        Program(f"bool_{n}", lambda x, n=n: getattr(jnp, n)(x, axis=0), (B,)) for n in ("any", "all", "sum", "max")
    ]
    nans = np.where(X > 1, np.nan, X).astype(np.float32)
    rows += [
        Program("nan_argmax", lambda x: jnp.argmax(x, 1), (nans,)),
        Program("xor", lambda x: jnp.bitwise_xor.reduce(x, axis=0), (K,)),
        Program("cummax", lambda x: lax.cummax(x, 1), (X,)),
        Program("cummin_reverse", lambda x: lax.cummin(x, 0, reverse=True), (X,)),
        Program("cumsum_reverse", lambda x: lax.cumsum(x, 1, reverse=True), (X,)),
        Program("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1), (X,)),
        Program("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x), (X,)),
        Program("init", lambda x: lax.reduce(x, np.float32(2), lax.add, (0,)), (X,)),
        Program(
            "two_known",
            lambda x, y: lax.reduce(
                (x, y), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)
            ),
            (X, Y),
        ),
        Program(
            "any_reducer", lambda x: lax.reduce(x, np.float32(0), lambda a, b: lax.sqrt(a * a + b * b), (0, 1)), (X,)
        ),
        Program(
            "argmax_value",
            lambda x: lax.reduce(
                (x, lax.broadcasted_iota(np.int32, (4, 6), 1)),
                (np.float32(-np.inf), np.int32(0)),
                lambda a, b: (lax.select(a[0] >= b[0], a[0], b[0]), lax.select(a[0] >= b[0], a[1], b[1])),
                (1,),
            ),
            (X,),
        ),
        Program("logsumexp", lambda x: jax.scipy.special.logsumexp(x, 1), (X,)),
        Program("median", jnp.median, (X,)),
        Program("norm", jnp.linalg.norm, (X,)),
    ]
    return rows


def _windows() -> list[Program]:
    def pool(fn: Any, init: Any, **kw: Any) -> Callable[[Any], Any]:
        return lambda x: lax.reduce_window(x, np.float32(init), fn, (1, 2, 3, 1), (1, 2, 1, 1), **kw)

    largest = pool(lax.max, -np.inf, padding="SAME")
    return [
        Program("max_pool", largest, (IMAGES,)),
        Program("min_pool", pool(lax.min, np.inf, padding="VALID"), (IMAGES,)),
        Program("sum_pool", pool(lax.add, 0, padding="SAME"), (IMAGES,)),
        Program("prod_pool", pool(lax.mul, 1, padding="VALID"), (IMAGES,)),
        Program(
            "dilated",
            pool(lax.add, 0, padding="VALID", base_dilation=(1, 2, 1, 1), window_dilation=(1, 1, 2, 1)),
            (IMAGES,),
        ),
        Program("sum_pool_init", pool(lax.add, 1, padding="SAME"), (IMAGES,)),
        Program("prod_pool_init", pool(lax.mul, 3, padding="SAME", base_dilation=(1, 2, 1, 1)), (IMAGES,)),
        Program(
            "any_window_init",
            pool(lambda a, b: a + b + 0.5, 1, padding="SAME", base_dilation=(1, 2, 1, 1)),
            (IMAGES,),
        ),
        Program("running_init", lambda x: lax.reduce_window(x, np.float32(1), lax.add, (6,), (1,), [(5, 0)]), (X[0],)),
        Program("any_window", pool(lambda a, b: lax.sqrt(a * a + b * b), 0, padding="SAME"), (IMAGES,)),
        Program("max_pool_grad", jax.grad(lambda x: (largest(x) ** 2).sum()), (IMAGES,)),
        Program("sum_pool_grad", jax.grad(lambda x: (pool(lax.add, 0, padding="SAME")(x) ** 2).sum()), (IMAGES,)),
        Program("max_pool_jvp", lambda x, t: jax.jvp(largest, (x,), (t,)), (IMAGES, IMAGES[::-1].copy())),
    ]


def _contractions() -> list[Program]:
    def conv(**kw: Any) -> Callable[..., Any]:
        kw = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": ("NHWC", "HWIO", "NHWC")} | kw
        return lambda x, w: lax.conv_general_dilated(x, w, **kw)

    batched = (_rng.normal(size=(3, 4, 5)).astype(np.float32), _rng.normal(size=(3, 5, 2)).astype(np.float32))
    depthwise = _rng.normal(size=(3, 3, 1, 6)).astype(np.float32)
    grouped = _rng.normal(size=(4, 8, 7, 3)).astype(np.float32)
    return [
        Program("matmul", lambda x, y: x @ y.T, (X, Y)),
        Program("batched", jnp.matmul, batched),
        Program("einsum", lambda x, y: jnp.einsum("abc,acd->dab", x, y), batched),
        Program("outer", jnp.outer, (X[0], Y[0])),
        Program("vector", jnp.dot, (X[0], Y[0])),
        Program("tensordot", lambda x, y: jnp.tensordot(x, y, 2), (X, Y)),
        Program("int_matmul", lambda x, y: x @ y.T, (K, J)),
        Program(
            "int8_wide",
            lambda x, y: lax.dot(x, y.T, preferred_element_type=np.int32),
            (K.astype(np.int8), J.astype(np.int8)),
        ),
        Program("bool_matmul", lambda x, y: x @ y.T, (B, B)),
        Program("complex_matmul", lambda x, y: x @ y.T, (C, D), 1e-4),
        Program("bf16_wide", lambda x, y: lax.dot(x, y.T, preferred_element_type=np.float32), (H, H), 1e-2),
        Program("highest", lambda x, y: jnp.matmul(x, y.T, precision="highest"), (X, Y)),
        Program("algorithm", lambda x, y: lax.dot(x, y.T, precision=lax.DotAlgorithmPreset.F32_F32_F32), (X, Y)),
        Program("conv", conv(), (IMAGES, KERNEL), 1e-4),
        Program("conv_strides", conv(window_strides=(2, 1), padding=[(1, 2), (0, 1)]), (IMAGES, KERNEL), 1e-4),
        Program(
            "conv_dilations",
            conv(lhs_dilation=(1, 2), rhs_dilation=(2, 3), padding=[(0, 1), (2, -1)]),
            (IMAGES, KERNEL),
            1e-4,
        ),
        Program("conv_nchw", conv(dimension_numbers=("NHWC", "HWIO", "NCHW")), (IMAGES, KERNEL), 1e-4),
        Program("conv_depthwise", conv(feature_group_count=3), (IMAGES, depthwise), 1e-4),
        Program("conv_batch_groups", conv(batch_group_count=2), (grouped, KERNEL), 1e-4),
        Program(
            "conv_grad",
            jax.grad(lambda x, w: (conv(window_strides=(2, 2))(x, w) ** 2).sum(), (0, 1)),
            (IMAGES, KERNEL),
            1e-3,
        ),
        Program("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), (IMAGES, KERNEL), 1e-4),
        Program("conv_1d", lambda x, w: jnp.convolve(x, w), (X[0], Y[0, :3])),
        Program("conv_vmap", jax.vmap(conv()), (IMAGES[:, None], np.stack([KERNEL, -KERNEL])), 1e-4),
    ]


def _indexing() -> list[Program]:
    at = np.array([3, 0, -1, 7], np.int32)
    return [
        Program("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i + 9), (2, 3)), (X, np.int32(1))),
        Program(
            "dynamic_update_slice", lambda x, y, i: lax.dynamic_update_slice(x, y[:2, :3], (i, i)), (X, Y, np.int32(2))
        ),
        Program("unsigned_start", lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)), (X, np.uint8(1))),
        Program("take", lambda x, i: x[i], (X, at)),
        Program("take_fill", lambda x, i: jnp.take(x, i, axis=1, mode="fill"), (X, at)),
        Program("take_two", lambda x, i, j: x[i, j], (X, at % 4, at % 6)),
        Program("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), (X, np.abs(K) % 6)),
        Program("gather_vmap", jax.vmap(lambda x, i: x[i]), (X, np.abs(K) % 6)),
        Program("one_row", lambda x, i: x[i], (X, np.int32(-2))),
        Program("mask", lambda x, b: jnp.where(b, x, 0), (X, B)),
        Program("set", lambda x, i: x.at[i].set(1.5), (X, at)),
        Program("add", lambda x, i: x.at[i].add(1.5), (X, np.array([1, 1, 3], np.int32))),
        Program("multiply", lambda x, i: x.at[i].multiply(2), (X, at)),
        Program("maximum", lambda x, i: x.at[i, 1].max(0.1), (X, at)),
        Program("minimum", lambda x: x.at[1, ::2].min(0.1), (X,)),
        Program("subtract", lambda x, i: x.at[i].subtract(1.5), (X, at)),
        Program("bool_or", lambda x, i: x.at[i].max(True), (B, at)),
        Program("scatter_apply", lambda x: x.at[jnp.array([0, 0, 3, 9]), 1].apply(jnp.sin), (X,)),
        Program("scatter_apply_rows", lambda x: x.at[jnp.array([1, 1])].apply(lambda v: v * v + 1), (X,)),
        Program("scatter_apply_vmap", jax.vmap(lambda x, i: x.at[i].apply(jnp.cos)), (X, np.abs(K) % 6)),
        Program("scatter_vmap", jax.vmap(lambda x, i: x.at[i].add(2)), (X, np.abs(K) % 6)),
        Program("take_grad", jax.grad(lambda x, i: (x[i] ** 2).sum()), (X, at % 4)),
        Program("one_hot", lambda i: jax.nn.one_hot(i, 6), (at,)),
        Program("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 5), (X, at)),
        Program("nonzero", lambda b: jnp.nonzero(b, size=10, fill_value=-1), (B,)),
    ]


def _sorts() -> list[Program]:
    zeros = np.array([0.0, -0.0, np.nan, 1.0, -np.inf, -0.0, 0.0], np.float32)
    return [
        Program("sort", lambda x: jnp.sort(x, axis=0), (X,)),
        Program("sort_zeros", jnp.sort, (zeros,)),
        Program("sort_descending", lambda x: jnp.sort(x, descending=True), (X,)),
        Program("argsort", lambda x: jnp.argsort(x, axis=1), (X,)),
        Program("argsort_descending", lambda x: jnp.argsort(x, axis=1, descending=True), (K,)),
        Program("int_sort", lambda x: jnp.sort(x, axis=1), (K,)),
        Program("uint_sort", lambda x: jnp.sort(x, axis=1), (N,)),
        Program("complex_sort", lambda x: jnp.sort(x, axis=1), (C,)),
        Program("two_keys", lambda i, x: lax.sort((i % 3, i, x), num_keys=2), (K, X)),
        Program("unstable", lambda x: lax.sort(x, is_stable=False), (X,)),
        Program("top_k", lambda x: lax.top_k(x, 3), (X,)),
        Program("approx_max_k", lambda x: lax.approx_max_k(x, 2), (X,)),
        Program("approx_max_k of more", lambda x: lax.approx_max_k(x, 2, aggregate_to_topk=False), (X,)),
        Program("approx_min_k", lambda x: lax.approx_min_k(x, 2, reduction_dimension=0), (X,)),
        Program("unique", lambda i: jnp.unique(i, size=12, fill_value=0), (K,)),
        Program("searchsorted", lambda x, v: jnp.searchsorted(x, v), (np.sort(X[0]), Y[0])),
    ]


def _control() -> list[Program]:
    return [
        Program("while", lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.1), (0, x)), (X,)),
        Program("fori", lambda n, x: lax.fori_loop(0, n, lambda i, s: s + i * x, x), (np.int32(4), X)),
        Program("scan", lambda c, x: lax.scan(lambda c, e: (c * 0.5 + e, c * e), c, x), (X[0], X)),
        Program(
            "scan_grad", jax.grad(lambda c, x: lax.scan(lambda c, e: (jnp.tanh(c * e), c), c, x)[0].sum()), (X[0], X)
        ),
        Program("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), (np.bool_(False), X)),
        Program("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), (np.int32(7), X)),
        Program(
            "nested",
            lambda x: lax.fori_loop(
                0,
                3,
                lambda i, s: lax.cond(i > 1, lambda a: a * 2, lambda a: lax.fori_loop(0, i, lambda j, b: b + j, a), s),
                x,
            ),
            (X,),
        ),
        Program("checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (X,)),
        Program("barrier", lambda x: lax.optimization_barrier((x + 1, x * 2)), (X,)),
        Program("composite", lambda x: lax.composite(lambda y: jnp.sin(y) * 2, "my.sin")(x), (X,)),
        Program("platform", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), (X,)),
        Program("map", lambda x: lax.map(lambda r: jnp.sort(r) * 2, x), (X,)),
        Program(
            "newton",
            lambda x: lax.custom_root(
                lambda y: y**3 - x,
                x,
                lambda f, y0: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y * y), y0),
                lambda g, y: y / g(1.0),
            ),
            (np.float32(2),),
        ),
    ]


def _linear_algebra() -> list[Program]:
    la, ll, sl = jnp.linalg, lax.linalg, jax.scipy.linalg
    rows: list[Program] = []
    for kind, a in (("f32", SQUARE), ("c64", COMPLEX_SQUARE)):
        hermitian = (a @ np.conj(np.swapaxes(a, -1, -2))).astype(a.dtype)
        rows += [
            Program(f"{kind}_cholesky", la.cholesky, (hermitian,), 1e-3),
            Program(f"{kind}_cholesky_upper", lambda m: la.cholesky(m, upper=True), (hermitian,), 1e-3),
            Program(f"{kind}_solve", lambda m: la.solve(m, m[..., :2] + 1), (a,), 1e-3),
            Program(f"{kind}_inv", la.inv, (a,), 1e-3),
            Program(f"{kind}_det", la.det, (a,), 1e-3),
            Program(f"{kind}_lu", ll.lu, (a,), 1e-3),
            Program(f"{kind}_qr", la.qr, (a,), 1e-3),
            Program(f"{kind}_qr_complete", lambda m: la.qr(m, mode="complete"), (a[0, :, :3],), 1e-3),
            Program(f"{kind}_qr_pivoting", lambda m: ll.qr(m, pivoting=True), (a,), 1e-3),
            Program(f"{kind}_svd_values", lambda m: la.svd(m, compute_uv=False), (a,), 1e-3),
            Program(f"{kind}_svd", lambda m: (lambda u, s, v: (u * s[..., None, :]) @ v)(*la.svd(m)), (a,), 1e-3),
            Program(
                f"{kind}_svd_thin",
                lambda m: (lambda u, s, v: (u * s) @ v)(*la.svd(m, full_matrices=False)),
                (a[0, :, :3],),
                1e-3,
            ),
            Program(
                f"{kind}_eigh",
                lambda m: (lambda w, v: (v * w[..., None, :]) @ v.conj().mT)(*la.eigh(m)),
                (hermitian,),
                1e-2,
            ),
            Program(f"{kind}_eigvalsh", la.eigvalsh, (hermitian,), 1e-3),
            Program(f"{kind}_eigvals", lambda m: jnp.sort(la.eigvals(m)), (a,), 1e-3),
            Program(
                f"{kind}_eig",
                lambda m: (lambda w, v: v * w[..., None, :] - m.astype(v.dtype) @ v)(*la.eig(m)),
                (a,),
                1e-2,
            ),
            Program(f"{kind}_schur", lambda m: (lambda t, z: z @ t @ z.conj().T)(*ll.schur(m)), (a[0],), 1e-3),
            Program(f"{kind}_hessenberg", ll.hessenberg, (a,), 1e-3),
            Program(f"{kind}_tridiagonal", lambda m: ll.tridiagonal(m)[1:3], (hermitian,), 1e-3),
            Program(
                f"{kind}_tridiagonal_solve",
                lambda m: ll.tridiagonal_solve(m[..., 0], m[..., 1] + 9, m[..., 2], m),
                (a,),
                1e-3,
            ),
            Program(f"{kind}_expm", lambda m: sl.expm(m / 4), (a[0],), 1e-3),
        ]
        for options in (
            {},
            {"left_side": True, "lower": True},
            {"transpose_a": True, "conjugate_a": True},
            {"unit_diagonal": True, "left_side": True},
        ):
            name = "_".join(options) or "plain"
            rows.append(
                Program(
                    f"{kind}_triangular_{name}", lambda m, o=options: ll.triangular_solve(m, m + 1, **o), (a,), 1e-2
                )
            )
    rows += [
        Program("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], (TALL, TALL[:, 0]), 1e-3),
        Program("pinv", jnp.linalg.pinv, (TALL,), 1e-3),
        Program("ormqr", lambda a: ll.ormqr(ll.householder_product(a, a[:, 0]), a[:, 0], a), (SQUARE[0],), 1e-3),
        Program("solve_grad", jax.grad(lambda a: jnp.linalg.solve(a, a[..., 0]).sum()), (SQUARE[0],), 1e-3),
        Program("not_positive", jnp.linalg.cholesky, (-SQUARE,)),
        Program("cholesky_update", lambda r, w: ll.cholesky_update(jnp.triu(r), w), (SQUARE[0], X[0, :4]), 1e-3),
        Program("fft", jnp.fft.fft, (X,), 1e-4),
        Program("ifft2", jnp.fft.ifft2, (C,), 1e-4),
        Program("rfft", jnp.fft.rfft, (X,), 1e-4),
        Program("irfft", jnp.fft.irfft, (C,), 1e-4),
        Program("fftn_shift", lambda x: jnp.fft.fftshift(jnp.fft.fftn(x)), (IMAGES,), 1e-3),
    ]
    return rows


def _random() -> list[Program]:
    r = jax.random
    rows = [
        Program("bits", lambda k: r.bits(k, (5, 3)), (KEY,)),
        Program("split", lambda k: r.split(k, 3), (KEY,)),
        Program("uniform", lambda k: r.uniform(k, (4, 5)), (KEY,)),
        Program("normal", lambda k: r.normal(k, (4, 5)), (KEY,), 1e-4),
        Program("randint", lambda k: r.randint(k, (7,), 0, 100), (KEY,)),
        Program("permutation", lambda k: r.permutation(k, 9), (KEY,)),
        Program("choice", lambda k: r.choice(k, 9, (4,), replace=False), (KEY,)),
        Program("categorical", lambda k, x: r.categorical(k, x), (KEY, X)),
        Program("gamma", lambda k: r.gamma(k, 2.0, (6,)), (KEY,), 1e-3),
        Program("bernoulli", lambda k: r.bernoulli(k, 0.3, (6,)), (KEY,)),
        Program("new_keys", lambda s: r.key_data(r.split(r.key(s))), (np.int32(3),)),
    ]
    return rows


def _layer_norm(x: Any) -> Any:
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5)


def _mlp_step(params: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        (first, first_bias), (last, last_bias) = params
        hidden = jax.nn.gelu(x @ first + first_bias)
        return -jnp.take_along_axis(jax.nn.log_softmax(hidden @ last + last_bias), y[:, None], 1).mean()

    value, grads = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def _res_block(x: Any, w1: Any, w2: Any) -> Any:
    def conv(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def norm(x: Any) -> Any:
        return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5)

    return jax.nn.relu(x + norm(conv(jax.nn.relu(norm(conv(x, w1))), w2)))


def _recurrent(x: Any, w: Any) -> Any:
    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        carry = jnp.tanh(jnp.concatenate([carry, row]) @ w)
        return carry, carry

    return lax.scan(step, jnp.zeros(3), x)


def _models() -> list[Program]:
    rng = np.random.default_rng(1)

    def weights(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32) * np.float32(0.3)

    qkv = tuple(weights(2, 5, 2, 8) for _ in range(3))
    block = (weights(2, 6, 6, 4), weights(3, 3, 4, 4), weights(3, 3, 4, 4))
    params = [(weights(6, 8), weights(8)), (weights(8, 3), weights(3))]
    return [
        Program("softmax", jax.nn.softmax, (X,)),
        Program("layer_norm", _layer_norm, (X,), 1e-4),
        Program("layer_norm_grad", jax.grad(lambda x: (_layer_norm(x) ** 3).sum()), (X,), 1e-3),
        Program("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), qkv, 1e-4),
        Program(
            "attention_grad",
            jax.grad(lambda q, k, v: (jax.nn.dot_product_attention(q, k, v) ** 2).sum(), (0, 1, 2)),
            qkv,
            1e-3,
        ),
        Program("mlp_step", _mlp_step, (params, X, np.array([0, 2, 1, 1], np.int32)), 1e-4),
        Program("res_block", _res_block, block, 1e-3),
        Program("res_block_grad", jax.grad(lambda *a: (_res_block(*a) ** 2).sum(), (0, 1, 2)), block, 1e-2),
        Program("bf16_mlp", lambda x, w: jax.nn.silu(x @ w), (H, weights(6, 8).astype(jnp.bfloat16)), 3e-2),
        Program(
            "recurrent",
            _recurrent,
            (X, weights(9, 3)),
            1e-4,
        ),
        Program("hessian", jax.hessian(lambda x: (jnp.sin(x) ** 2).prod()), (X[0],), 1e-4),
        Program("vmap_grad", jax.vmap(jax.grad(lambda x: jnp.log1p(x * x).sum())), (X,), 1e-4),
    ]


FAMILIES: dict[str, list[Program]] = {
    "elementwise": _elementwise(),
    "types": _types(),
    "movement": _movement(),
    "reductions": _reductions(),
    "windows": _windows(),
    "contractions": _contractions(),
    "indexing": _indexing(),
    "sorts": _sorts(),
    "control": _control(),
    "linear_algebra": _linear_algebra(),
    "random": _random(),
    "models": _models(),
}
