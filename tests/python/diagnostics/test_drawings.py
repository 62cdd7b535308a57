"""Drawings of shardings have JAX's sizes: of parts in proportion, with the names of devices in their middle."""

import textwrap

import numpy as np
import pytest

from pycompiler import debug
from pycompiler.sharding import Mesh, NamedSharding, PartitionSpec


class Device:
    platform = "cpu"

    def __init__(self, number):
        self.id = number


def sharding(sizes, *spec):
    devices = np.array([Device(number) for number in range(np.prod(sizes))]).reshape(sizes)
    return NamedSharding(Mesh(devices, ("x", "y")[: len(sizes)]), PartitionSpec(*spec))


CASES = {
    "one": (
        ((5,), sharding((1,), "x"), {}),
        """
        ┌───────┐
        │ CPU 0 │
        └───────┘
        """,
    ),
    "scaled": (
        ((5,), sharding((1,), "x"), {"scale": 8.0}),
        """
        ┌──────────────────────────────────────┐
        │                CPU 0                 │
        └──────────────────────────────────────┘
        """,
    ),
    "numbers of two digits": (
        ((8, 8), sharding((4, 4), "x", "y"), {}),
        """
        ┌───────┬───────┬───────┬───────┐
        │ CPU 0 │ CPU 1 │ CPU 2 │ CPU 3 │
        ├───────┼───────┼───────┼───────┤
        │ CPU 4 │ CPU 5 │ CPU 6 │ CPU 7 │
        ├───────┼───────┼───────┼───────┤
        │ CPU 8 │ CPU 9 │CPU 10 │CPU 11 │
        ├───────┼───────┼───────┼───────┤
        │CPU 12 │CPU 13 │CPU 14 │CPU 15 │
        └───────┴───────┴───────┴───────┘
        """,
    ),
    "high": (
        ((8, 8), sharding((4, 2), None, "y"), {}),
        """
        ┌───────────┬───────────┐
        │           │           │
        │           │           │
        │           │           │
        │           │           │
        │CPU 0,2,4,6│CPU 1,3,5,7│
        │           │           │
        │           │           │
        │           │           │
        │           │           │
        └───────────┴───────────┘
        """,
    ),
    "narrow": (
        ((4, 400), sharding((2, 2), "x"), {"max_width": 17}),
        """
        ┌───────────────┐
        │               │
        │    CPU 0,1    │
        │               │
        │               │
        ├───────────────┤
        │               │
        │    CPU 2,3    │
        │               │
        │               │
        └───────────────┘
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_drawings(name, capsys):
    (shape, division, options), wanted = CASES[name]
    debug.visualize_sharding(shape, division, **options)
    assert capsys.readouterr().out == textwrap.dedent(wanted).lstrip()


def test_a_wide_drawing_fits_a_screen(capsys):
    debug.visualize_sharding((128, 10000), sharding((8, 4), "x", None))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 17
    assert {len(line) for line in lines} == {80}
    assert lines[1] == "│" + " " * 33 + "CPU 0,1,2,3" + " " * 34 + "│"
