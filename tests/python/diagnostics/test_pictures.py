"""`visualize`: well formed SVG with a box for each operation, boxes that do not overlap, edges between them."""

import itertools
import re
from xml.etree import ElementTree

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.diagnostics.layout import Box, place

SVG = "{http://www.w3.org/2000/svg}"


def model(w, x):
    def body(c, row):
        return pnp.tanh(c + row), c.sum()

    last, sums = lax.scan(body, x, w)
    return lax.cond(sums.sum() > 0, lambda: last * 2.0, lambda: last)


def picture_of(*shapes, fun=model):
    return pc.visualize(fun)(*(pc.ShapeDtypeStruct(shape, "float32") for shape in shapes))


def test_the_boxes_are_the_operations_and_say_their_types():
    picture = picture_of((5, 3), (3,))
    root = ElementTree.fromstring(picture.svg)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for wanted in (
        "input 0",
        "input 1",
        "output 0",
        "scan",
        "tanh",
        "cond",
        "f32[5,3]",
        "branches[0]",
        "broadcast_in_dim 2.0",
    ):
        assert wanted in texts, wanted
    kinds = [rect.attrib.get("class") for rect in root.iter(f"{SVG}rect")]
    assert kinds.count("operation") == picture.operations
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert any(f"{__file__}:" in title and "tanh" in title for title in titles)
    assert repr(picture).startswith("<picture of model: ")


def test_notebooks_and_files_have_the_same(tmp_path):
    picture = picture_of((5, 3), (3,))
    with pytest.raises(ValueError, match=r"the picture is SVG, got .*graph.png'; name it 'graph.svg'"):
        picture.save(tmp_path / "graph.png")
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text() == picture.svg == picture._repr_svg_()
    assert "<script" not in picture.svg


def test_names_are_escaped():
    def f(x):
        return x + 1

    f.__name__ = "<b>&"
    picture = picture_of((2,), fun=f)
    assert ElementTree.fromstring(picture.svg).find(f"{SVG}title").text == "<b>&"


def test_large_graphs_leave_inner_ones_closed_and_too_large_ones_are_refused():
    def many(x, n):
        for _ in range(n):
            x = pc.jit(lambda y: pnp.sin(y) * 2.0 + 1.0)(x)
        return x

    closed = picture_of((2,), fun=lambda x: many(x, 101))
    assert closed.operations == 101 * 6
    assert "sin" not in re.findall(r"<text[^>]*>([^<]*)<", closed.svg)
    assert "5 operations inside" in closed.svg
    unrolled = pytest.warns(UserWarning, match="1501 operations")
    with unrolled, pytest.raises(ValueError, match=r"visualize: <lambda> has 1501 operations, .* at most 1500"):
        picture_of((2,), fun=lambda x: many(x, 1501))


def test_boxes_do_not_overlap_and_lie_below_what_they_depend_on():
    boxes = [Box(width=20 + 13 * (i % 4), height=10 + 7 * (i % 3)) for i in range(30)]
    edges = [(boxes[i], boxes[j]) for i in range(30) for j in range(i + 1, 30) if (i * 7 + j * 5) % 11 == 0]
    layout = place(boxes, edges)
    for a, b in itertools.combinations(boxes, 2):
        beside = abs(a.x - b.x) >= (a.width + b.width) / 2
        assert beside or a.y + a.height <= b.y or b.y + b.height <= a.y
    for start, end in edges:
        assert start.y + start.height <= end.y
    assert [(path[0], path[-1]) for path in layout.paths] == edges
    for path in layout.paths:
        assert [box.layer for box in path] == list(range(path[0].layer, path[-1].layer + 1))
    for box in boxes:
        assert box.x - box.width / 2 >= 0
        assert box.x + box.width / 2 <= layout.width
        assert box.y >= 0
        assert box.y + box.height <= layout.height


def test_a_chain_is_straight():
    boxes = [Box(width=10, height=10) for _ in range(5)]
    place(boxes, list(itertools.pairwise(boxes)))
    assert len({round(box.x, 6) for box in boxes}) == 1


def test_nothing_to_draw():
    assert pc.visualize(lambda: ())().operations == 0
    layout = place([], [])
    assert layout.paths == []
