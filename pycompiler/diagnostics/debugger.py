"""The terminal of `debug.breakpoint`: frames of the user's program as they were while it was traced, and commands.

The commands and the form of their output are those of JAX's debugger, which are a part of Python's pdb.
"""

from __future__ import annotations

import cmd
import inspect
import pprint
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from pycompiler.core.source import is_internal
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.tree import PyTreeDef, tree_flatten

# Two programs may stop at once; a terminal serves one of them at a time.
_terminal = threading.Lock()


class _Unknown:
    """Stands for a local value that is no tree."""

    def __repr__(self) -> str:
        return "<cant_flatten>"


@dataclass(frozen=True)
class Frame:
    """A place in the user's program: its lines, and its local names. Values that are computed later are missing in
    `leaves`; their places are in `traced`."""

    filename: str
    lineno: int
    source: Sequence[str]
    # The place of the line in `source`; None without source.
    offset: int | None
    global_names: dict[str, Any]
    tree: PyTreeDef
    leaves: Sequence[Any]
    traced: Sequence[int]

    def names(self, values: Sequence[Any]) -> dict[str, Any]:
        """The local names, with the computed values."""
        leaves = list(self.leaves)
        for place, value in zip(self.traced, values, strict=True):
            leaves[place] = value
        return dict(self.tree.unflatten(leaves))


def _lines(frame: inspect.FrameInfo) -> tuple[Sequence[str], int | None]:
    try:
        lines, start = inspect.getsourcelines(frame.frame)
    except OSError:
        return (), None
    offset = frame.lineno - max(start, 1)
    return ("".join(lines).split("\n"), offset) if offset < len(lines) else ((), None)


def _frame(info: inspect.FrameInfo) -> tuple[Frame, list[Any]]:
    source, offset = _lines(info)
    names: list[tuple[str, Any]] = []
    for name, value in info.frame.f_locals.items():
        try:
            tree_flatten(value)
        except Exception:  # a class of the user may raise any error
            value = _Unknown()
        names.append((name, value))
    leaves, tree = tree_flatten(names)
    traced = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tracer)]
    values = [leaves[place] for place in traced]
    kept = [None if isinstance(leaf, Tracer) else leaf for leaf in leaves]
    return Frame(info.filename, info.lineno, source, offset, info.frame.f_globals, tree, kept, traced), values


def frames_here(filtered: bool, count: int | None) -> tuple[list[Frame], list[Any]]:
    """The frames of the caller's stack, the innermost first, and the traced values of all of them. `filtered` leaves
    out frames of this package."""
    stack = [info for info in inspect.stack()[1:] if not (filtered and is_internal(info.filename))]
    found = [_frame(info) for info in stack[:count]]
    return [frame for frame, _ in found], [value for _, values in found for value in values]


class Console(cmd.Cmd):
    """The commands at one stop."""

    intro = "Entering jdb:"
    prompt = "(jdb) "

    def __init__(
        self, frames: Sequence[Frame], values: Sequence[Any], stdin: IO[str] | None, stdout: IO[str] | None
    ) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self._frames = frames
        self._names: list[dict[str, Any]] = []
        at = 0
        for frame in frames:
            self._names.append(frame.names(values[at : at + len(frame.traced)]))
            at += len(frame.traced)
        self._at = 0

    def _say(self, text: str) -> None:
        print(text, file=self.stdout)

    def _show(self, expression: str, form: Callable[[Any], str]) -> None:
        try:
            # Names of the frame come first, as in a function.
            known = {**self._frames[self._at].global_names, **self._names[self._at]}
            self._say(form(eval(expression, known)))
        except BaseException as error:
            self._say("*** " + traceback.format_exception_only(error)[-1].strip())

    def _context(self, around: int) -> None:
        frame = self._frames[self._at]
        self._say(f"> {frame.filename}({frame.lineno})")
        if frame.offset is not None:
            for place in range(max(frame.offset - 1 - around, 0), min(frame.offset + around + 1, len(frame.source))):
                self._say(("->  " if place == frame.offset else "    ") + frame.source[place])

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        self._show(line, repr)

    def do_p(self, arg: str) -> None:
        """p expression: the value of an expression"""
        self._show(arg, repr)

    def do_pp(self, arg: str) -> None:
        """pp expression: the value of an expression, on several lines"""
        self._show(arg, pprint.pformat)

    def do_up(self, arg: str) -> None:
        """u(p): the frame that called this one"""
        if self._at == len(self._frames) - 1:
            self._say("At topmost frame.")
        else:
            self._at += 1
        self._context(2)

    def do_down(self, arg: str) -> None:
        """d(own): the frame that this one called"""
        if self._at == 0:
            self._say("At bottommost frame.")
        else:
            self._at -= 1
        self._context(2)

    def do_list(self, arg: str) -> None:
        """l(ist): the source around the line"""
        self._context(5)

    def do_where(self, arg: str) -> None:
        """w(here), bt: all frames, the innermost last"""
        self._say("Traceback:")
        for frame in reversed(self._frames):
            self._say(f'  File "{frame.filename}", line {frame.lineno}')
            self._say("    " + ("<no source>" if frame.offset is None else frame.source[frame.offset].strip()))

    def do_continue(self, arg: str) -> bool:
        """c(ont(inue)): the program goes on"""
        return True

    def do_quit(self, arg: str) -> None:
        """q(uit), exit: the program ends"""
        sys.exit(0)

    do_u, do_d, do_l, do_w, do_bt = do_up, do_down, do_list, do_where, do_where
    do_c = do_cont = do_continue
    do_q = do_exit = do_EOF = do_quit  # noqa: N815 (cmd's name for the end of the input)

    def run(self) -> None:
        while True:
            try:
                self.cmdloop()
            except KeyboardInterrupt:
                self._say("--KeyboardInterrupt--")
            else:
                return


def stop(frames: Sequence[Frame], values: Sequence[Any], stdin: IO[str] | None, stdout: IO[str] | None) -> None:
    """Reads commands until one lets the program go on. SystemExit by `quit` and at the end of the input."""
    with _terminal:
        Console(frames, values, stdin, stdout).run()
