"""The steps of docs/how-to/add-an-op.md work: the quoted lines, with another name, are inserted into copies of the
named files, and the result is tested."""

import json
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from numpy_evaluator import by_reference

import pycompiler as pc
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives import PRIMITIVES
from pycompiler.primitives import math as family

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/how-to/add-an-op.md").read_text()
TD, CPP, PY = (
    "dialect/include/array/IR/Elementwise.td",
    "dialect/lib/Conversion/ArrayToLinalg/ElementwiseMath.cpp",
    "pycompiler/primitives/math.py",
)
BUILD = ROOT / "build"


def quoted(title: str) -> str:
    """The first block of the page that quotes a file."""
    block = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)
    assert block is not None, title
    return block[1]


def renamed(text: str) -> str:
    """The quoted lines for another op."""
    assert "cbrt" in text.lower()
    return text.replace("CbrtOp", "ThirdRootOp").replace("cbrt", "third_root")


def with_line(title: str) -> str:
    """A file of the page, with the line of the new op after that of the old one."""
    text, line = (ROOT / title).read_text(), quoted(title)
    assert text.count(line) == 1
    return text.replace(line, line + renamed(line).replace("np.third_root", "np.cbrt"))


def llvm(what: str) -> str:
    version = (ROOT / "llvm-version.txt").read_text().strip()
    return subprocess.check_output([f"llvm-config-{version}", f"--{what}"], text=True).strip()


def generate(folder: Path) -> Path:
    """The headers of the dialect with the new op, in a folder that comes first in the search path."""
    include = folder / "array/IR"
    include.mkdir(parents=True)
    (include / "Elementwise.td").write_text(with_line(TD))
    paths = [f"-I{folder}", f"-I{ROOT / 'dialect/include'}", f"-I{llvm('includedir')}"]
    for generator in ("-gen-op-decls", "-gen-op-defs"):
        kind = "h" if generator.endswith("decls") else "cpp"
        output = include / f"ArrayOps.{kind}.inc"
        tool = Path(llvm("bindir")) / "mlir-tblgen"
        subprocess.run(
            [tool, generator, *paths, ROOT / "dialect/include/array/IR/ArrayOps.td", "-o", output], check=True
        )
    return include / "ArrayOps.h.inc"


def test_the_op_is_generated_from_its_line(tmp_path):
    text = generate(tmp_path).read_text()
    assert "class ThirdRootOp " in text
    assert '"array.third_root"' in text


@pytest.mark.full
def test_the_lowering_compiles_with_its_row(tmp_path):
    generate(tmp_path)
    source = tmp_path / Path(CPP).name
    source.write_text(with_line(CPP).replace("function<math::ThirdRootOp>", "function<math::CbrtOp>"))
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    (known,) = [entry for entry in commands if entry["file"] == str(ROOT / CPP)]
    flags = re.findall(r"(?:-D|-I|-isystem |-std=)\S+", known["command"])
    command = ["c++", f"-I{tmp_path}", *" ".join(flags).split(), f"-I{(ROOT / CPP).parent}", "-fsyntax-only", source]
    done = subprocess.run(command, cwd=known["directory"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def added() -> Primitive:
    module = types.ModuleType("pycompiler.primitives.math_with_one_more")
    module.__dict__.update({"__file__": family.__file__})
    sys.modules[module.__name__] = module
    try:
        exec(compile(with_line(PY), family.__file__, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module.__dict__["third_root"]


def test_the_entry_has_all_rules():
    entry = added()
    assert entry.name == "third_root"
    assert entry not in PRIMITIVES.values()
    x = np.array([0.5, 8.0, 27.0])
    with by_reference():
        np.testing.assert_allclose(entry.bind(x), [0.5 ** (1 / 3), 2.0, 3.0])
        _, tangent = pc.jvp(entry.bind, (x,), (np.ones(3),))
        np.testing.assert_allclose(tangent, x ** (-2 / 3) / 3, rtol=1e-6)
        np.testing.assert_allclose(pc.vmap(entry.bind)(x), np.cbrt(x))
        (cotangent,) = pc.vjp(entry.bind, x)[1](np.ones(3))
        np.testing.assert_allclose(cotangent, x ** (-2 / 3) / 3, rtol=1e-6)
        for sample in entry.sampler(np.random.default_rng(0)):
            assert entry.bind(*sample.args, **sample.params).shape == sample.args[0].shape
    assert "third_root" in str(pc.make_jaxpr(entry.bind)(np.float32(8)))


def test_without_its_op_it_says_so():
    with pytest.raises(Exception, match=r"third_root"):
        added().bind(np.float32(8))


def test_the_page_names_files_and_tests_that_are_there():
    for path in re.findall(r"`((?:pycompiler|dialect|tests|tools)/[\w/.-]+)`", PAGE):
        assert (ROOT / path).exists(), path
