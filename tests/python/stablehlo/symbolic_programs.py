"""Programs of JAX with symbolic sizes, by family, for `test_symbolic_programs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.core import max_dim as export_max

B, T = export.symbolic_shape("b, t")
F32, I32 = np.float32, np.int32

_SIZES: Sequence[Mapping[str, int]] = ({"b": 2, "t": 3}, {"b": 5, "t": 4}, {"b": 1, "t": 1})


@dataclass(frozen=True)
class Symbolic:
    """A function, the shapes of its arguments, their dtypes (by default float32), and the sizes of calls."""

    name: str
    function: Callable[..., Any]
    shapes: Sequence[tuple[Any, ...]]
    dtypes: Sequence[Any] = ()
    sizes: Sequence[Mapping[str, int]] = _SIZES

    def specs(self) -> list[jax.ShapeDtypeStruct]:
        dtypes = [*self.dtypes, *[F32] * len(self.shapes)]
        return [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in zip(self.shapes, dtypes, strict=False)]


_ANY = [{"b": b, "t": t} for b, t in ((1, 1), (2, 5), (5, 2), (7, 3), (8, 4), (3, 9))]


def _lengths(last: int) -> list[dict[str, int]]:
    return [{"b": 2, "t": size} for size in range(1, last)]


def _attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / jnp.sqrt(8.0)
    length = q.shape[1]
    seen = jnp.tril(jnp.ones((length, length), bool))
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1), v)


def _loss(w: Any, x: Any, y: Any) -> Any:
    return ((jax.nn.gelu(x @ w) - y) ** 2).mean()


def _recurrence(w: Any, x: Any) -> Any:
    return jax.lax.scan(lambda c, a: (jnp.tanh(c @ w + a), c.sum(1)), jnp.zeros((x.shape[1], 3)), x)


def _whole_groups(x: Any, y: Any) -> Any:
    """The sums of groups of as many rows as y has elements."""
    size = y.shape[0]
    count = x.shape[0] // size
    return x[: count * size].reshape(count, size, 2).sum(1) * y.sum()


def _conv(stride: int, padding: str) -> Callable[[Any, Any], Any]:
    def conv(x: Any, k: Any) -> Any:
        return jax.lax.conv_general_dilated(x, k, (stride,), padding, dimension_numbers=("NWC", "WIO", "NWC"))

    return conv


def _pool(combine: Any, init: float, window: int, stride: int, padding: str) -> Callable[[Any], Any]:
    return lambda x: jax.lax.reduce_window(x, init, combine, (1, window), (1, stride), padding)


(_EIGHT,) = export.symbolic_shape("n", constraints=["n >= 8", "mod(n, 4) == 0"])
(_FIVE,) = export.symbolic_shape("n", constraints=["n >= 5"])
_LONG, _SHORT = export.symbolic_shape("n, m", constraints=["n >= m"])
_LONGER = ({"m": 2, "n": 5}, {"m": 3, "n": 3})
_EIGHTS = ({"n": 8}, {"n": 24})

FAMILIES: dict[str, list[Symbolic]] = {
    "models": [
        Symbolic("mlp", lambda x, w: jnp.tanh(x @ w), [(B, 4), (4, 4)]),
        Symbolic("attention", _attention, [(B, T, 2, 8)] * 3),
        Symbolic("gradient", jax.grad(_loss), [(4, 3), (B, 4), (B, 3)]),
        Symbolic(
            "cross_entropy",
            lambda x, y: -(jax.nn.log_softmax(x) * jax.nn.one_hot(y, 6)).sum(-1).mean(),
            [(B, 6), (B,)],
            [F32, I32],
        ),
        Symbolic("embedding", jax.grad(lambda e, i: jnp.tanh(e[i]).sum()), [(7, 4), (B, T)], [F32, I32]),
        Symbolic("recurrence", _recurrence, [(3, 3), (T, B, 3)]),
        Symbolic("recurrence_gradient", jax.grad(lambda w, x: _recurrence(w, x)[1].sum()), [(3, 3), (T, B, 3)]),
        Symbolic(
            "normalized",
            lambda x: (x - x.mean((0, 2), keepdims=True)) * jax.lax.rsqrt(x.var((0, 2), keepdims=True) + 1e-5),
            [(B, 3, T)],
        ),
    ],
    "shapes": [
        Symbolic("reshape", lambda x: x.reshape(x.shape[0] * x.shape[1], -1), [(B, T, 4)]),
        Symbolic("arange", lambda x: (jnp.arange(x.shape[0] * x.shape[1] + 1), x.shape[0] * x), [(B, T)]),
        Symbolic("slices", lambda x: (x[: x.shape[0] - 1], x[1:], x[::2], x[1:] - x[:-1]), [(B, 4)]),
        Symbolic("pad", lambda x: jnp.pad(x, ((0, x.shape[0]), (2, 0))), [(B, T)]),
        Symbolic("pad_between", lambda x: jax.lax.pad(x, 0.0, ((1, 1, 1), (0, -1, 0))), [(B, T)]),
        Symbolic("concatenate", lambda x, y: (jnp.concatenate([x, y], 1)[:, 1:], jnp.stack([x, x])), [(B, 4), (B, T)]),
        Symbolic("moved", lambda x: (x[::-1], jnp.roll(x, 1, 0), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 0)), [(B, 4)]),
        Symbolic("square", lambda x: (x @ jnp.eye(x.shape[0])).reshape(-1), [(B, B)]),
        Symbolic("remainder", lambda x: jnp.zeros((x.shape[0] % 3 + 1,)), [(B,)], sizes=_lengths(5)),
        Symbolic("kron", lambda x: jnp.kron(x, jnp.ones((2, 2))), [(B, T)]),
        Symbolic("random", lambda x: x * jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), [(B, T)]),
    ],
    "conditions": [
        Symbolic("same_size", lambda x, y: x + y, [(B, 4), (B, 4)]),
        Symbolic("double", lambda x, y: x + y.reshape(2, -1).sum(0), [(B,), (2 * B,)]),
        Symbolic("odd", lambda x: x[1:].reshape(-1, 2), [(2 * B + 1,)]),
        Symbolic("half", lambda x: x.reshape(-1, 2), [(2 * B,)]),
        Symbolic(
            "divisible", lambda x: (x[: x.shape[0] // 2], x.reshape(4, x.shape[0] // 4)), [(_EIGHT,)], sizes=_EIGHTS
        ),
        Symbolic("bounded", lambda x: x[:5], [(_FIVE,)], sizes=({"n": 5}, {"n": 9})),
        Symbolic(
            "longer",
            lambda x, y: x[y.shape[0] :] * y.sum(),
            [(_LONG,), (_SHORT,)],
            sizes=({"m": 2, "n": 5}, {"m": 3, "n": 3}),
        ),
        Symbolic("sum", lambda x, y: y[1:] * x.sum(), [(B,), (B + T,)]),
    ],
    "maxima": [
        Symbolic("head", lambda x: x[:5], [(B, T)], sizes=_ANY),
        Symbolic("tail", lambda x: (x[3:], x[:, 2:5], x[-4:]), [(B, T)], sizes=_ANY),
        Symbolic("parts", lambda x: jnp.concatenate([x[4:], x[:4]]), [(B, T)], sizes=_ANY),
        Symbolic("shorter", lambda x, y: x[: y.shape[0]] * y.sum(), [(B, 3), (T,)], sizes=_ANY),
        Symbolic("padded", lambda x: jnp.pad(x, (0, export_max(x.shape[0], 4) - x.shape[0])), [(B,)], sizes=_ANY),
        Symbolic("longer", lambda x, y: jnp.zeros(export_max(x.shape[0], y.shape[0])), [(B,), (T,)], sizes=_ANY),
        Symbolic("steps", lambda x: (x[1::3], x[:7:2]), [(B,)], sizes=_ANY),
    ],
    "quotients": [
        Symbolic("quotient", lambda x, y: jnp.zeros(x.shape[0] // y.shape[0]), [(B,), (T,)], sizes=_ANY),
        Symbolic("rest", lambda x, y: x[: x.shape[0] % y.shape[0]] + 1, [(B,), (T,)], sizes=_ANY),
        Symbolic("whole", _whole_groups, [(B, 2), (T,)], sizes=_ANY),
        Symbolic("beyond", lambda x, y: jnp.arange((x.shape[0] - 1) // (y.shape[0] + 1)), [(B,), (T,)], sizes=_ANY),
    ],
    "reductions": [
        Symbolic("softmax", jax.nn.softmax, [(B, T)]),
        Symbolic("positions", lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0), x.max(0), jnp.any(x > 0)), [(B, T)]),
        Symbolic("moments", lambda x: (x.mean(), jnp.std(x, 1), jnp.median(x, axis=1)), [(B, T)]),
        Symbolic("running", lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), jax.lax.cummax(x, 1, True)), [(B, T)]),
        Symbolic("sorts", lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1)), [(B, T)]),
        Symbolic("top_k", lambda x: jax.lax.top_k(x, 2), [(B, 8)]),
        Symbolic("max_pool", _pool(jax.lax.max, -np.inf, 2, 2, "VALID"), [(B, T)]),
        Symbolic("mean_pool", _pool(jax.lax.add, 0.0, 3, 2, "SAME"), [(B, T)], sizes=_lengths(7)),
        Symbolic(
            "any_reducer",
            lambda x: (
                jax.lax.reduce(x, F32(0), lambda a, b: jax.lax.sqrt(a * a + b * b), (0, 1)),
                jax.lax.reduce_window(x, F32(0), lambda a, b: a * a + b, (1, 2), (1, 1), "SAME"),
                jax.lax.cumlogsumexp(x, 1),
            ),
            [(B, 4)],
        ),
        Symbolic("bits", lambda x: (jax.lax.bitcast_convert_type(x, np.int32), jnp.nextafter(x, x + 1)), [(B, 4)]),
        Symbolic("bools", lambda x: (jnp.isinf(x), jnp.nan_to_num(x), jnp.round(x), jnp.clip(x, -1, 1)), [(B, T)]),
    ],
    "products": [
        Symbolic("batched", lambda x, y: jnp.einsum("bij,bjk->bik", x, y), [(B, T, 4), (B, 4, T)]),
        Symbolic("mapped", jax.vmap(jnp.dot), [(B, T), (B, T)]),
        Symbolic("conv", _conv(1, "SAME"), [(B, T, 3), (3, 3, 5)]),
        Symbolic("conv_strides", _conv(2, "SAME"), [(B, T, 3), (3, 3, 5)], sizes=_lengths(7)),
        Symbolic("conv_valid", _conv(1, "VALID"), [(B, T + 2, 3), (3, 3, 5)]),
        Symbolic("fft", jnp.fft.rfft, [(B, 8)]),
        Symbolic("cholesky", lambda x: jnp.linalg.cholesky(4 * jnp.eye(3) + 0 * x), [(B, 3, 3)]),
        Symbolic("solve", lambda x, y: jnp.linalg.solve(4 * jnp.eye(3) + 0 * x, y), [(B, 3, 3), (B, 3, 1)]),
    ],
    "indexing": [
        Symbolic("rows", lambda x, i: (x[i], x.at[i].set(0.0), x.at[i].add(1.0)), [(B, 4), (T,)], [F32, I32]),
        Symbolic("along", lambda x, i: jnp.take_along_axis(x, i, axis=1), [(B, T), (B, T)], [F32, I32]),
        Symbolic("block", lambda x, i: (jax.lax.dynamic_slice(x, (i, 0), (1, 2)), x[i]), [(B, 4), ()], [F32, I32]),
        Symbolic("update", lambda x, y: jax.lax.dynamic_update_slice(x, y, (0, 1)), [(B, 4), (B, 2)]),
        Symbolic("applied", lambda x, i: x.at[i].apply(jnp.sqrt), [(B, 4), (T,)], [F32, I32]),
        Symbolic("applied_rows", jax.vmap(lambda x, i: x.at[i].apply(jnp.exp)), [(B, 4), (B,)], [F32, I32]),
        Symbolic("segments", lambda x, i: jax.ops.segment_sum(x, i, x.shape[0]), [(B, 4), (B,)], [F32, I32]),
    ],
    "control": [
        Symbolic("scan", lambda x: jax.lax.scan(lambda c, a: (c + a, c.sum()), x[0], x), [(T, B)]),
        Symbolic(
            "while",
            lambda x: jax.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, x)),
            [(B, T)],
        ),
        Symbolic(
            "fori", lambda x: jax.lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(x.shape[1])), [(B, T)]
        ),
        Symbolic("cond", lambda x: jax.lax.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, x), [(B, T)]),
        Symbolic("map", lambda x: jax.lax.map(lambda row: row * row.sum(), x), [(B, T)]),
    ],
}
