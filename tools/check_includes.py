"""Checks the one-way rules of the C++ rooms: the headers that a file of a room may include, and no circles of includes.

runtime/ never includes MLIR or LLVM, and only runtime/python includes Python. From runtime/, dialect/ includes only the
headers that the compiler and the runtime share. In a part with rooms (ROOMS), a file includes the headers of its own
room and of the rooms allowed to its room. A unit is a header with the source of its name; the units of a part must not
include each other in a circle. Prints each violation as file:line and exits with 1.
"""

import pathlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*[<"]([^">]+)[">]')
PYTHON = r"(Python\.h|nanobind/|numpy/|structmember\.h)"
# All headers of runtime/ except those that the compiler and the runtime share.
NOT_AGREED = r"runtime/(?!(Abi\.h|Accumulations\.h|SizeChecks\.h|Symbols\.def)$)"
MLIR = r"(mlir|llvm|mlir-c|llvm-c)/"

# folder -> (pattern of headers that it must not include, reason)
RULES = [
    ("runtime/include", rf"({MLIR}|array/|{PYTHON})", "the runtime knows neither MLIR nor Python"),
    ("runtime/lib", rf"({MLIR}|array/|{PYTHON})", "the runtime knows neither MLIR nor Python"),
    ("runtime/pjrt", rf"({MLIR}|array/|{PYTHON})", "the runtime knows neither MLIR nor Python"),
    ("runtime/python", rf"({MLIR}|array/[A-Z]\w*/)", "the runtime's binding knows no MLIR"),
    ("tests/cpp", rf"({MLIR}|array/|{PYTHON})", "the runtime's tests know neither MLIR nor Python"),
    ("dialect", NOT_AGREED, "the compiler includes only the ABI of runtime/"),
    ("tools/array-opt", NOT_AGREED, "array-opt runs nothing"),
    ("dialect/include", PYTHON, "Python belongs in dialect/python"),
    ("dialect/lib", PYTHON, "Python belongs in dialect/python"),
    ("tools", PYTHON, "the tools do not link Python"),
]


@dataclass(frozen=True)
class Part:
    """A folder of rooms. Headers outside of it belong to the room of the source with their name."""

    folder: str
    # room -> the rooms that it may include, besides itself
    arrows: dict[str, set[str]]
    # a folder of headers, the prefix of their includes, and the rooms of headers without a source
    headers: str = ""
    prefix: str = ""
    header_only: dict[str, str] = field(default_factory=dict[str, str])
    # if that folder has a folder for each room: folders with another name than their room, and folders without a room
    folders: dict[str, str | None] | None = None


def cmake_arrows(path: str, function: str) -> dict[str, set[str]]:
    """The allowed includes from calls of a CMake function: `add_runtime_room(memory support threads)`."""
    calls = re.findall(rf"^{function}\(([\w ]+)\)", (ROOT / path).read_text(), re.MULTILINE)
    return {name: set(seen) for name, *seen in map(str.split, calls)}


def cmake_libraries(folder: str) -> dict[str, set[str]]:
    """The allowed includes of folders, each of which is a library: all linked libraries, also indirect ones."""
    names: dict[str, str] = {}
    linked: dict[str, list[str]] = {}
    for path in sorted((ROOT / folder).rglob("CMakeLists.txt")):
        text = path.read_text()
        for name in re.findall(r"^add_(?:array_library\((\w+)\)|library\((\w+) INTERFACE\))", text, re.MULTILINE):
            names["".join(name)] = path.parent.relative_to(ROOT / folder).as_posix()
        for name, others in re.findall(r"target_link_libraries\((\w+) (?:PUBLIC|INTERFACE) ([\w\s]+)\)", text):
            linked[name] = others.split()

    def reached(name: str) -> set[str]:
        below = [other for other in linked.get(name, []) if other in names]
        return {names[other] for other in below}.union(*(reached(other) for other in below))

    return {names[name]: reached(name) for name in names}


def chain(*rooms: str) -> dict[str, set[str]]:
    """A list of rooms, each of which may include those to its left."""
    return {room: set(rooms[:i]) for i, room in enumerate(rooms)}


ROOMS = [
    Part(
        "runtime/lib",
        {**cmake_arrows("runtime/CMakeLists.txt", "add_runtime_room"), "exported": {"support", "threads", "cpu"}},
        "runtime/include/runtime",
        "runtime/",
        {
            "Abi": "support",
            "CollectiveWork": "collective",
            "DType": "support",
            # An interface, whose implementations are in the room `devices`.
            "Device": "memory",
            "GpuLibraries": "gpulibraries",
            "HostCallback": "loader",
            "Lapack": "cpu",
            "MappedObject": "loader",
            "Processes": "distributed",
            "RefPtr": "support",
            "RunContext": "loader",
            "Accumulations": "support",
            "SizeChecks": "support",
            "SleepingThreads": "threads",
            "Transport": "collective",
        },
    ),
    Part("runtime/python", chain("support", "types", "array", "call", "pjrt")),
    Part(
        "dialect/lib",
        cmake_libraries("dialect/lib"),
        "dialect/include/array",
        "array/",
        folders={"Conversion": "Conversion/ArrayToLinalg", "Cpu": None, "Gpu": None},
    ),
]


def sources(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".h", ".cpp", ".def", ".inc", ".c", ".td"}:
            yield path


def includes(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match[1]


def foreign() -> Iterator[str]:
    """Violations of RULES."""
    for folder, pattern, why in RULES:
        forbidden = re.compile(pattern)
        for path in sources(ROOT / folder):
            for number, name in includes(path):
                if forbidden.match(name):
                    yield f"{path.relative_to(ROOT)}:{number}: includes {name}: {why}"


class Headers:
    """The unit and the room of each header of a part."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.folder = ROOT / part.folder
        self.rooms = dict(part.header_only)
        self.files = list(sources(self.folder))
        for path in self.files:
            room = self.room_of(path)
            if room and path.suffix == ".cpp":
                self.rooms.setdefault(path.stem, room)
        self.public = list(sources(ROOT / part.headers)) if part.headers else []

    def room_of(self, path: pathlib.Path) -> str | None:
        """The innermost folder that is a room; None for files beside the rooms, which may include all of them."""
        for folder in path.relative_to(self.folder).parents:
            if folder.as_posix() in self.part.arrows:
                return folder.as_posix()
        return None

    def find(self, name: str, includer: pathlib.Path) -> tuple[str, str | None] | None:
        """(unit, room) of an included header; None for a header outside of this part."""
        for path in (self.folder / name, includer.parent / name):
            if path.is_file() and path.resolve().is_relative_to(self.folder):
                return path.stem, self.room_of(path.resolve())
        if self.part.prefix and name.startswith(self.part.prefix) and name.endswith(".h"):
            header = pathlib.Path(name[len(self.part.prefix) :])
            return header.stem, self.room_of_public(header)
        return None

    def room_of_public(self, header: pathlib.Path) -> str | None:
        if self.part.folders is None:
            return self.rooms.get(header.stem)
        folder = header.parts[0]
        return self.part.folders.get(folder, folder)


def rooms(part: Part) -> Iterator[str]:
    """Includes that violate the rules of a part, missing rooms, and circles of its units."""
    headers = Headers(part)
    units: dict[str, set[str]] = {}
    for room, seen in part.arrows.items():
        for name in {room, *seen}:
            if not (ROOT / part.folder / name).is_dir():
                yield f"{part.folder}: there is no room {name}"
    for path in headers.public:
        if part.folders is None and path.suffix == ".h" and path.stem not in headers.rooms:
            yield f"{path.relative_to(ROOT)}:1: belongs to no room: it has no source, and no row in ROOMS"
    for path in headers.files + headers.public:
        is_public = path in headers.public
        own = headers.room_of_public(path.relative_to(ROOT / part.headers)) if is_public else headers.room_of(path)
        for number, name in includes(path):
            if (found := headers.find(name, path)) is None:
                continue
            unit, room = found
            if (room, unit) != (own, path.stem):
                units.setdefault(f"{own}/{path.stem}", set()).add(f"{room}/{unit}")
            if own and room and room != own and room not in part.arrows[own]:
                allowed = ", ".join(sorted(part.arrows[own])) or "none"
                place = f"{path.relative_to(ROOT)}:{number}"
                yield f"{place}: {own} includes {name} of {room}; it may include: {allowed}"
    if part.folders is None:  # else one room may split its units into several headers
        for circle in circles(units):
            yield f"{part.folder}: a circle of includes: {' -> '.join(pathlib.Path(unit).name for unit in circle)}"


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """One circle for each unit that is in a circle."""
    done: set[str] = set()
    for start in sorted(graph):
        paths = [[start]]
        seen: set[str] = set()
        while paths and start not in done:
            path = paths.pop(0)
            for follower in sorted(graph.get(path[-1], ())):
                if follower == start:
                    done.update(path)
                    yield [*path, start]
                    paths.clear()
                    break
                if follower not in seen:
                    seen.add(follower)
                    paths.append([*path, follower])


def violations() -> list[str]:
    return [*foreign(), *(line for part in ROOMS for line in rooms(part))]


def main() -> int:
    found = violations()
    print("\n".join(found) or "includes: the rooms keep the one-way rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
