"""The folder of the cache: files that several processes read, write and evict at once.

- It belongs to the user, and nobody else can look into it or write to it: what is loaded from it is run.
- A file is written under another name and then renamed: who reads sees all of it, and takes no lock.
- The time of a file is when it was last used, to an hour; the least recently used go first. What is written is counted
  by the length of the file "written": who finds it long measures the folder, under a lock that nobody waits for.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from pycompiler.cache.entry import length

# The kinds of files: code, and plans that were measured.
CODE, PLAN = ".entry", ".plan"
_TEMPORARY = ".tmp"
_HOUR = 3600.0

# The folder is measured when a sixteenth of its limit was written, and brought below the limit by as much.
_SHARE = 16
# So much of a file is read before its size is believed.
_FIRST = 1 << 16
# A byte of the file "written" stands for so many bytes of entries.
_BLOCK = 4096


class RefusedError(Exception):
    """The folder can't be used; says why and what to do."""


@dataclass(frozen=True)
class Stored:
    """A file of the folder: the digest that it is found by, its bytes, when it was last used."""

    digest: str
    size: int
    used: float
    kind: str


class Store:
    """One folder. Raises RefusedError unless it is, or can be made, the user's alone."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._check()

    def _check(self) -> None:
        folder, user = self.folder, os.geteuid()
        if not os.path.isabs(folder):
            raise RefusedError(f"the folder {folder!r} is no absolute path; give one")
        try:
            if not os.path.isdir(folder):
                self._make()
            found = os.stat(folder)
        except OSError as error:
            raise RefusedError(f"the folder {folder} can't be made: {error.strerror}; name another one") from None
        if not stat.S_ISDIR(found.st_mode):
            raise RefusedError(f"{folder} is no folder; remove it, or name another one")
        if found.st_uid != user:
            raise RefusedError(
                f"the folder {folder} belongs to user {found.st_uid}, and you are {user}; name one of yours"
            )
        if found.st_mode & 0o077:
            raise RefusedError(
                f"the folder {folder} is open to other users (mode {stat.S_IMODE(found.st_mode):04o}), who could put "
                f"code into it; remove it, or run chmod 700 {folder} if you trust what is in it"
            )

    def _make(self) -> None:
        folder = parent = os.path.dirname(self.folder)
        while not os.path.exists(parent):
            parent = os.path.dirname(parent)
        owner = os.stat(parent).st_uid
        if os.geteuid() == 0 and owner != 0:
            # As with sudo, which leaves HOME as it is: its owner would be locked out.
            raise RefusedError(
                f"the folder {self.folder} is not there, and {parent} belongs to user {owner}, not to root; make it "
                "with mkdir -m 700 if it is meant to be there, name one of root's"
            )
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.folder, 0o700)

    def path(self, digest: str, kind: str = CODE) -> str:
        """Of an entry."""
        return f"{self.folder}/{digest}{kind}"

    def read(self, digest: str, touch: bool = True, kind: str = CODE) -> bytes | None:
        """The bytes of an entry; None when there is none that is the user's. To `touch` it is to use it."""
        path = self.path(digest, kind)
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                return None
            try:
                data = _read(file, found.st_size)
            except MemoryError:
                # Its head says as much, too: who opens the beginning alone finds it damaged.
                data = b""
        except OSError:
            return None
        finally:
            os.close(file)
        if touch and time.time() - found.st_mtime > _HOUR:
            # It may have been evicted, or the file system takes no writes.
            with contextlib.suppress(OSError):
                os.utime(path)
        return data

    def write(self, digest: str, data: bytes, limit: int, kind: str = CODE) -> None:
        """Put an entry into its place, and keep the folder below `limit` bytes (a negative one is none). Code is
        replaced, a plan is not: the first one stays. Raises OSError."""
        if 0 <= limit < len(data):
            return
        temporary = f"{self.folder}/.{digest}.{os.getpid()}.{time.monotonic_ns()}{_TEMPORARY}"
        try:
            file = self._create(temporary)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(file, rest) :]
            finally:
                os.close(file)
            if kind == CODE:
                os.rename(temporary, self.path(digest))
            else:
                self._link(temporary, self.path(digest, kind))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        if limit >= 0 and self._count(len(data)) > limit // _SHARE:
            self.evict(limit)

    @staticmethod
    def _link(temporary: str, path: str) -> None:
        """`rename` that leaves what is there."""
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:
            # This file system has no links: of two that write at once, the last one stays.
            return os.rename(temporary, path)
        os.unlink(temporary)

    def _create(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            # Somebody removed the folder.
            with contextlib.suppress(RefusedError):
                self._check()
            return os.open(path, flags, 0o600)

    def _count(self, size: int) -> int:
        """Note that so many bytes were written; how many were since the folder was measured."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(f"{self.folder}/written", flags, 0o600)
        try:
            os.write(file, b"." * (size // _BLOCK + 1))
            return os.fstat(file).st_size * _BLOCK
        finally:
            os.close(file)

    def drop(self, digest: str, kind: str = CODE) -> None:
        """Remove an entry, if it is there and can be."""
        with contextlib.suppress(OSError):
            os.unlink(self.path(digest, kind))

    def entries(self) -> Iterator[Stored]:
        """In no order."""
        with os.scandir(self.folder) as files:
            for file in files:
                digest, kind = os.path.splitext(file.name)
                if kind in (CODE, PLAN):
                    # Another process may have evicted it.
                    with contextlib.suppress(OSError):
                        found = file.stat(follow_symlinks=False)
                        yield Stored(digest, found.st_size, found.st_mtime, kind)

    def evict(self, limit: int) -> None:
        """Remove the least recently used entries until the others leave room, and what writers that died left. If
        another thread or process is at it, it is left to that."""
        with self._locked() as is_locked:
            if not is_locked:
                return
            with contextlib.suppress(OSError):
                os.truncate(f"{self.folder}/written", 0)
            found = sorted(self.entries(), key=lambda entry: entry.used)
            total = sum(entry.size for entry in found)
            wanted = limit - limit // _SHARE
            for entry in found:
                if total <= wanted:
                    break
                self.drop(entry.digest, entry.kind)
                total -= entry.size
            self._sweep(time.time() - _HOUR)

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        found = list(self.entries())
        for entry in found:
            self.drop(entry.digest, entry.kind)
        self._sweep(time.time() - _HOUR)
        with contextlib.suppress(OSError):
            os.truncate(f"{self.folder}/written", 0)
        return len(found)

    def _sweep(self, before: float) -> None:
        for path in Path(self.folder).glob(f".*{_TEMPORARY}"):
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < before:
                    path.unlink()

    @contextlib.contextmanager
    def _locked(self) -> Generator[bool]:
        """Whether this is the only process at it meanwhile. The lock is the process's own: a child that it makes does
        not hold it, and it ends with the process. Of its threads, the second finds it taken by itself, which at worst
        measures twice."""
        file = os.open(f"{self.folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            is_locked = True
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                is_locked = False
            except OSError:
                # This file system has no locks: two may measure it at once, and remove the same.
                pass
            yield is_locked
        finally:
            os.close(file)


def _read(file: int, size: int) -> bytes:
    """The bytes of a file; only the first ones where it has not as many as they say: its size is no reason to take that
    much memory."""
    data = os.read(file, min(size, _FIRST))
    if size > _FIRST and length(data) != size:
        return data
    while len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            break
        data += more
    return data
