"""The reference of the Python package: a page for each public module, which mkdocstrings fills from the docstrings."""

import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from docstring_markdown import as_markdown

PACKAGE = "pycompiler"
# Public modules that the package does not import.
BESIDE = ("compat", "extend", "imported", "interpreters", "mlir")


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """A page for each public module, one for the class Array, and their order."""
    modules = all_public_modules()
    order = [PACKAGE, "Array", *sorted(path for path, _ in modules if path != PACKAGE)]
    yield "reference/python/.nav.yml", "nav:\n" + "".join(f"  - {name}.md\n" for name in order)
    for path, module in modules:
        text = f"# {path}\n\n::: {module.__name__}\n"
        if path == PACKAGE:  # its class Array has a separate page
            text += '    options: { filters: ["!^_", "!^Array$"] }\n\nArrays are [their own page](Array.md).\n'
        for function in hidden_by_files(module):
            text += f"\n::: {function}\n    options: {{ show_root_heading: true, show_root_full_path: false }}\n"
        yield f"reference/python/{path}.md", text
    yield "reference/python/Array.md", array_page()


def all_public_modules() -> list[tuple[str, ModuleType]]:
    """The public modules of the package, by their public names."""
    paths = [PACKAGE, *(f"{PACKAGE}.{name}" for name in BESIDE)]
    return [found for path in paths for found in public_modules(path, importlib.import_module(path))]


def public_modules(path: str, module: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The modules among the names of the package, or of one of its modules, by their public names; not modules that
    hold only modules."""
    members = {name: getattr(module, name) for name in public_names(module)}
    if not all(inspect.ismodule(value) for value in members.values()):
        yield path, module
    for name, value in members.items():
        if inspect.ismodule(value):
            yield from public_modules(f"{path}.{name}", value)


def public_names(module: ModuleType) -> list[str]:
    """The names that a module lists or, without a list, defines."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return list(getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")])


def hidden_by_files(module: ModuleType) -> list[str]:
    """The places of functions of a package that have the name of one of its files, such as `jit`. A tool that reads
    only the sources takes the name for the file."""
    functions = {name: getattr(module, name) for name in public_names(module)}
    return [
        f"{value.__module__}.{name}"
        for name, value in functions.items()
        if inspect.isfunction(value) and f"{module.__name__}.{name}" in sys.modules
    ]


def dotted(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def array_page() -> str:
    """The members of arrays. Their class is in the extension module, and the import of the package attaches methods, so
    no source has all members."""
    array = importlib.import_module(PACKAGE).Array
    names = [name for name in dir(array) if not name.startswith("_")]
    lines = [f"# {PACKAGE}.Array", as_markdown(inspect.getdoc(array) or "")]
    for name in names:
        member = inspect.getattr_static(array, name)
        lines.append(f"## `{name}{signature_of(getattr(array, name), member)}`")
        lines.append(as_markdown(inspect.getdoc(member) or ""))
    return "\n\n".join(lines) + "\n"


def signature_of(value: Any, member: Any) -> str:
    """The parameters of a method without `self`; empty for a property."""
    if not callable(value):
        return ""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except ValueError:
        return "(...)"
    return str(inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters[1:]]))
