"""The cost of `checkify`: `python benchmarks/checks.py [NAME ...]`.

Each function is compiled without checks, and with those of indices, of nans and divisions, and all. The functions are
called in turns on one core; the figures are medians of the processor time of a call in microseconds, and the ratio to
the unchecked function. No check fails. Elementwise functions of some thousand elements take a microsecond, as making
the Error does: they show the fixed cost.
"""

import statistics
import sys
import time

import numpy as np
from affinity import pin

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import checkify

KINDS = {"index": checkify.index_checks, "float": checkify.float_checks, "all": checkify.all_checks}
ROUNDS, SECONDS = 21, 0.002


def arguments():
    rng = np.random.default_rng(0)
    return {
        "x": rng.random(40960, np.float32) + 1,
        "places": rng.integers(0, 40960, 40960, np.int32),
        "a": rng.random((500, 500), np.float32) + 1,
        "w": rng.random((64, 64), np.float32) * 0.1,
        "rows": rng.random((200, 64), np.float32),
    }


def elements(x):
    return lax.fori_loop(0, 40960, lambda i, s: s + x[i], pnp.float32(0))


def gathered(x, places):
    return lax.fori_loop(0, 40960, lambda i, s: s + x[places[i]], pnp.float32(0))


def histogram(x, places):
    return lax.fori_loop(0, 40960, lambda i, x: x.at[places[i]].add(1.0), x)


def recurrence(x):
    return lax.fori_loop(1, 40960, lambda i, x: x.at[i].set(x[i - 1] * 0.5 + x[i]), x)


def running(x, places):
    return lax.scan(lambda c, i: (c + x[i], c * x[i]), pnp.float32(0), places)


def user(x):
    def step(i, s):
        checkify.debug_check(x[i] >= 0, "{x} at {i}", x=x[i], i=pnp.int32(i))
        return s + pnp.sqrt(x[i])

    return lax.fori_loop(0, 40960, step, pnp.float32(0))


def nested(a):
    def row(i):
        return lax.fori_loop(0, 500, lambda j, t: t + a[i, j] * a[j, i], pnp.float32(0))

    return lax.fori_loop(0, 500, lambda i, s: s + row(i), pnp.float32(0))


def newton(x):
    return lax.while_loop(lambda s: s[1] < 20, lambda s: (s[0] - (s[0] ** 2 - 2) / (2 * s[0]), s[1] + 1), (x, 0))[0]


def logarithms(a):
    return lax.fori_loop(0, 20, lambda _, c: pnp.log(c + 3), a)


def tanh_rows(a):
    return lax.scan(lambda c, r: (c + r.sum(), pnp.tanh(r)), 0.0, a)


def five_point(a):
    def step(_, u):
        return u.at[1:-1, 1:-1].set((u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25)

    return lax.fori_loop(0, 20, step, a)


def recurrent(w, rows):
    return lax.scan(lambda h, x: (pnp.tanh(w @ h + x), h.sum()), pnp.zeros(64), rows)


def descent(w, rows):
    loss = pc.grad(lambda w: ((pnp.tanh(rows @ w) - rows) ** 2).mean())
    return lax.fori_loop(0, 20, lambda _, w: w - 0.1 * loss(w), w)


def chain(a):
    return pnp.log(a) / pnp.sqrt(a) + pnp.tanh(a)


def rows_by_index(a, places):
    return a[places[:20000] % 500].sum(1)


CASES = [
    *(elements, gathered, histogram, recurrence, running, user, nested, newton, logarithms, tanh_rows, five_point),
    *(recurrent, descent, chain, rows_by_index),
]


def timed(function, args):
    """A function that returns the processor time of one call, in seconds."""
    pc.block_until_ready(function(*args))
    begin = time.process_time()
    pc.block_until_ready(function(*args))
    calls = max(1, int(SECONDS / max(time.process_time() - begin, 1e-6)))

    def run():
        begin = time.process_time()
        for _ in range(calls):
            pc.block_until_ready(function(*args))
        return (time.process_time() - begin) / calls

    return run


def main(names):
    pin(1)
    given = {name: pnp.asarray(x) for name, x in arguments().items()}
    print(f"{'':16}{'us':>10}" + "".join(f"{kind:>8}" for kind in KINDS))
    for case in CASES:
        if names and case.__name__ not in names:
            continue
        args = [given[name] for name in case.__code__.co_varnames[: case.__code__.co_argcount]]
        checked = {kind: pc.jit(checkify.checkify(case, errors=errors)) for kind, errors in KINDS.items()}
        for kind, function in checked.items():
            failure = function(*args)[0].get()
            if failure is not None:
                sys.exit(f"{case.__name__}: the check of {kind} fails: {failure}")
        runs = {"": timed(pc.jit(case), args), **{kind: timed(function, args) for kind, function in checked.items()}}
        samples = {kind: [] for kind in runs}
        for _ in range(ROUNDS):
            for kind, run in runs.items():
                samples[kind].append(run())
        medians = {kind: statistics.median(times) for kind, times in samples.items()}
        ratios = "".join(f"{medians[kind] / medians['']:8.2f}" for kind in KINDS)
        print(f"{case.__name__:16}{medians[''] * 1e6:10.1f}{ratios}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
