"""The types of a program that uses the installed package: pyright reports no error, and has the package's types."""

import json
import os
import re
import subprocess
import sys

import pytest

import pycompiler as pc

pytestmark = pytest.mark.xdist_group("packaging")

# Each line that ends in `# TYPE` reveals it.
PROGRAM = """
from collections.abc import Callable
from typing import reveal_type

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp


def predict(w: pc.Array, x: pc.Array, scale: float = 0.5) -> pc.Array:
    return pnp.tanh(x @ w) * scale


fast = pc.jit(predict)
w, x = pnp.ones((3, 2)), pnp.asarray(np.ones((4, 3)))
reveal_type(w)  # Array
reveal_type(pnp.sin(x))  # Array
reveal_type(pnp.add(x, 1))  # Array
reveal_type(pnp.sum(x, axis=0))  # Array
reveal_type(x + 1)  # Array
reveal_type(2 * x @ w)  # Array
reveal_type(x < 0)  # Array
reveal_type(-x[0])  # Array
reveal_type(x.T.reshape(2, -1).mean(axis=1))  # Array
reveal_type(x.shape)  # tuple[int, ...]
reveal_type(x.dtype)  # dtype[Any]
reveal_type(fast(w, x))  # Array
reveal_type(fast)  # Jitted[(w: Array, x: Array, scale: float = 0.5), Array]
reveal_type(fast.lower(w, x))  # Lowered
reveal_type(pc.block_until_ready({"a": x}))  # dict[str, Array]


@pc.jit(static_argnames="power")
def raised(x: pc.Array, power: int) -> pc.Array:
    return x**power


reveal_type(raised(x, power=2))  # Array


class Model:
    def __init__(self, w: pc.Array) -> None:
        self.w = w

    @pc.jit(static_argnums=0)
    def apply(self, x: pc.Array) -> pc.Array:
        return x @ self.w


reveal_type(Model(w).apply(x))  # Array

gradient: Callable[..., pc.Array] = pc.grad(lambda x: pnp.sum(x**2))
print(float(pnp.sum(gradient(x))), int(x.size), np.asarray(x), len(x), [row for row in x], bool(x.all()))
total = pc.vmap(lambda row: row.sum())(x)
updated = x.at[0].set(1.0)
"""

MISTAKES = """
import pycompiler as pc
import pycompiler.numpy as pnp


@pc.jit
def twice(x: pc.Array) -> pc.Array:
    return x * 2


twice()
twice(pnp.ones(3), 4)
pnp.ones(3).shapes
"""


def checked(installed, name, program):
    """The messages of pyright about a program of the environment, by line."""
    folder = installed.folder / name
    folder.mkdir()
    (folder / "program.py").write_text(program)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--pythonpath",
        str(installed.python),
        "-p",
        str(folder),
    ]
    # The search looks in the environment, not in the checkout.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    found = json.loads(said.stdout)["generalDiagnostics"]
    return [(one["range"]["start"]["line"], one["severity"], one["message"]) for one in found]


def test_a_program_has_no_errors_and_known_types(installed):
    found = checked(installed, "right", PROGRAM)
    assert [one for one in found if one[1] != "information"] == []
    revealed = {line: re.fullmatch(r'Type of ".*" is "(.*)"', message)[1] for line, _, message in found}
    wanted = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(PROGRAM.splitlines())
        if line.startswith("reveal_type")
    }
    assert revealed == wanted


def test_mistakes_are_found(installed):
    found = checked(installed, "wrong", MISTAKES)
    assert [severity for _, severity, _ in found].count("error") == 3
    assert [line for line, severity, _ in found if severity == "error"] == [10, 11, 12]


def test_the_program_runs(installed):
    folder = installed.folder / "runs"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    installed.run("python", folder / "program.py", PYTHONWARNINGS="ignore")


def test_the_stub_of_arrays_is_what_they_have(installed):
    stub = (installed.package / "_attached.pyi").read_text()
    written = set(re.findall(r"^    def (\w+)\(", stub, re.M)) | {"__hash__"}
    plain = {"__module__", "__array_priority__", "__copy__", "__deepcopy__", "__setitem__", "_repr_html_"}
    own = (installed.package / "_runtime.pyi").read_text().partition("class Array(Attached):")[2].partition("\ndef ")[0]
    known = written | set(re.findall(r"^    def (\w+)\(", own, re.M))
    has = {name for name in dir(pc.Array) if name not in dir(object)}
    assert has - known <= plain
    assert known <= set(dir(pc.Array))
