"""A process ends with its own status and without output, for any work of its daemon threads."""

import os
import subprocess
import sys

import pytest

RUNS = 4

START = """
import atexit, ctypes, sys, threading, time

# The last function at exit holds the GIL, and no bytecode follows that would hand it over: the other threads wait for
# it when the interpreter begins to end.
if sys.argv[2] == "0":
    atexit.register(ctypes.PyDLL(None).usleep, 400_000)

import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
from pycompiler import lax

started = threading.Event()
x = pnp.arange(1000.0)


def main(work):
    def run():
        number = 0
        while True:
            work(number)
            number += 1
            started.set()

    for _ in range(2):
        threading.Thread(target=run, daemon=True).start()
    started.wait(60)
    time.sleep(float(sys.argv[1]))
    print("the end")
    sys.exit(int(sys.argv[2]))
"""

WORK = {
    "compiling": """
        main(lambda i: pc.jit(lambda x: pnp.sin(x) * i + pnp.cumsum(x @ x) + pnp.sort(x + i))(x))
    """,
    "tracing": """
        def f(x):
            for _ in range(200):
                x = pnp.where(x > 1, x + 1, x * 2)
            return x

        main(lambda i: pc.make_jaxpr(f)(x))
    """,
    "tracing under jit": """
        def f(x):
            if started.is_set():
                while True:
                    x = x + 1
            return x

        main(lambda i: pc.jit(lambda x: f(x))(x))
    """,
    "waiting": """
        slow = pc.jit(lambda x: lax.fori_loop(0, 20000, lambda i, c: pnp.sin(c) + x, x))
        main(lambda i: slow(x).block_until_ready())
    """,
    "reading": """
        slow = pc.jit(lambda x: lax.fori_loop(0, 2000, lambda i, c: pnp.sin(c) + x, x))
        main(lambda i: np.asarray(slow(x)))
    """,
    "launching": """
        f = pc.jit(lambda x: lax.fori_loop(0, 200, lambda i, c: pnp.sin(c) + x, x))
        main(lambda i: f(x))
    """,
    "operators": """
        main(lambda i: float((x + i * pnp.tanh(x)).sum()))
    """,
    "in a callback": """
        f = pc.jit(lambda x: pc.pure_callback(lambda y: np.asarray(y) * 2, x, x) + 1)
        main(lambda i: f(x).block_until_ready())
    """,
    "in a callback without results": """
        f = pc.jit(lambda x: (pc.debug.callback(lambda y: time.sleep(0.001), x), x + 1)[1])
        main(lambda i: f(x).block_until_ready())
    """,
    "decomposing": """
        main(lambda i: pnp.linalg.svd(pnp.outer(x[:60], x[:60]) + i).S.block_until_ready())
    """,
    "mapping a tree": """
        class Node:
            def __init__(self, x):
                self.x = x

        pc.tree_util.register_pytree_node(Node, lambda n: ((n.x,), None), lambda _, c: Node(*c))
        f = pc.jit(lambda n: Node(n.x + 1))
        main(lambda i: f(Node(x)))
    """,
}


@pytest.mark.parametrize("name", WORK)
def test_a_process_ends_whatever_its_daemon_threads_do(name, tmp_path):
    lines = WORK[name].strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    script = tmp_path / "program.py"
    script.write_text(START + "\n" + "\n".join(line[indent:] for line in lines) + "\n")
    environment = {**os.environ, "PYCOMPILER_ENABLE_COMPILATION_CACHE": "0", "PYTHONWARNINGS": "ignore"}
    for number in range(RUNS):
        done = subprocess.run(
            [sys.executable, script, str(0.003 * number), str(number)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (number, "the end\n", ""), (name, number)
