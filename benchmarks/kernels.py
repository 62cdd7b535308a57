"""Kernels of `kernel_call` compared with `jit` of the composed functions: `python benchmarks/kernels.py [NAME ...]`.

Both are compiled in one process and called in turns; the figures are medians in milliseconds, and their ratio. The
examples are a softmax in one pass, a matmul with an epilogue, attention without the matrix of scores, and four steps of
a stencil for each block.
"""

import sys
import time

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax

S = pc.ShapeDtypeStruct
ROUNDS = 15


def softmax(rows=2048, columns=2048, block=64):
    """Each program computes the softmax of some rows."""

    def body(x, o):
        e = pnp.exp(x[...] - x[...].max(1, keepdims=True))
        o[...] = e / e.sum(1, keepdims=True)

    spec = kernel.BlockSpec((block, columns), lambda i: (i, 0))
    out = S((rows, columns), "float32")
    own = kernel.kernel_call(body, out, grid=(rows // block,), in_specs=[spec], out_specs=spec)

    def composed(x):
        e = pnp.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return own, composed, [(rows, columns)]


def gelu(x):
    return 0.5 * x * (1 + pnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def matmul(size=1024, rows=512, columns=512):
    """Each program computes one block of gelu(x @ w + b)."""

    def body(x, w, b, o):
        o[...] = gelu(kernel.dot(x[...], w[...]) + b[...])

    own = kernel.kernel_call(
        body,
        S((size, size), "float32"),
        grid=(size // rows, size // columns),
        in_specs=[
            kernel.BlockSpec((rows, size), lambda i, j: (i, 0)),
            kernel.BlockSpec((size, columns), lambda i, j: (0, j)),
            kernel.BlockSpec((columns,), lambda i, j: j),
        ],
        out_specs=kernel.BlockSpec((rows, columns), lambda i, j: (i, j)),
    )
    return own, lambda x, w, b: gelu(x @ w + b), [(size, size), (size, size), (size,)]


def attention(heads=4, length=2048, depth=64, block=256, step=512, causal=False):
    """Each program computes some rows of the result, and reads the keys and values in blocks. With `causal`, a row
    reads the keys up to its own, and a program reads no later blocks."""

    def body(q, k, v, o):
        first = kernel.program_id(1) * block
        rows = q[...] * np.float32(depth**-0.5)

        def add(j, carry):
            top, total, out = carry
            s = kernel.dot(rows, k[kernel.ds(j * step, step)], trans_b=True)
            if causal:
                s = pnp.where((first + pnp.arange(block))[:, None] >= j * step + pnp.arange(step), s, -np.inf)
            now = pnp.maximum(top, s.max(1))
            p, scale = pnp.exp(s - now[:, None]), pnp.exp(top - now)
            total = total * scale + p.sum(1)
            return now, total, out * scale[:, None] + kernel.dot(p, v[kernel.ds(j * step, step)])

        start = pnp.full(block, -np.inf, "float32"), pnp.zeros(block), pnp.zeros((block, depth))
        steps = kernel.cdiv(first + block, step) if causal else length // step
        _, total, out = lax.fori_loop(0, steps, add, start)
        o[...] = out / total[:, None]

    mine = kernel.BlockSpec((None, block, depth), lambda h, i: (h, i, 0))
    whole = kernel.BlockSpec((None, length, depth), lambda h, i: (h, 0, 0))
    own = kernel.kernel_call(
        body,
        S((heads, length, depth), "float32"),
        grid=(heads, length // block),
        in_specs=[mine, whole, whole],
        out_specs=mine,
    )

    def composed(q, k, v):
        s = pnp.einsum("hid,hjd->hij", q, k) * np.float32(depth**-0.5)
        if causal:
            s = pnp.where(pnp.arange(length)[:, None] >= pnp.arange(length), s, -np.inf)
        p = pnp.exp(s - s.max(-1, keepdims=True))
        return pnp.einsum("hij,hjd->hid", p / p.sum(-1, keepdims=True), v)

    return own, composed, [(heads, length, depth)] * 3


def causal(block=256, step=256):
    """`attention` of each row to the rows before it."""
    return attention(causal=True, block=block, step=step)


def stencil(size=4096, block=64, steps=4):
    """Each program computes four steps of a five-point average of some rows, and of `steps` rows around them."""

    def inside(x):
        return 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])

    def body(x, o):
        value = x[...]
        for _ in range(steps):
            value = inside(value)
        o[...] = value

    inner = size - 2 * steps
    block = next(b for b in range(block, 0, -1) if inner % b == 0)
    own = kernel.kernel_call(
        body,
        S((inner, inner), "float32"),
        grid=(inner // block,),
        in_specs=[kernel.BlockSpec((kernel.Element(block + 2 * steps), size), lambda i: (i * block, 0))],
        out_specs=kernel.BlockSpec((block, inner), lambda i: (i, 0)),
    )

    def composed(x):
        for _ in range(steps):
            x = inside(x)
        return x

    return own, composed, [(size, size)]


EXAMPLES = {"softmax": softmax, "matmul": matmul, "attention": attention, "causal": causal, "stencil": stencil}
# The temporaries of a program are in the shared memory of a multiprocessor, and many programs keep a GPU busy.
ON_GPU = {
    "softmax": {"block": 4},
    "matmul": {"rows": 64, "columns": 64},
    "attention": {"block": 64, "step": 32},
    "causal": {"block": 64, "step": 32},
    "stencil": {"block": 4},
}


def main(names):
    rng = np.random.default_rng(0)
    print(f"{'':12}{'own, ms':>10}{'jit, ms':>10}{'ratio':>8}{'error':>10}")
    sizes = ON_GPU if pc.devices()[0].platform == "gpu" else {}
    for name in names or EXAMPLES:
        own, composed, shapes = EXAMPLES[name](**sizes.get(name, {}))
        args = [pnp.asarray(rng.standard_normal(shape, np.float32)) for shape in shapes]
        functions = [pc.jit(own), pc.jit(composed)]
        results = [np.asarray(function(*args)) for function in functions]
        times = [[], []]
        for _ in range(ROUNDS):
            for taken, function in zip(times, functions, strict=True):
                start = time.perf_counter()
                function(*args).block_until_ready()
                taken.append(time.perf_counter() - start)
        one, other = (1000 * float(np.median(taken)) for taken in times)
        error = np.abs(results[0] - results[1]).max() / np.abs(results[1]).max()
        print(f"{name:12}{one:10.2f}{other:10.2f}{one / other:8.2f}{error:10.1e}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
