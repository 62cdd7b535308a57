"""Arrays in notebooks: their description, a table of their elements, the corners of large arrays."""

from xml.etree import ElementTree

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def shown(x):
    """The title, the cells of each table by rows, and the text beside."""
    root = ElementTree.fromstring(x._repr_html_())
    tables = [[[cell.text for cell in row] for row in table] for table in root.iter("table")]
    texts = ["".join(part.itertext()) for part in root if part.tag == "div"]
    return texts[0], tables, texts[1:]


def test_what_it_is_and_its_elements():
    title, tables, _ = shown(pnp.array([[1, 2, 3], [4, 5, 6]]))
    assert title == f"Array i32[2,3] on {pc.devices()[0]}"
    assert tables == [[["1", "2", "3"], ["4", "5", "6"]]]


@pytest.mark.parametrize(
    ("x", "cells"),
    [
        (pnp.array([1.5, -2]), ["1.5", "-2."]),
        (pnp.ones(2, "bfloat16"), ["1", "1"]),
        (pnp.array([True, False]), ["True", "False"]),
        (pnp.array([1j, 2.0]), ["0.+1.j", "2.+0.j"]),
    ],
)
def test_dtypes(x, cells):
    assert shown(x)[1] == [[cells]]


def test_a_number_no_elements_and_keys():
    assert shown(pnp.float32(0.5))[1:] == ([], ["0.5"])
    assert shown(pnp.zeros((0, 2)))[1:] == ([], ["no elements"])
    title, tables, _ = shown(pc.random.key(3))
    assert title.startswith("Array key<fry>[]")
    assert tables == [[["0", "3"]]]


def test_of_large_arrays_the_corners_are_shown():
    x = pnp.arange(13 * 2000).reshape(13, 2000)
    _, tables, _ = shown(x)
    host = np.asarray(x)
    (rows,) = tables
    assert len(rows) == len(rows[0]) == 9
    assert rows[4] == ["…"] * 9
    assert rows[0][:5] == [*map(str, host[0, :4]), "…"]
    assert rows[8][5:] == [*map(str, host[12, -4:])]
    assert len(pnp.ones((100, 100, 100))._repr_html_()) < 20_000


def test_more_dimensions_are_several_tables():
    _, tables, texts = shown(pnp.arange(2 * 3 * 2).reshape(2, 3, 1, 2))
    assert tables == [[["0", "1"]], [["2", "3"]], [["4", "5"]]]
    assert texts == ["[0, 0]", "[0, 1]", "[0, 2]", "3 more of 6 tables"]


def test_it_raises_what_reading_raises():
    x = pnp.ones(3)
    x.delete()
    with pytest.raises(pc.errors.ExecutionError):
        x._repr_html_()
