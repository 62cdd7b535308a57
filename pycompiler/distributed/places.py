"""The line that runs in this process, for messages of processes that wait long for it. `start` starts the thread that
answers."""

from __future__ import annotations

import os
import sys
import threading
import types

from pycompiler import _runtime
from pycompiler.core.source import is_users


def start_answering() -> None:
    """Answer in a thread, until this process leaves."""
    threading.Thread(target=_answer, name="pycompiler places", daemon=True).start()


def _answer() -> None:
    while (question := _runtime.next_question()) is not None:
        number, is_in_launch = question
        _runtime.tell_place(number, current_place(is_in_launch))


def current_place(is_in_launch: bool) -> str:
    """`train.py:31 (load)`: the line of the main thread. In a launch, the line of the callback that the runtime
    calls."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
    main = frames.pop(threading.main_thread().ident or 0, None)
    callbacks = [frame for frame in frames.values() if _is_called_by_runtime(frame)] if is_in_launch else []
    places = [_user_place(frame) for frame in (*callbacks, *([main] if main is not None else []))]
    return next((place for place in places if place), "")


def _is_called_by_runtime(frame: types.FrameType) -> bool:
    """Whether a thread of the runtime runs it: Python's threads begin in `threading`."""
    first: types.FrameType | None = frame
    while first is not None and first.f_back is not None:
        first = first.f_back
    return first is not None and first.f_code.co_filename != threading.__file__


def _user_place(frame: types.FrameType | None) -> str:
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} ({frame.f_code.co_name})"
