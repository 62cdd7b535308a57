"""The error classes of the package, and a page about each: `python -m pycompiler.errors KeyReuseError`.

The classes are core's; the pages are part of the documentation (docs/errors) and of the installed package. JAX's names
of two classes are other names of ours. `JAXTypeError` and `JAXIndexError` are base classes without a page.
"""

import os

from pycompiler.core.errors import (
    ConcretizationTypeError,
    DistributedError,
    ExecutionError,
    ExplainedError,
    InconclusiveDimensionError,
    JAXIndexError,
    JaxprTypeError,
    JAXTypeError,
    KeyReuseError,
    MLIRError,
    NonConcreteBooleanIndexError,
    NotDifferentiableError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from pycompiler.lax.names import nearest_name

__all__ = [
    "ConcretizationTypeError",
    "DistributedError",
    "ExecutionError",
    "InconclusiveDimensionError",
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
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


InconclusiveDimensionOperation = InconclusiveDimensionError
JaxRuntimeError = ExecutionError


def _with_page() -> dict[str, str]:
    """The name of the page of each class that has one, by all of its names."""
    classes = {name: globals()[name] for name in __all__ if name != "page"}
    return {
        name: known.__name__
        for name, known in classes.items()
        if issubclass(known, ExplainedError) and known not in (JAXTypeError, JAXIndexError)
    }


def page(name: str) -> str:
    """The page about a class of errors, as Markdown: causes and remedies.

    Raises ValueError for a name that is not a class of `pycompiler.errors` with a page.

    >>> import pycompiler as pc
    >>> print(pc.errors.page("KeyReuseError").splitlines()[0])
    # KeyReuseError
    """
    pages = _with_page()
    if name not in pages:
        raise ValueError(f"errors: there is no class {name!r}; there are {', '.join(pages)}")
    with open(os.path.join(os.path.dirname(__file__), "pages", f"{pages[name]}.md"), encoding="utf-8") as file:
        return file.read()


__getattr__ = nearest_name(__name__, __all__)
