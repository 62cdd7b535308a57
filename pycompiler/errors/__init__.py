"""The error classes of the package, and a page about each: `python -m pycompiler.errors KeyReuseError`.

The classes are core's; the pages are part of the documentation (docs/errors) and of the installed package.
"""

from importlib import resources

from pycompiler.core.errors import (
    ConcretizationTypeError,
    ExecutionError,
    InconclusiveDimensionError,
    KeyReuseError,
    MLIRError,
    NonConcreteBooleanIndexError,
    NotDifferentiableError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)

__all__ = [
    "ConcretizationTypeError",
    "ExecutionError",
    "InconclusiveDimensionError",
    "KeyReuseError",
    "MLIRError",
    "NonConcreteBooleanIndexError",
    "NotDifferentiableError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
    "page",
]


def page(name: str) -> str:
    """The page about a class of errors, as Markdown: causes and remedies.

    Raises ValueError for a name that is not a class of `pycompiler.errors`.

    >>> import pycompiler as pc
    >>> print(pc.errors.page("KeyReuseError").splitlines()[0])
    # KeyReuseError
    """
    classes = [known for known in __all__ if known != "page"]
    if name not in classes:
        raise ValueError(f"errors: there is no class {name!r}; there are {', '.join(classes)}")
    return resources.files(__name__).joinpath("pages", f"{name}.md").read_text()
