"""Remarks: each fallback is reported with its line, and counted; each kind is on the page."""

import re
from pathlib import Path

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.diagnostics.remarks import KINDS, TABLE, tell

ROOT = Path(__file__).resolve().parents[3]


class Told:
    """The remarks of a block."""

    def __enter__(self):
        self.before = pc.debug.remark_counts()
        self.all = []
        return self

    def __exit__(self, *_):
        counts = pc.debug.remark_counts()
        self.counts = {kind: counts[kind] - self.before[kind] for kind in counts if counts[kind] != self.before[kind]}
        self.all = pc.debug.remarks()[-sum(self.counts.values()) :] if self.counts else []


def test_the_page_has_every_kind():
    page = (ROOT / "docs/remarks.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    assert rows == [(kind.name, "passes" if kind.of_passes else "Python", kind.meaning, kind.avoid) for kind in TABLE]


def test_every_kind_is_told_somewhere():
    python = "".join([path.read_text() for path in (ROOT / "pycompiler").rglob("*.py")])
    cpp = "".join([path.read_text() for path in (ROOT / "dialect").rglob("*.cpp")])
    assert set(re.findall(r'remarks\.tell\(\s*"([\w-]+)"', python)) == {k.name for k in TABLE if not k.of_passes}
    assert set(re.findall(r'(?<!void )tellGivenUp\([^"]*?"([\w-]+)"', cpp)) == {k.name for k in TABLE if k.of_passes}
    assert len(KINDS) == len(TABLE)


def test_a_remark_has_its_line_and_is_printed_where_debug_says(capsys):
    with Told() as told, pc.config.override("debug", 1):
        tell("not-measured", "the words")
    assert told.counts == {"not-measured": 1}
    (remark,) = told.all
    assert (remark.kind, remark.text) == ("not-measured", "the words")
    assert "test_remarks.py" in remark.place
    assert capsys.readouterr().err == f"pycompiler: remark: {remark}\n"
    tell("not-measured", "silent")
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore")
def test_donated_memory_that_no_result_takes():
    with Told() as told:
        pc.jit(lambda x: x.sum(), donate_argnums=0)(pnp.ones((3, 5)))
    assert told.counts == {"donation-not-taken": 1}
    assert "f32[3,5]: no result has its shape and dtype" in told.all[0].text
    x = pnp.ones(70_000)
    seen = np.asarray(x)
    with Told() as told:
        pc.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert told.counts == {"donation-not-taken": 1}
    assert "NumPy, or another library, reads its memory" in told.all[0].text
    assert seen[0] == 1
    with Told() as told:
        pc.jit(lambda x: x + 2, donate_argnums=0)(pnp.ones(70_000))
    assert told.counts == {}


def test_sizes_that_no_symbol_can_stand_for():
    f = pc.jit(lambda x: x.reshape(2, 3) if x.size == 6 else x + x.shape[0], dynamic="auto")
    f(pnp.ones(6))
    with Told() as told:
        f(pnp.ones(7))
    assert set(told.counts) <= {"compiled-for-own-sizes"}
    assert told.counts


def _carry_that_is_copied(scale):
    """A branch passes on a value next to a changed version of it: no order of the steps works in place."""

    def body(i, carry):
        a, _, c = carry
        t = a * scale

        def moved(t):
            return lax.dynamic_update_slice(t, lax.dynamic_slice(t, (i,), (2,)), (i + 1,)), t

        return *lax.switch(i, [moved, lambda t: (t, a + t)], t), c

    return pc.jit(lambda x, y, z: lax.fori_loop(0, 3, body, (x, y, z)))


def test_what_passes_give_up_is_told_of_the_disk_cache_too():
    x = np.arange(4, dtype=np.float32)
    for _ in range(2):
        with Told() as told:
            a, b, c = _carry_that_is_copied(2.0)(x, x + 1, x + 2)
        assert told.counts.get("copied-carry") == 1
        remark = next(remark for remark in told.all if remark.kind == "copied-carry")
        assert "test_remarks.py" in remark.place
        assert "since no order in place was found" in remark.text
        np.testing.assert_array_equal(a, [0, 0, 8, 24])
        np.testing.assert_array_equal(b, [0, 0, 12, 36])
        np.testing.assert_array_equal(c, x + 2)


def test_matmuls_of_integers_are_loops():
    x = np.arange(64 * 64, dtype=np.int32).reshape(64, 64) % 7
    with Told() as told:
        product = pc.jit(lambda x: x @ x)(x)
    assert told.counts == {"matmul-in-loops": 1}
    assert "a matmul of 64x64 by 64x64 is computed by loops" in told.all[0].text
    assert "test_remarks.py" in told.all[0].place
    np.testing.assert_array_equal(product, x @ x)
    with Told() as told:
        pc.jit(lambda x: x @ x)(x.astype(np.float32))
    assert told.counts == {}


def test_a_changed_array_whose_former_value_is_needed_is_copied():
    def both(x, i):
        y = x * 2
        return lax.dynamic_update_slice(y, x[:1], (i, 0)), y

    x = np.ones((64, 64), np.float32)
    with Told() as told:
        new, former = pc.jit(both)(x, 3)
    assert told.counts == {"copied-operand": 1}
    assert "test_remarks.py" in told.all[0].place
    np.testing.assert_array_equal(former, 2 * x)
    assert (new[3] == 1).all()
    with Told() as told:
        pc.jit(lambda x, i: both(x, i)[0])(x, 3)
    assert told.counts == {}
