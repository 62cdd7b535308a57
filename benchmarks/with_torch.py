"""Cases under torch: the case's own source, with torch's functions for NumPy's, eager or compiled by inductor."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from library import Library


def peers(build: Callable[[Library], Callable[..., Any]], has_steps: bool) -> dict[str, Callable[[Any], Any]]:
    """The two peers of a case. Inductor compiles a step if the case has a loop of steps, else the whole function."""

    def eager(torch: Any) -> Callable[..., Any]:
        return build(Library("torch", torch, SimpleNamespace(grad=torch.func.grad)))

    def inductor(torch: Any) -> Callable[..., Any]:
        torch.compiler.reset()
        top = SimpleNamespace(grad=torch.func.grad)
        if has_steps:
            return build(Library("torch", torch, top, step=torch.compile))
        return torch.compile(build(Library("torch", torch, top)))

    return {"torch": eager, "inductor": inductor}
