"""The one-way rules between the C++ rooms: what `make lint` checks, and that the check finds what breaks them."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture
def check():
    spec = importlib.util.spec_from_file_location("check_includes", ROOT / "tools" / "check_includes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder, files):
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f'#include "{line}"\n' for line in lines))


def test_the_rooms_keep_the_rules(check):
    assert check.violations() == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"low/A.cpp": ["high/B.h"]}, "part/low/A.cpp:1: low includes high/B.h of high; it may include: none"),
        # A header without rooms is of the room of its source.
        ({"low/A.cpp": ["api/B.h"]}, "part/low/A.cpp:1: low includes api/B.h of high; it may include: none"),
        ({"high/B.h": ["C.h"], "high/C.cpp": ["C.h", "high/B.h"]}, "part: a circle of includes: B -> C -> B"),
        ({"high/B.h": ["low/A.h", "C.h"]}, None),
    ],
)
def test_what_breaks_an_arrow_is_found(check, tmp_path, monkeypatch, files, message):
    monkeypatch.setattr(check, "ROOT", tmp_path)
    write(tmp_path / "part", {"low/A.h": [], "high/B.h": [], "high/B.cpp": [], "high/C.h": []} | files)
    write(tmp_path / "include", {"B.h": []})
    part = check.Part("part", check.chain("low", "high"), "include", "api/")
    assert list(check.rooms(part)) == ([message] if message else [])


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("runtime/lib/A.cpp", "mlir/IR/Value.h"),
        ("runtime/include/A.h", "Python.h"),
        ("runtime/python/A.cpp", "array/IR/ArrayOps.h"),
        ("dialect/lib/A.cpp", "runtime/Stream.h"),
    ],
)
def test_what_a_room_does_not_know_is_found(check, tmp_path, monkeypatch, path, header):
    monkeypatch.setattr(check, "ROOT", tmp_path)
    write(tmp_path, {path: [header]})
    assert [line.split(": ")[:2] for line in check.foreign()] == [[f"{path}:1", f"includes {header}"]]
