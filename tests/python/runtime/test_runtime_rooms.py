"""The one-way rules between the C++ rooms: `make lint` passes, and the check finds violations."""

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
        # A header without rooms belongs to the room of its source.
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


def test_libraries_are_rooms(check, tmp_path, monkeypatch):
    """For folders of libraries, CMake defines the allowed includes, and a folder of headers for each is public."""
    monkeypatch.setattr(check, "ROOT", tmp_path)
    for room, links in {"Low": "", "Middle": "Low", "High": "Middle"}.items():
        (tmp_path / "part" / room).mkdir(parents=True)
        linked = f"target_link_libraries({room} PUBLIC {links})" if links else ""
        (tmp_path / "part" / room / "CMakeLists.txt").write_text(f"add_array_library({room})\n{linked}\n")
    assert check.cmake_libraries("part") == {"Low": set(), "Middle": {"Low"}, "High": {"Low", "Middle"}}
    write(tmp_path / "include", {"High/A.h": []})
    write(tmp_path / "part", {"High/B.cpp": ["Low/C.h", "High/D.h"], "Low/C.h": ["Passes.h"], "Low/Passes.h": []})
    write(tmp_path / "part", {"Middle/E.cpp": ["api/High/A.h"], "High/D.h": []})
    part = check.Part("part", check.cmake_libraries("part"), "include", "api/", folders={})
    message = "part/Middle/E.cpp:1: Middle includes api/High/A.h of High; it may include: Low"
    assert list(check.rooms(part)) == [message]


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
