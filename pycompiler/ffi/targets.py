"""Targets of `ffi_call`: handlers by name, for this process.

A program has the name of its target. Each load of its code looks the handler up, so code from the disk cache calls the
handler of its process.
"""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pycompiler import _runtime
from pycompiler.core.errors import ExecutionError
from pycompiler.core.tracing.graph import Equation
from pycompiler.ffi.addresses import capsule_of, in_capsule

STAGES = ("instantiate", "prepare", "initialize", "execute")
_HOST = ("cpu", "host")

_lock = threading.Lock()
# (name, platform) -> the addresses of the handlers of STAGES, 0 for none. `_kept` keeps them alive, for ever.
_targets: dict[tuple[str, str], tuple[int, ...]] = {}
_kept: list[Any] = []


@dataclass(frozen=True)
class Registered:
    """The target with a name."""

    name: str

    def call(self, equation: Equation) -> Any:
        """The runtime's call of the handlers."""
        handlers = _targets.get((self.name, "cpu"))
        source = equation.source
        where = f"{source.describe()}\n" if source else ""
        if handlers is None:
            known = ", ".join(sorted(name for name, platform in _targets if platform == "cpu")) or "none"
            raise ExecutionError(
                f"{where}ffi_call: no target {self.name!r} is registered for the CPU, where handlers run; registered: "
                f"{known}. What to do: call ffi.register_ffi_target before the program runs"
            )
        params = equation.params
        try:
            return _runtime.foreign_call(
                self.name,
                handlers,
                params["attributes"].encoded,
                [order or () for order in params["input_layouts"]],
                [order or () for order in params["output_layouts"]],
                params["input_output_aliases"],
            )
        except RuntimeError as error:
            # The stage `instantiate` failed.
            raise ExecutionError(f"{where}ffi_call: {error}") from None


def register_ffi_target(name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any) -> None:
    """Give a handler of XLA's FFI a name for `ffi_call`.

    Args:
      name: the name, the same for the life of the process.
      fn: a PyCapsule with the handler, or a dict of PyCapsules for the stages "instantiate", "prepare", "initialize"
        and "execute". Only the last is required. `pycapsule` makes one from a function of ctypes.
      platform: "cpu". Handlers for other platforms are accepted, and not called.
      api_version: 1, the typed interface.
      kwargs: `traits`, which are for GPUs.

    Raises TypeError for an object without a handler. Raises ValueError for a handler that was compiled for another
    version of the interface, for another `api_version`, and if the name has another handler.

    >>> from pycompiler import ffi
    >>> ffi.register_ffi_target("saxpy", None)
    Traceback (most recent call last):
    TypeError: register_ffi_target: the handler of 'saxpy' must be a PyCapsule, got None of type NoneType. ...
    """
    if unknown := sorted(kwargs.keys() - {"traits"}):
        raise TypeError(f"register_ffi_target: unexpected arguments {', '.join(unknown)}")
    if api_version != 1:
        raise ValueError(
            f"register_ffi_target: api_version is {api_version!r}, expected 1: handlers take an XLA_FFI_CallFrame. "
            "What to do: call a function with another interface by ffi.c_function"
        )
    where = "cpu" if platform.lower() in _HOST else platform
    handlers = handlers_of(name, fn, where == "cpu")
    with _lock:
        if _targets.setdefault((name, where), handlers) != handlers:
            raise ValueError(
                f"register_ffi_target: {name!r} has another handler for {platform}; compiled programs may use it. What "
                "to do: give the new handler another name"
            )
        _kept.append(fn)


def handlers_of(name: str, fn: Any, is_checked: bool = True) -> tuple[int, ...]:
    """The addresses of the handlers of STAGES in a capsule or in a dict of them, 0 for none. Raises as
    `register_ffi_target`."""
    given: Mapping[str, Any] = fn if isinstance(fn, Mapping) else {"execute": fn}
    if "execute" not in given or given.keys() - set(STAGES):
        raise ValueError(
            f"register_ffi_target: {name!r} has handlers for {', '.join(map(repr, given))}; expected 'execute', and "
            f"others of {', '.join(STAGES)}"
        )
    what = f"register_ffi_target: the handler of {name!r}"
    handlers = tuple([in_capsule(what, given[stage]) if stage in given else 0 for stage in STAGES])
    for handler in filter(None, handlers if is_checked else ()):
        _check(name, handler)
    return handlers


def _check(name: str, handler: int) -> None:
    try:
        _runtime.check_foreign_handler(handler)
    except RuntimeError as error:
        raise ValueError(f"register_ffi_target: {name!r}: {error}") from None


def register_ffi_type(name: str, type_registration: Mapping[str, Any], platform: str = "cpu") -> None:
    """Register a type of state that handlers keep between stages.

    `type_registration` has PyCapsules: "type_id" with the handlers' XLA_FFI_TypeId, which gets a number unless it has
    one, and maybe "type_info" with an XLA_FFI_TypeInfo, whose function deletes a state. Register types before the
    handlers that use them.

    Raises TypeError for other objects, ValueError if the name or the number belongs to another type.
    """
    if platform.lower() not in _HOST:
        return
    what = f"register_ffi_type: the {{}} of {name!r}"
    type_id = in_capsule(what.format("type_id"), type_registration.get("type_id"))
    info = type_registration.get("type_info")
    address = 0 if info is None else in_capsule(what.format("type_info"), info)
    try:
        _runtime.register_foreign_type(name, type_id, address)
    except RuntimeError as error:
        raise ValueError(f"register_ffi_type: {error}") from None
    with _lock:
        _kept.append(type_registration)


def pycapsule(funcptr: Any) -> Any:
    """A PyCapsule with a function of ctypes, for `register_ffi_target`.

    >>> import ctypes
    >>> from pycompiler import ffi
    >>> type(ffi.pycapsule(ctypes.CDLL(None).abs)).__name__
    'PyCapsule'
    """
    return capsule_of(funcptr)


def include_dir() -> str:
    """The folder of the headers with which handlers are compiled: `#include "xla/ffi/api/ffi.h"`.

    >>> import os
    >>> from pycompiler import ffi
    >>> sorted(os.listdir(os.path.join(ffi.include_dir(), "xla/ffi/api")))
    ['api.h', 'c_api.h', 'ffi.h']
    """
    here = pathlib.Path(__file__).parent
    # A wheel has the headers in the package, a checkout at their origin.
    folders: Sequence[pathlib.Path] = (here / "include", here.parent.parent / "third_party")
    return str(next(folder for folder in folders if (folder / "xla").exists()))
