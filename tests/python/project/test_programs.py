"""Ordinary programs, by value against jax: a function of a namespace (`pc`, `np`, `nn`), called with both libraries."""

import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


V, M, S, B, IMAGE = normal(6), normal(4, 6), normal(6, 6), normal(3, 4, 6), normal(2, 8, 8)
I = RNG.integers(-9, 9, (4, 6)).astype(np.int32)  # noqa: E741


def attention(np, nn, q, k, v, causal=False):
    scores = np.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -1e9)
    return np.einsum("hqk,hkd->hqd", nn.softmax(scores, axis=-1), v)


def layernorm(np, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def convolution(np, x, w):
    patches = np.stack([x[:, i : i + 6, j : j + 6] for i in range(3) for j in range(3)], -1)
    return np.einsum("bijp,p->bij", patches, w)


def running(np, x, step):
    rows, state = [], np.zeros(x.shape[1])
    for row in x:
        state = step(state, row)
        rows.append(state)
    return np.stack(rows)


def lstm(np, nn, x, w):
    def step(carry, row):
        h, c = carry
        i, f, g = np.split(np.concatenate([h, row]) @ w, 3)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * np.tanh(g)
        return np.tanh(c), c

    carry = np.zeros(4), np.zeros(4)
    for row in x:
        carry = step(carry, row)
    return carry


def mlp(np, nn, params, x):
    for w, b in params[:-1]:
        x = nn.gelu(x @ w + b)
    w, b = params[-1]
    return nn.log_softmax(x @ w + b)


MLP = [(normal(6, 8), normal(8)), (normal(8, 3), normal(3))]


def solve(np, a, b):
    x = np.zeros_like(b)
    for _ in range(20):
        x = x - 0.05 * (a.T @ (a @ x - b))
    return x


def rosenbrock(np, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


# Each: a function of (pc, np, nn), and the arguments after them.
PROGRAMS = {
    "softmax": (lambda pc, np, nn, x: nn.softmax(x, axis=-1), M),
    "softmax by hand": (lambda pc, np, nn, x: np.exp(x - x.max(0)) / np.exp(x - x.max(0)).sum(0), M),
    "log_softmax": (lambda pc, np, nn, x: nn.log_softmax(x), M),
    "logsumexp grad": (lambda pc, np, nn, x: pc.grad(lambda x: nn.logsumexp(x))(x), M),
    "layernorm": (lambda pc, np, nn, x: layernorm(np, x), M),
    "layernorm grad": (lambda pc, np, nn, x: pc.grad(lambda x: (layernorm(np, x) ** 3).sum())(x), M),
    "attention": (lambda pc, np, nn, x: attention(np, nn, x, x * 2, x + 1), B),
    "causal attention": (lambda pc, np, nn, x: attention(np, nn, x, x * 2, x + 1, True), B),
    "attention grad": (lambda pc, np, nn, x: pc.grad(lambda x: attention(np, nn, x, x, x, True).sum())(x), B),
    "vmap of attention": (lambda pc, np, nn, x: pc.vmap(lambda x: attention(np, nn, x, x, x))(np.stack([x, -x])), B),
    "convolution": (lambda pc, np, nn, x: convolution(np, x, np.arange(9.0)), IMAGE),
    "convolution grad": (lambda pc, np, nn, x: pc.grad(lambda w: convolution(np, x, w).var())(np.ones(9)), IMAGE),
    "pooling": (lambda pc, np, nn, x: x.reshape(2, 4, 2, 4, 2).max((2, 4)), IMAGE),
    "running sum": (lambda pc, np, nn, x: running(np, x, lambda s, r: s + r), M),
    "running average": (lambda pc, np, nn, x: running(np, x, lambda s, r: 0.9 * s + 0.1 * r), M),
    "running max": (lambda pc, np, nn, x: running(np, x, np.maximum), M),
    "cumsum": (lambda pc, np, nn, x: np.cumsum(x, 1), M),
    "cumsum of ints": (lambda pc, np, nn, x: np.cumsum(x, 0), I),
    "cumprod grad": (lambda pc, np, nn, x: pc.grad(lambda x: np.cumprod(x).sum())(x), V),
    "lstm": (lambda pc, np, nn, x, w: lstm(np, nn, x, w), M, normal(10, 12)),
    "lstm grad": (lambda pc, np, nn, x, w: pc.grad(lambda w: lstm(np, nn, x, w)[0].sum())(w), M, normal(10, 12)),
    "mlp": (lambda pc, np, nn, p, x: mlp(np, nn, p, x), MLP, M),
    "mlp value_and_grad": (lambda pc, np, nn, p, x: pc.value_and_grad(lambda p: mlp(np, nn, p, x).mean())(p), MLP, M),
    "per-example gradients": (
        lambda pc, np, nn, p, x: pc.vmap(pc.grad(lambda p, x: mlp(np, nn, p, x)[0]), (None, 0))(p, x),
        MLP,
        M,
    ),
    "jacfwd": (lambda pc, np, nn, x: pc.jacfwd(lambda x: np.sin(x) * x.sum())(x), V),
    "jacrev": (lambda pc, np, nn, x: pc.jacrev(lambda x: np.outer(x, x))(x), V),
    "hessian": (lambda pc, np, nn, x: pc.hessian(functools.partial(rosenbrock, np))(x), V),
    "hessian of logistic": (lambda pc, np, nn, x: pc.hessian(lambda w: nn.softplus(x @ w).sum())(np.ones(6)), M),
    "third derivative": (lambda pc, np, nn, x: pc.vmap(pc.grad(pc.grad(pc.grad(np.tanh))))(x), V),
    "hessian vector product": (
        lambda pc, np, nn, x: pc.jvp(pc.grad(functools.partial(rosenbrock, np)), (x,), (np.ones(6),)),
        V,
    ),
    "vjp": (lambda pc, np, nn, x: pc.vjp(lambda x: x @ x.T, x)[1](np.ones((4, 4))), M),
    "gradient descent": (lambda pc, np, nn, a, b: solve(np, a, b), S, V),
    "grad through descent": (lambda pc, np, nn, a, b: pc.grad(lambda b: (solve(np, a, b) ** 2).sum())(b), S, V),
    "distances": (lambda pc, np, nn, x: np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-6), M),
    "nearest": (lambda pc, np, nn, x: np.argmin(((x[:, None] - x[None]) ** 2).sum(-1) + 99 * np.eye(4), 1), M),
    "kernel by vmap": (
        lambda pc, np, nn, x: pc.vmap(lambda a: pc.vmap(lambda b: np.exp(-((a - b) ** 2).sum()))(x))(x),
        M,
    ),
    "standardize": (lambda pc, np, nn, x: (x - x.mean(0)) / (x.std(0) + 1e-6), M),
    "covariance": (lambda pc, np, nn, x: (x - x.mean(0)).T @ (x - x.mean(0)) / (x.shape[0] - 1), M),
    "power iteration": (
        lambda pc, np, nn, a: functools.reduce(
            lambda v, _: a @ v / np.sqrt(((a @ v) ** 2).sum()), range(9), np.ones(6)
        ),
        S @ S.T,
    ),
    "sort": (lambda pc, np, nn, x: (np.sort(x, 0), np.argsort(x, 1)), M),
    "sort grad": (lambda pc, np, nn, x: pc.grad(lambda x: (np.sort(x) * np.arange(6.0)).sum())(x), V),
    "ranks": (lambda pc, np, nn, x: np.argsort(np.argsort(x)), V),
    "one-hot loss": (
        lambda pc, np, nn, x: -(nn.one_hot(np.array([0, 3, 5, 1]), 6) * nn.log_softmax(x)).sum(-1).mean(),
        M,
    ),
    "gather": (lambda pc, np, nn, x: x[np.array([0, 2, 2, 3]), np.array([5, 0, -1, 2])], M),
    "rows grad": (lambda pc, np, nn, x: pc.grad(lambda x: (x[np.array([1, 1, 3])] ** 2).sum())(x), M),
    "take": (lambda pc, np, nn, x: np.take(x, np.array([[2, 0]]), axis=1), M),
    "slices": (lambda pc, np, nn, x: x[::-1, 1:-1:2] - x[:, None, -1], S),
    "at": (lambda pc, np, nn, x: x.at[1:3, ::2].set(0.0).at[0].add(5.0), M),
    "where grad": (lambda pc, np, nn, x: pc.grad(lambda x: np.where(x > 0, x**2, np.sin(x)).sum())(x), M),
    "clip grad": (lambda pc, np, nn, x: pc.grad(lambda x: np.clip(x, -0.5, 0.5).sum())(x), M),
    "max grad": (lambda pc, np, nn, x: pc.grad(lambda x: x.max(0).sum())(x), M),
    "integers": (lambda pc, np, nn, x: (x // 4, x % 4, x**2, x & 6, x >> 1, -x, abs(x)), I),
    "division by zero": (lambda pc, np, nn, x: (x // 0, x % 0, x / 0), np.array([-3, 0, 3], np.int32)),
    "promotion": (lambda pc, np, nn, x: (x + 1.5, x / 2, x * np.int8(2), x > 0.5, x.sum(), x.mean()), I),
    "bools": (lambda pc, np, nn, x: ((x > 0).sum(0), (x > 0).any(1), ((x > 0) & (x < 5)).mean(), ~(x > 0)), I),
    "reductions": (lambda pc, np, nn, x: (x.min(0), x.prod(1), x.var(), x.argmax(0), np.median(x, 0)), M),
    "special values": (
        lambda pc, np, nn, x: (np.sign(x), np.floor(x), np.isnan(x), np.sqrt(x), np.log(x), np.maximum(x, 0), x * 0),
        np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan], np.float32),
    ),
    "empty": (lambda pc, np, nn, x: (x[:0].sum(0), x[:0] @ S, np.concatenate([x[:0], x]), x[:, :0].prod(1)), M),
    "scalars": (lambda pc, np, nn, x: (x[0] * 2, x.sum() ** 2, x[1].reshape(1, 1), np.stack([x[0], x[1]])), V),
    "polynomial": (lambda pc, np, nn, x: functools.reduce(lambda p, c: p * x + c, [1.0, -2.0, 3.0]), V),
    "activations": (lambda pc, np, nn, x: [f(x) for f in (nn.relu, nn.gelu, nn.silu, nn.sigmoid, nn.elu)], M),
    "tree": (lambda pc, np, nn, p: pc.tree.map(lambda a: a * 2 + a.sum(), {"a": p, "b": None}), MLP),
    "nested einsum": (lambda pc, np, nn, x: np.einsum("bij,bkj,bk->i", x, x, x[:, :, 0]), B),
    "bilinear": (lambda pc, np, nn, x: np.tensordot(x, x, ((0, 2), (0, 2))), B),
}


def run(library, np_, program, arguments, compiled):
    function, *_ = program
    wrapped = functools.partial(function, library, np_, library.nn)
    return (library.jit(wrapped) if compiled else wrapped)(*arguments)


def assert_same(ours, theirs, tolerance):
    ours, our_tree = jax.tree.flatten(pc.tree.map(np.asarray, ours))
    theirs, their_tree = jax.tree.flatten(jax.tree.map(np.asarray, theirs))
    assert our_tree == their_tree
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype
        mine, other = (a.astype(np.float64) if a.dtype.itemsize == 2 else a for a in (mine, other))
        scale = np.abs(other, where=np.isfinite(other), out=np.zeros(other.shape, other.dtype)).max(initial=1)
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance * float(scale))


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_against_jax(name, compiled):
    program = PROGRAMS[name]
    ours = run(pc, pnp, program, pc.tree.map(pnp.asarray, program[1:]), compiled)
    # Only jax needs jit here: its eager mode takes longer and gives the same.
    theirs = run(jax, jnp, program, jax.tree.map(jnp.asarray, program[1:]), True)
    assert_same(ours, theirs, 2e-5)


@pytest.mark.parametrize("name", ["softmax", "layernorm", "causal attention", "mlp", "standardize", "at"])
def test_a_program_in_bfloat16(name):
    program = PROGRAMS[name]
    ours = run(pc, pnp, program, pc.tree.map(lambda a: pnp.asarray(a).astype(pnp.bfloat16), program[1:]), True)
    theirs = run(jax, jnp, program, jax.tree.map(lambda a: jnp.asarray(a, jnp.bfloat16), program[1:]), True)
    assert_same(ours, theirs, 4e-2)


@pytest.mark.parametrize("name", ["softmax", "hessian", "lstm grad", "gradient descent", "cumsum of ints", "promotion"])
def test_a_program_in_64_bits(name):
    program = PROGRAMS[name]
    double = pc.tree.map(lambda a: np.asarray(a, np.float64 if a.dtype.kind == "f" else np.int64), list(program[1:]))
    with pc.enable_x64(True):
        ours = pc.tree.map(np.asarray, run(pc, pnp, program, pc.tree.map(pnp.asarray, double), True))
    with jax.enable_x64(True), warnings.catch_warnings():
        theirs = run(jax, jnp, program, jax.tree.map(jnp.asarray, double), True)
        theirs = jax.tree.map(np.asarray, theirs)
    assert_same(ours, theirs, 1e-11)


RANDOM = {
    "uniform": lambda r, k: r.uniform(k, (3, 5)),
    "normal": lambda r, k: r.normal(k, (33,)),
    "split": lambda r, k: r.normal(r.split(k, 3)[1], (2,)),
    "fold_in": lambda r, k: r.uniform(r.fold_in(k, 7), ()),
    "permutation": lambda r, k: r.permutation(k, 50),
    "randint": lambda r, k: r.randint(k, (20,), -5, 50),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (20,)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_functions_against_jax(name):
    draw = RANDOM[name]
    # jax's default has changed. Ours is off, as in the values of its documentation.
    with pc.threefry_partitionable(True), jax.threefry_partitionable(True):
        ours = np.asarray(draw(pc.random, pc.random.key(42)))
        theirs = np.asarray(draw(jax.random, jax.random.key(42)))
        compiled = np.asarray(pc.jit(lambda k: draw(pc.random, k))(pc.random.key(42)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours, compiled)


def test_no_field_of_a_tracer_hides_a_method():
    tracers = []

    def visit(x):
        tracers.append(type(x))
        return x.sum()

    for transform in (pc.jit, pc.grad, pc.vmap):
        transform(visit)(pnp.ones((3,)) if transform is not pc.vmap else pnp.ones((2, 3)))
    for kind in tracers:
        fields = {name for base in kind.__mro__ for name in getattr(base, "__slots__", ())}
        assert not fields & (set(dir(pc.Array)) - {"__weakref__", "aval"}), kind
