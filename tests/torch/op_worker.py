"""A process beside the tests, in which the samples of torch's operator database run: one that dies, or does not end, is
reported with its name, and the next gets a new process."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from op_outcomes import Outcome

__all__ = ["Work", "Worker"]

# Yields the number of each sample before it begins, and its outcome.
Work = Callable[..., Iterator[Any]]
# Samples take seconds at most.
SECONDS = 300


def _serve(work: Work, link: Any, trace: str) -> None:
    with open(trace, "w") as file:
        faulthandler.enable(file)
        # Of a call that does not end.
        faulthandler.register(signal.SIGTERM, file, chain=True)
        link.send(None)
        try:
            while (given := link.recv()) is not None:
                for made in work(*given):
                    link.send(made)
                link.send(None)
        except Exception:
            traceback.print_exc(file=file)
            raise


class Worker:
    """Runs `work` in a process of its own, which serves calls until it dies."""

    def __init__(self, work: Work, seconds: float = SECONDS) -> None:
        self.work, self.seconds = work, seconds
        self.process: Any = None

    def __call__(self, *given: Any) -> list[Outcome]:
        """The outcomes of one call; the last one is `crashed` if the process died."""
        outcomes: list[Outcome] = []
        number = -1
        try:
            if self.process is None:
                self._start()
            self.link.send(given)
            while True:
                if not self.link.poll(self.seconds):
                    return [*outcomes, Outcome(number, "crashed", f"more than {self.seconds} s: {self._end()}")]
                made = self.link.recv()
                if made is None:
                    return outcomes
                if isinstance(made, Outcome):
                    outcomes.append(made)
                else:
                    number = made
        except (EOFError, ConnectionError):
            return [*outcomes, Outcome(number, "crashed", self._end())]

    def _start(self) -> None:
        # Torch's threads do not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.link, other = context.Pipe()
        with tempfile.NamedTemporaryFile(suffix=".trace", delete=False) as file:
            self.trace = Path(file.name)
        self.process = context.Process(target=_serve, args=(self.work, other, str(self.trace)), daemon=True)
        self.process.start()
        other.close()
        # It has imported the work.
        self.link.recv()

    def _end(self) -> str:
        """Ends the process, and says how it ended, and where in Python it was."""
        self.link.close()
        for stop in (lambda: None, self.process.terminate, self.process.kill):
            stop()
            self.process.join(5)
            if self.process.exitcode is not None:
                break
        code = self.process.exitcode
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        lines = [line.strip() for line in self.trace.read_text().splitlines()]
        self.trace.unlink()
        self.process = None
        return " | ".join([how, *[line for line in lines if line.startswith("File ")][:6], *lines[-1:]])

    def close(self) -> None:
        if self.process is not None:
            with contextlib.suppress(OSError):
                self.link.send(None)
            self._end()
