"""A debugger in the terminal for a place of a compiled program: the frames of the place with their variables, whose
arrays are those of the run. `debug.breakpoint` records the place.
"""

from __future__ import annotations

import cmd
import linecache
import pprint
import sys
import threading
import traceback
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from pycompiler.core.source import is_internal
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.tree import PyTreeDef, tree_flatten


@dataclass(frozen=True)
class Frame:
    """A call of a Python function: its place, its source, and its variables."""

    filename: str
    line: int
    # The lines of the function and the number of the first one; without source, none and 0.
    source: tuple[str, ...]
    first: int
    locals: dict[str, Any]
    globals: dict[str, Any]


class Recorded(NamedTuple):
    """Frames while a program is traced. Their traced values are replaced by those of each run."""

    frames: tuple[Frame, ...]
    # For each variable that holds traced values: the frame, the name, the structure, and the leaves.
    variables: tuple[tuple[int, str, PyTreeDef, tuple[Any, ...]], ...]

    def values(self) -> list[Any]:
        """The traced values."""
        return [x for _, _, _, leaves in self.variables for x in leaves if isinstance(x, Tracer)]

    def at(self, values: Sequence[Any]) -> list[Frame]:
        """The frames with these values."""
        frames = [Frame(**{**vars(frame), "locals": dict(frame.locals)}) for frame in self.frames]
        given = iter(values)
        for place, name, tree, leaves in self.variables:
            frames[place].locals[name] = tree.unflatten([next(given) if isinstance(x, Tracer) else x for x in leaves])
        return frames


def recorded(frame: types.FrameType | None, most: int | None, of_user: bool) -> Recorded:
    """The frames from one outwards, at most `most`; with `of_user`, without those of the package."""
    frames: list[Frame] = []
    variables: list[tuple[int, str, PyTreeDef, tuple[Any, ...]]] = []
    while frame is not None and (most is None or len(frames) < most):
        if not (of_user and is_internal(frame.f_code.co_filename)):
            names = dict(frame.f_locals)
            for name, value in names.items():
                found = _traced(value)
                if found is not None:
                    variables.append((len(frames), name, *found))
            source, first = _source(frame)
            code = frame.f_code
            frames.append(Frame(code.co_filename, frame.f_lineno, source, first, names, frame.f_globals))
        frame = frame.f_back
    return Recorded(tuple(frames), tuple(variables))


def _traced(value: Any) -> tuple[PyTreeDef, tuple[Any, ...]] | None:
    """The structure and the leaves of a value with traced ones."""
    try:
        leaves, tree = tree_flatten(value)
    except Exception:  # a container of the user that can't be flattened here: it is shown as it is
        return None
    return (tree, tuple(leaves)) if any(isinstance(x, Tracer) for x in leaves) else None


def _source(frame: types.FrameType) -> tuple[tuple[str, ...], int]:
    """The lines of a frame's function, and the number of the first one."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    if not lines:
        return (), 0
    code = frame.f_code
    first = max(code.co_firstlineno, 1)
    last = max((end for _, _, end in code.co_lines() if end), default=first)
    return tuple([line.rstrip("\n") for line in lines[first - 1 : max(last, frame.f_lineno)]]), first


# One breakpoint at a time has the terminal.
_terminal = threading.Lock()


def run(frames: Sequence[Frame], **streams: IO[str] | None) -> None:
    """Show the debugger until the user continues."""
    with _terminal:
        Terminal(frames, **streams).run()


class Terminal(cmd.Cmd):
    """The commands are those of pdb that concern one place; anything else is an expression."""

    intro = "Entering jdb:"
    prompt = "(jdb) "

    def __init__(self, frames: Sequence[Frame], stdin: IO[str] | None = None, stdout: IO[str] | None = None) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self._frames = frames
        self._at = 0

    def run(self) -> None:
        """Read commands until one continues the program."""
        while True:
            try:
                self.cmdloop()
                return
            except KeyboardInterrupt:
                self._tell("--KeyboardInterrupt--")

    def emptyline(self) -> bool:
        """Nothing: cmd would repeat the last command."""
        return False

    def default(self, line: str) -> None:
        """The value of an expression."""
        self._show(line, repr)

    def do_p(self, arg: str) -> None:
        """p expression: print its value."""
        self._show(arg, repr)

    def do_pp(self, arg: str) -> None:
        """pp expression: print its value over several lines."""
        self._show(arg, pprint.pformat)

    def do_up(self, arg: str) -> None:
        """u(p): go to the caller."""
        self._move(1, "At topmost frame.")

    def do_down(self, arg: str) -> None:
        """d(own): go to the called function."""
        self._move(-1, "At bottommost frame.")

    def do_list(self, arg: str) -> None:
        """l(ist): show the source around the line."""
        self._context(5)

    def do_where(self, arg: str) -> None:
        """w(here), bt: show all frames, the innermost last."""
        lines = ["Traceback:"]
        for frame in reversed(self._frames):
            lines.append(f'  File "{frame.filename}", line {frame.line}')
            place = frame.line - frame.first
            known = 0 <= place < len(frame.source)
            lines.append(f"    {frame.source[place].strip() if known else '<no source>'}")
        self._tell("\n".join(lines))

    def do_continue(self, arg: str) -> bool:
        """c(ont(inue)): let the program go on."""
        return True

    def do_quit(self, arg: str) -> None:
        """q(uit), exit: end the program."""
        sys.exit(0)

    do_u, do_d, do_l = do_up, do_down, do_list
    do_w = do_bt = do_where
    do_c = do_cont = do_continue
    do_q = do_exit = do_EOF = do_quit  # noqa: N815

    def _tell(self, text: str) -> None:
        print(text, file=self.stdout)

    def _show(self, expression: str, text: Any) -> None:
        frame = self._frames[self._at]
        try:
            self._tell(text(eval(expression, {**frame.globals, **frame.locals})))
        except BaseException as error:  # an expression of the user can raise anything
            self._tell(f"*** {traceback.format_exception_only(error)[-1].strip()}")

    def _move(self, by: int, end: str) -> None:
        if 0 <= self._at + by < len(self._frames):
            self._at += by
        else:
            self._tell(end)
        self._context(2)

    def _context(self, around: int) -> None:
        frame = self._frames[self._at]
        lines = [f"> {frame.filename}({frame.line})"]
        for number, line in enumerate(frame.source, frame.first):
            if frame.line - 1 - around <= number <= frame.line + around:
                lines.append(f"{'->' if number == frame.line else '  '}  {line}")
        self._tell("\n".join(lines))
