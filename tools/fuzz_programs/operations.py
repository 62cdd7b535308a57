"""The operations of generated programs: for each family, expressions over the existing values.

A maker draws one expression. `generate` asks JAX for its type, and draws again if JAX refuses it. So the expressions of
a maker need only be valid in most cases. Intended differences from JAX are not drawn.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np


class Values(Protocol):
    """The values for a maker: the names of values of a kind (`b`, `i`, `f`, `c`; several; "" for any)."""

    rng: random.Random

    def pick(self, kinds: str = "", rank: int | None = None) -> str: ...
    def shape(self, name: str) -> tuple[int, ...]: ...
    def dtype(self, name: str) -> np.dtype[Any]: ...


Maker = Callable[[Values], str]


def _words(text: str) -> list[str]:
    return text.split()


_FLOAT_UNARY = _words(
    "sin cos tan tanh sinh cosh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square abs negative sign "
    "floor ceil rint trunc reciprocal arctan arcsin arccos arcsinh arccosh arctanh isnan isfinite isinf "
    "signbit sinc degrees nan_to_num positive deg2rad logical_not"
)
_WITH_ENDS = _words("sqrt log log2 log10 arcsin arccos arccosh")
_ANY_UNARY = _words("abs negative sign square conj real imag logical_not positive isfinite zeros_like ones_like")
# nextafter is not drawn: in code compiled by JAX, its denormals are zeros.
_BINARY = _words(
    "add subtract multiply maximum minimum divide less less_equal greater equal not_equal logical_and "
    "logical_or logical_xor hypot arctan2 copysign fmax fmin logaddexp logaddexp2 float_power "
    "floor_divide mod fmod remainder heaviside power"
)
_INT_BINARY = _words(
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift add multiply subtract floor_divide mod gcd lcm fmod"
)
_REDUCTIONS = _words(
    "sum prod max min mean var std any all nansum nanmax nanmean ptp count_nonzero median argmax argmin"
)
# Means are not drawn: NumPy and JAX divide an infinite sum by a count differently.
_COMPLEX_REDUCTIONS = _words("sum prod var std any all nansum count_nonzero")
_CUMULATIVE = _words("cumsum cumprod nancumsum nancumprod")
_LAX_CUMULATIVE = _words("cummax cummin cumlogsumexp")
_NN = _words(
    "relu sigmoid softplus silu gelu elu selu celu leaky_relu hard_tanh softmax log_softmax log_sigmoid "
    "relu6 squareplus mish hard_sigmoid soft_sign"
)
_SPECIAL = _words("erf erfc gammaln ndtr log_ndtr expit logit i0e i1e xlog1py xlogy erfinv")
_DTYPES = (
    "float32",
    "float32",
    "int32",
    "bool_",
    "float16",
    "bfloat16",
    "int8",
    "uint8",
    "uint32",
    "complex64",
    "int16",
)


_KINDS = "bifc"


def any_of(v: Values) -> str:
    """A value of any kind with equal probability: programs have few complex numbers."""
    return v.pick(v.rng.choice(["", _KINDS]))


def axis_of(v: Values, name: str) -> int | None:
    """An axis, from either end; None for a scalar."""
    rank = len(v.shape(name))
    return v.rng.randrange(-rank, rank) if rank else None


def unary(v: Values) -> str:
    if v.rng.random() < 0.7:
        operation, a = v.rng.choice(_FLOAT_UNARY), v.pick("f")
        if operation in ("exp", "exp2") and v.dtype(a).kind != "c":  # XLA replaces log(exp(x)) by x
            a = f"pnp.clip({a}, -8, 8)"
        if operation == "arctanh" and v.dtype(a).kind != "c":  # near 1 rounding dominates
            a = f"(0.9 * {a} / (1 + pnp.abs({a})))"
        if operation == "log1p" and v.dtype(a).kind != "c":  # near -1 rounding dominates
            a = f"pnp.maximum({a}, -0.9)"
        if operation == "sinc":  # JAX's slope near 0 is a difference of large numbers
            a = stepped(v, a)
        if operation in _WITH_ENDS:  # rounding decides whether a value is still in the domain
            a = stepped(v, a)
        if operation == "signbit":  # the sign of a nan is arbitrary, and JAX's sums begin with 0, so that none is -0
            a = f"pnp.where({a} == 0, 0, pnp.nan_to_num({a}))"
        return f"pnp.{operation}({a})"
    operation, a = v.rng.choice(_ANY_UNARY), v.pick()
    if operation == "sign" and v.dtype(a).kind == "c":  # JAX divides an infinity by itself
        a = f"({a} / (1 + pnp.abs({a})))"
    return f"pnp.{operation}({a})"


def scalar(v: Values, name: str) -> str:
    """A number of Python that fits the value."""
    kind = v.dtype(name).kind
    if kind == "b":
        return v.rng.choice(["True", "False"])
    return v.rng.choice(["2", "1", "0", "3"] if kind in "iu" else ["2", "0.5", "-1.5", "0.0", "3.0", "1e-3"])


def binary(v: Values) -> str:
    a = v.pick("fffi")
    b = scalar(v, a) if v.rng.random() < 0.3 else v.pick()
    if v.rng.random() < 0.2:
        a, b = b, a
    operation = v.rng.choice(_BINARY)
    if operation == "arctan2":  # only JAX has it for complex numbers
        # XLA's result for two constant zeros is nan.
        a, b = v.pick("fi"), f"pnp.add({v.pick('fi')}, 0.6)"
    if operation in ("power", "float_power"):  # XLA replaces log(x**y) by y * log(abs(x))
        a, b = base(a), exponent(v, b)
        if b.startswith("v") and v.dtype(b).kind == "c":
            # JAX's complex powers of 0, and those beyond the largest number, are nan.
            a, b = f"({a} + 1)", f"({b} / (1 + pnp.abs({b})))"
    if operation in ("fmod", "mod", "remainder", "floor_divide") or operation.startswith("logical"):
        # Rounding decides on a quotient that is nearly whole, and on a number that is nearly 0.
        a, b = stepped(v, a), "0.5" if b == "1e-3" else stepped(v, b)
    if operation == "floor_divide":  # the sign of a quotient of 0 depends on the computation
        if is_real_float(v, b) or b.startswith("("):  # XLA's jitted quotient of two zeros is -1
            b = f"pnp.where({b} == 0, 1, {b})"
        return unsigned(f"pnp.floor_divide({a}, {b})")
    if operation in ("mod", "remainder"):  # a remainder of 0 has the divisor's sign (docs/differences.md)
        return unsigned(f"pnp.{operation}({a}, {b})")
    if operation.startswith(("equal", "not_equal", "less", "greater")):  # rounding decides
        a, b = (stepped(v, x) for x in (a, b))
    if operation in ("maximum", "minimum") and any(x.startswith("v") and v.dtype(x).kind == "c" for x in (a, b)):
        a, b = f"pnp.nan_to_num({a})", f"pnp.nan_to_num({b})"  # JAX's functions skip some nans
    if operation in ("multiply", "divide"):  # XLA's nan * False is 0, and its False / -1 is 0, not -0
        a, b = (f"{x}.astype(pnp.int32)" if x.startswith("v") and v.dtype(x).kind == "b" else x for x in (a, b))
    if operation == "copysign":  # the sign of a nan is unspecified, that of 0 depends on the computation
        b = unsigned(f"pnp.nan_to_num({b})")
    return f"pnp.{operation}({a}, {b})"


def stepped(v: Values, name: str) -> str:
    """The value rounded to the nearest eighth, so that all ways to compute it give the same number."""
    return f"(pnp.round(pnp.clip({name}, -8, 8) * 8) / 8)" if is_real_float(v, name) else name


def is_real_float(v: Values, name: str) -> bool:
    return name.startswith("v") and v.dtype(name).kind not in "iubc"


def unsigned(number: str) -> str:
    """The number without the sign of zero. XLA replaces a sum with 0 by the number itself."""
    return f"pnp.where({number} == 0, 0, {number})"


def integers(v: Values) -> str:
    a, b = v.pick("i"), v.pick("i")
    return f"pnp.{v.rng.choice(_INT_BINARY)}({a}, {v.rng.choice([b, scalar(v, a)])})"


def powers(v: Values) -> str:
    a, b = v.pick(), v.rng.choice(["2", "3", "0", "1", "-1", "0.5", v.pick("bif")])
    if v.rng.random() < 0.2:  # powers with exponents of 0, whose slopes have limits
        return f"{base(a)} ** pnp.clip(pnp.abs(pnp.round({v.pick('f')})), 0, 4)"
    return f"{a} ** {b}" if b.isdigit() else f"{base(a)} ** {exponent(v, b)}"


def base(a: str) -> str:
    """A base whose powers are finite: XLA replaces log(x**y) by y * log(x), which does not overflow."""
    return f"pnp.minimum(pnp.abs({a}), 8)"


def exponent(v: Values, b: str) -> str:
    """A small exponent: JAX reads six bits of an integer, and NumPy has no negative powers of integers."""
    if not b.startswith("v") or v.dtype(b).kind in "bc":
        return b
    return f"({b} & 3)" if v.dtype(b).kind in "iu" else f"pnp.clip({b}, -4, 4)"


def reduction(v: Values) -> str:
    a = v.pick("fffibc")
    axis = axis_of(v, a)
    # Then JAX's median of a scalar has a dimension.
    keep = ", keepdims=True" if v.rng.random() < 0.3 and v.shape(a) else ""
    # JAX's extrema of complex numbers skip nan, and JAX has no places of these extrema.
    names = _COMPLEX_REDUCTIONS if v.dtype(a).kind == "c" else _REDUCTIONS
    name = v.rng.choice(names)
    if name in ("count_nonzero", "any", "all"):  # rounding decides on numbers that are nearly 0
        a = stepped(v, a)
    return f"pnp.{name}({a}, axis={axis}{keep})"


def cumulative(v: Values) -> str:
    a = v.pick("ffic")
    axis = axis_of(v, a)
    if v.rng.random() < 0.4:
        backwards = v.rng.choice(["", ", reverse=True"])
        positive = axis % len(v.shape(a)) if axis is not None else 0
        operation = v.rng.choice(_LAX_CUMULATIVE)
        if operation == "cumlogsumexp" and v.dtype(a).kind in "iu":  # JAX accepts empty arrays of integers
            operation = "cummax"
        if v.dtype(a).kind == "c":  # the angle of a logarithm wraps, and JAX's extrema skip nan
            operation, a = v.rng.choice(["cummax", "cummin"]), f"pnp.nan_to_num({a})"
        return f"lax.{operation}({a}, axis={positive}{backwards})"
    operation = v.rng.choice(_CUMULATIVE)
    if v.dtype(a).kind == "c":  # JAX multiplies by 1 first, so complex infinities become nan
        operation = operation.replace("prod", "sum")
    if operation.startswith("nan") and v.dtype(a).kind not in "iu":
        a = f"pnp.where(pnp.abs({a}) > 1, {a}, pnp.nan)"
    return f"pnp.{operation}({a}, axis={axis})"


def _factors(rng: random.Random, size: int) -> list[int]:
    shape: list[int] = []
    for _ in range(rng.randrange(4)):
        divisors = [d for d in range(1, size + 1) if size % d == 0] or [0, 1, 2]
        shape.append(rng.choice(divisors))
        size = size // shape[-1] if shape[-1] else size
    return [*shape, size]


def movement(v: Values) -> str:
    a = any_of(v)
    shape, axis, rng = v.shape(a), axis_of(v, a), v.rng
    permutation = list(range(len(shape)))
    rng.shuffle(permutation)
    spread = (rng.randrange(1, 4), *(rng.choice([d, d]) if d != 1 else rng.randrange(0, 4) for d in shape))
    # A scalar counts as a vector of one.
    along = axis if axis is not None else rng.choice([None, 0, -1])
    return rng.choice(
        [
            f"pnp.reshape({a}, {tuple(_factors(rng, int(np.prod(shape))))})",
            f"pnp.transpose({a}, {tuple(permutation)})",
            f"pnp.expand_dims({a}, {rng.randrange(-len(shape) - 1, len(shape) + 1)})",
            f"pnp.squeeze({a}, axis={axis})",
            f"pnp.flip({a}, {axis})",
            f"pnp.roll({a}, {rng.randrange(-3, 4)}, axis={axis})",
            f"pnp.tile({a}, {tuple(rng.randrange(1, 3) for _ in range(rng.randrange(3)))})",
            f"pnp.repeat({a}, {rng.randrange(3)}, axis={along})",
            f"pnp.broadcast_to({a}, {spread})",
            f"pnp.rot90({a}, {rng.randrange(-1, 4)})",
            f"pnp.moveaxis({a}, {axis}, {axis_of(v, a)})",
            f"pnp.ravel({a})",
            f"pnp.concatenate([{a}, {v.pick(rank=len(shape))}], axis={axis})",
            f"pnp.stack([{a}, {rng.choice([a, v.pick(rank=len(shape))])}], axis={rng.randrange(len(shape) + 1)})",
            f"pnp.hstack([{a}, {v.pick(rank=len(shape))}])",
            f"pnp.diag({a})",
            f"pnp.tril({a}, {rng.randrange(-1, 2)})",
            f"pnp.diff({a}, axis={axis})",
            f"pnp.split({a}, {rng.randrange(1, 4)}, axis={axis})[-1]",
            f"pnp.trace({a})",
        ]
    )


def padding(v: Values) -> str:
    a, rng = any_of(v), v.rng
    pads = ", ".join(f"({rng.randrange(3)}, {rng.randrange(3)})" for _ in v.shape(a))
    modes = ["constant", "edge", "reflect", "wrap", "symmetric", "linear_ramp", "linear_ramp", "mean", "maximum"]
    mode = rng.choice(modes) if 0 not in v.shape(a) else "constant"  # other modes have no elements to repeat
    if mode == "linear_ramp" and v.dtype(a).kind in "iu":  # JAX's ramp has the digits of float32
        mode = "edge"
    if mode == "linear_ramp" or (mode == "maximum" and v.dtype(a).kind == "c"):
        # JAX's line of one number does not reach its end, so NumPy's is nan. JAX's complex extrema skip nan.
        a = f"pnp.nan_to_num({a})"
    return f"pnp.pad({a}, ({pads}{',' if pads else ''}), mode={mode!r})"


def _places(rng: random.Random, size: int, count: int) -> str:
    """An array of `count` indices, with a drawn dtype."""
    dtype = rng.choice(["", "", ", pnp.int32", ", pnp.int8"])
    return f"pnp.array({[rng.randrange(-size, size) for _ in range(count)]}{dtype})"


def _index(v: Values, shape: Sequence[int]) -> str:
    """An index of an array of this shape: numbers, slices, arrays of indices, new dimensions."""
    rng = v.rng
    if len(shape) > 1 and 0 not in shape and rng.random() < 0.25:  # arrays with another item between them
        count, between = rng.randrange(1, 4), rng.choice(["...", "...", ":", "None", "::-1"])
        last = 2 if between in (":", "::-1") and len(shape) > 2 else 1
        parted = [_places(rng, shape[0], count), between, _places(rng, min(shape[last:]), rng.choice([1, count]))]
        return ", ".join([":", *parted] if rng.random() < 0.3 else parted)
    parts = []
    for size in shape[: rng.randrange(len(shape) + 1)] if rng.random() < 0.4 else shape:
        draws = [
            f"{rng.randrange(-3, 3)}:{rng.randrange(-3, 5)}",
            f"::{rng.choice([1, 2, -1, -2])}",
            ":",
            "None",
        ]
        if size:
            draws += [
                str(rng.randrange(-size, size)),
                str([rng.randrange(-size, size) for _ in range(rng.randrange(1, 4))]),
            ]
            # The places are inside, because JAX drops the derivatives of reads that were moved inside.
            draws.append(f"pnp.mod({v.pick('i')}, {size})")
        draw = rng.choice(draws)
        parts.append(f"{draw}, :" if draw == "None" else f"pnp.array({draw})" if draw.startswith("[") else draw)
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), "...")
    return ", ".join(parts) or "..."


def _selects_nothing(v: Values, shape: Sequence[int], index: str) -> bool:
    """Whether the indexed part has no elements."""
    names = {name: np.zeros(v.shape(name), int) for name in re.findall(r"v\d+", index)}
    try:
        place = eval(f"np.s_[{index}]", {"np": np, "pnp": np, **names})
        return 0 in np.zeros(shape)[place].shape
    except IndexError:
        return False


def indexing(v: Values) -> str:
    a = any_of(v)
    shape, rng = v.shape(a), v.rng
    index, axis = _index(v, shape), axis_of(v, a)
    # Bools have no sums; JAX accepts sums of no bools.
    kind = v.dtype(a).kind
    # JAX's extrema of complex numbers skip nan.
    extrema = [] if kind == "c" else ["max", "min"]
    method = rng.choice(["set", *extrema, *(["add", "multiply", "set"] if kind != "b" else [])])
    # XLA computes nan * False as 0. If no element is set, JAX accepts any shape.
    value = v.pick("fi" if method == "multiply" else "fib")
    is_empty = 0 in (*shape, *v.shape(value)) or _selects_nothing(v, shape, index)
    new = scalar(v, a) if is_empty else rng.choice([scalar(v, a), value])
    starts = ", ".join(rng.choice([str(rng.randrange(-2, 4)), v.pick("i", 0)]) for _ in shape)
    sizes = tuple(rng.randrange(0, d + 1) for d in shape)
    mode = rng.choice(["clip", "wrap", "fill"])
    return rng.choice(
        [
            f"{a}[{index}]",
            f"{a}[{index}]",
            f"{a}.at[{index}].{method}({new})",
            f"{a}.at[{index}].{method}({new})",
            f"lax.dynamic_slice({a}, ({starts}{',' if starts else ''}), {sizes})",
            f"lax.dynamic_update_slice({a}, {v.pick(rank=len(shape))}, ({starts}{',' if starts else ''}))",
            # JAX gives another shape if there are no elements to take from.
            *([f"pnp.take({a}, {v.pick('i')}, axis={axis}, mode={mode!r})"] if 0 not in shape else []),
            f"pnp.take_along_axis({a}, pnp.argsort({a}, axis={axis}), axis={axis})",
            f"pnp.where({v.pick('bbifc')}, {a}, {new})",
            *([f"lax.select(pnp.sign({a}).astype(pnp.int32), {a}, pnp.flip({a}))"] if v.dtype(a).kind == "i" else []),
            f"pnp.select([{v.pick('b')}, {v.pick('b')}], [{a}, {v.pick()}], {scalar(v, a)})",
            f"pnp.clip({a}, {scalar(v, a)}, {v.pick('f')})",
            f"pnp.compress(pnp.arange({shape[axis] if axis is not None else 1}) > 0, {a}, axis={axis}, size=2)",
            f"pnp.choose({v.pick('i')} % 2, [{a}, {v.pick()}])",
        ]
    )


def sorting(v: Values) -> str:
    a = v.pick("ffib")
    axis, rng = axis_of(v, a), v.rng
    return rng.choice(
        [
            f"pnp.sort({a}, axis={axis})",
            # The order of numbers that differ only by rounding is arbitrary.
            f"pnp.argsort(pnp.round({a} * 1.37, 2), axis={axis}, stable=True)",
            f"pnp.sort({a}, axis={axis}, descending=True)",
            f"lax.top_k(pnp.abs(pnp.nan_to_num({a})), 1)[{rng.randrange(2)}]",
            # Rounding decides whether a number is below one that equals it.
            f"pnp.searchsorted(pnp.sort(pnp.ravel({stepped(v, a)})), {stepped(v, v.pick('fi'))})",
            f"pnp.unique(pnp.round({a}), size=3, fill_value=0)",
            f"pnp.lexsort((pnp.round({a} * 1.37, 2), {rng.choice([v.pick('i'), f'pnp.abs({a})'])}))",
            f"pnp.partition(pnp.nan_to_num({a}), 0, axis={axis})",  # in JAX nan is the minimum
            # JAX multiplies infinities by a zero weight in quantiles, which gives nan.
            f"pnp.quantile(pnp.where(pnp.isinf({a}), 0, {a}), {rng.choice(['0.25', '0.5', '1.0'])}, axis={axis})",
            f"pnp.bincount({v.pick('i')}, length=4)",
            f"pnp.digitize({a}, pnp.array([-1.0, 0.0, 1.0]))",
        ]
    )


def contraction(v: Values) -> str:
    a, b = v.pick("fficb"), v.pick("fficb")
    if (v.dtype(a).kind == "b") != (v.dtype(b).kind == "b"):  # XLA computes False times nan as 0
        b = a
    rng = v.rng
    # One more dimension, before or behind that of the vectors.
    wider = f"pnp.stack([{a}, {rng.choice([a, v.pick(rank=len(v.shape(a)))])}], axis={rng.randrange(2)})"
    letters = "ijkl"[: len(v.shape(a))]
    other = "".join(rng.sample("ijklm", min(5, len(v.shape(b)))))
    both = sorted({*letters, *other})
    kept = "".join(rng.sample(both, len(both) // 2))
    return rng.choice(
        [
            f"pnp.matmul({a}, {b})",
            f"pnp.matmul({a}, pnp.swapaxes({a}, -1, -2))",
            f"pnp.dot({a}, {b})",
            f"pnp.tensordot({a}, {b}, {rng.randrange(3)})",
            f"pnp.outer({a}, {b})",
            f"pnp.inner({a}, {b})",
            f"pnp.kron({a}, {b})",
            f"pnp.vecdot({a}, {b}, axis={axis_of(v, a)})",
            f"pnp.vecdot({a}, {wider}, axis={rng.choice([0, -1])})",
            f"pnp.einsum('{letters},{other}->{kept}', {a}, {b})",
            # Both libraries pad the shorter vector, and a zero times nan is nan.
            f"pnp.convolve(pnp.nan_to_num({a}, posinf=9, neginf=-9), pnp.nan_to_num({b}, posinf=9, neginf=-9))",
            # For equal vectors, only the rounding of a product remains.
            f"pnp.cross({stepped(v, a)}, pnp.flip({stepped(v, b)}))",
        ]
    )


def decomposition(v: Values) -> str:
    a = v.pick("f", 2)
    n = v.shape(a)[0]
    matrix = f"(pnp.nan_to_num(pnp.tanh({a} @ {a}.T), nan=0.0).astype(pnp.float32) + {n + 1.1} * pnp.eye({n}))"
    return v.rng.choice(
        [
            f"pnp.linalg.inv({matrix})",
            f"pnp.linalg.det({matrix})",
            f"pnp.linalg.cholesky({matrix})",
            f"pnp.linalg.solve({matrix}, pnp.ones({n}))",
            f"pnp.linalg.eigvalsh({matrix})",
            f"pnp.linalg.slogdet({matrix})[1]",
            f"pnp.linalg.svd({matrix}, compute_uv=False)",
        ]
    )


def norm(v: Values) -> str:
    a, order = v.pick("fffic"), v.rng.choice(["None", "0", "1", "2", "pnp.inf", "-pnp.inf"])
    if v.dtype(a).kind != "c":  # JAX squares float16 numbers without conversion, which overflows
        # The norm of order 0 counts the numbers that are not 0.
        a, axis = f"pnp.tanh({stepped(v, a) if order == '0' else a})", axis_of(v, a)
    else:
        axis = axis_of(v, a)
    return f"pnp.linalg.norm({a}, ord={order}, axis={axis})"


def spectral(v: Values) -> str:
    a = v.pick("ffc")
    axis = -1 if axis_of(v, a) is None else axis_of(v, a)
    inner = v.rng.choice(["fft", "ifft", "fftshift"])
    return v.rng.choice(
        [
            f"pnp.fft.{inner}({a}, axis={axis})",
            f"pnp.fft.rfft({v.pick('f')})",
            # Sums of the largest numbers overflow in some orders.
            f"pnp.abs(pnp.fft.fft(pnp.nan_to_num({a}, posinf=9, neginf=-9)))",
        ]
    )


def window(v: Values) -> str:
    a = v.pick("f")
    rng, shape = v.rng, v.shape(a)
    size = tuple(rng.randrange(1, 3) for _ in shape)
    strides = tuple(rng.randrange(1, 3) for _ in shape)
    padding = rng.choice(["SAME", "VALID"])
    start, function = rng.choice([("-pnp.inf", "max"), ("0.0", "add"), ("pnp.inf", "min")])
    # XLA ends the process for the derivative of extrema over windows of dilated operands.
    dilation = (
        f", base_dilation={tuple(rng.randrange(1, 3) for _ in shape)}"
        if function == "add" and rng.random() < 0.5
        else ""
    )
    value = f"{a}.astype(pnp.float32)"
    if rng.random() < 0.3:
        lhs, rhs = v.pick("f", 3), v.pick("f", 3)  # JAX computes zeros times infinities or nans, as in padding, as 0
        return f"lax.conv_general_dilated(pnp.tanh({lhs}), pnp.tanh(pnp.nan_to_num({rhs})), (1,), {padding!r})"
    return f"lax.reduce_window({value}, {start}, lax.{function}, {size}, {strides}, {padding!r}{dilation})"


def creation(v: Values) -> str:
    rng, a = v.rng, v.pick()
    dtype = rng.choice(_DTYPES)
    shape = tuple(rng.randrange(4) for _ in range(rng.randrange(3)))
    return rng.choice(
        [
            f"pnp.arange({rng.randrange(5)}, dtype=pnp.{rng.choice(['float32', 'int32'])})",
            f"pnp.linspace({rng.randrange(-2, 3)}, {rng.randrange(-2, 5)}, {rng.randrange(5)})",
            f"pnp.full_like({a}, {scalar(v, a)})",
            f"pnp.eye({rng.randrange(4)}, {rng.randrange(1, 4)})",
            f"lax.broadcasted_iota(pnp.int32, {tuple(rng.randrange(3) for _ in range(2))}, {rng.randrange(2)})",
            f"pnp.{rng.choice(['zeros', 'ones'])}({shape}, pnp.{dtype})",
            f"random.uniform(random.key({rng.randrange(9)}), {shape})",
            f"random.randint(random.key({rng.randrange(9)}), ({rng.randrange(4)},), -3, 4)",
            f"pnp.meshgrid(pnp.ravel({a}), pnp.arange(2))[{rng.randrange(2)}]",
        ]
    )


def types(v: Values) -> str:
    a, dtype = v.pick(), v.rng.choice(_DTYPES)
    if v.dtype(a).kind == "c":
        return f"pnp.real({a})"
    # Some functions give integers up to rounding, such as tanh of a large number.
    source = f"pnp.rint({a})" if v.dtype(a).kind not in "iub" and "int" in dtype else a
    return f"{source}.astype(pnp.{dtype})"


def networks(v: Values) -> str:
    a, rng = v.pick("f"), v.rng
    name = rng.choice([*_NN, *_SPECIAL])
    if name in _NN:
        if "softmax" in name:  # with an infinity, JAX's whole row is nan
            return f"nn.{name}(pnp.nan_to_num({a}), axis={axis_of(v, a)})"
        if name == "celu":  # the sign of a result of 0 depends on the formula
            return unsigned(f"nn.{name}({a})")
        return f"nn.{name}({a})"
    if name == "gammaln":  # JAX's function has an error of 1e-7 near its zeros
        a = f"(pnp.abs({a}) + 3)"
    if name == "log_ndtr":  # at 5, JAX's function has an error of 9%
        a = f"pnp.minimum({a}, 1)"
    if name in ("xlogy", "xlog1py"):
        return f"special.{name}({a}, {v.pick('f')})"
    return f"special.{name}({a})"


def several(v: Values) -> str:
    """Functions of many operands, which test the cost of compilation."""
    a = v.pick()
    names = ", ".join(v.rng.choice([a, a, v.pick(rank=len(v.shape(a)))]) for _ in range(v.rng.randrange(2, 5)))
    return v.rng.choice([f"pnp.stack([{names}])", f"pnp.concatenate([{names}])", f"pnp.array([{names}])"])


def callback(v: Values) -> str:
    a = v.pick("f")
    return f"pure_callback(host, ShapeDtypeStruct({v.shape(a)}, pnp.{v.dtype(a).name}), {a}, vmap_method='expand_dims')"


FAMILIES: dict[Maker, float] = {
    unary: 5,
    binary: 6,
    integers: 2,
    powers: 1,
    reduction: 3,
    cumulative: 1.5,
    movement: 5,
    padding: 1,
    indexing: 5,
    sorting: 2,
    contraction: 2.5,
    decomposition: 0.7,
    norm: 0.5,
    spectral: 0.7,
    window: 1,
    creation: 1.5,
    types: 1.5,
    networks: 1.5,
    several: 0.7,
    callback: 0.4,
}
