"""The folder of the cache: several processes read, write and evict files at the same time.

- The folder belongs to the user, and no one else can read or write it, because the code in it is run.
- A file is written under another name and then renamed. Readers see complete files, without locks.
- The time of a file is its last use, to an hour. The least recently used files are evicted first. The length of the
  file "written" counts written bytes. A process that finds it long measures the folder, under a lock without waiting.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from pycompiler.cache.entry import length

# The kinds of files: code, measured plans, traces of other frameworks.
CODE, PLAN, TRACE = KINDS = ".entry", ".plan", ".trace"
_TEMPORARY = ".tmp"
_HOUR = 3600.0

# The folder is measured after writes of this fraction of its limit, and reduced by the same fraction below the limit.
_SHARE = 16
# The bytes of a file that are read before its stated size is trusted.
_FIRST = 1 << 16
# The bytes of entries for each byte of the file "written".
_BLOCK = 4096


class RefusedError(Exception):
    """The folder can't be used. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Stored:
    """A file of the folder: the digest in its name, its bytes, the time of its last use."""

    digest: str
    size: int
    used: float
    kind: str


class Store:
    """One folder. Raises RefusedError unless it belongs, or can be made to belong, to the user alone."""

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
                f"code into it; remove it, or run chmod 700 {folder} if you trust its contents"
            )

    def _make(self) -> None:
        folder = parent = os.path.dirname(self.folder)
        while not os.path.exists(parent):
            parent = os.path.dirname(parent)
        owner = os.stat(parent).st_uid
        if os.geteuid() == 0 and owner != 0:
            # This happens with sudo, which does not change HOME. The folder would lock out the owner of the parent.
            raise RefusedError(
                f"the folder {self.folder} is not there, and {parent} belongs to user {owner}, not to root; make it "
                "with mkdir -m 700, or name a folder of root"
            )
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.folder, 0o700)

    def path(self, digest: str, kind: str = CODE) -> str:
        """The path of an entry."""
        return f"{self.folder}/{digest}{kind}"

    def read(self, digest: str, touch: bool = True, kind: str = CODE) -> bytes | None:
        """The bytes of an entry, or None if no file of the user has it. `touch` counts as a use."""
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
                # Its head states the same size, so the reader of this empty beginning finds it damaged.
                data = b""
        except OSError:
            return None
        finally:
            os.close(file)
        if touch and time.time() - found.st_mtime > _HOUR:
            # It may be evicted, or the file system may be read-only.
            with contextlib.suppress(OSError):
                os.utime(path)
        return data

    def write(self, digest: str, data: bytes, limit: int, kind: str = CODE) -> None:
        """Write an entry, and keep the folder below `limit` bytes (negative: no limit). Code replaces an older entry; a
        file of another kind does not, so the first one stays. Raises OSError."""
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
        """`rename` that does not replace an existing file."""
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:
            # This file system has no links: of two simultaneous writes, the last one stays.
            return os.rename(temporary, path)
        os.unlink(temporary)

    def _create(self, path: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            # The folder was removed.
            with contextlib.suppress(RefusedError):
                self._check()
            return os.open(path, flags, 0o600)

    def _count(self, size: int) -> int:
        """Add to the count of written bytes. Returns the count since the folder was last measured."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(f"{self.folder}/written", flags, 0o600)
        try:
            os.write(file, b"." * (size // _BLOCK + 1))
            return os.fstat(file).st_size * _BLOCK
        finally:
            os.close(file)

    def drop(self, digest: str, kind: str = CODE) -> None:
        """Remove an entry, if possible."""
        with contextlib.suppress(OSError):
            os.unlink(self.path(digest, kind))

    def entries(self) -> Iterator[Stored]:
        """All entries, in no order."""
        with os.scandir(self.folder) as files:
            for file in files:
                digest, kind = os.path.splitext(file.name)
                if kind in KINDS:
                    # Another process may have evicted it.
                    with contextlib.suppress(OSError):
                        found = file.stat(follow_symlinks=False)
                        yield Stored(digest, found.st_size, found.st_mtime, kind)

    def evict(self, limit: int) -> None:
        """Remove the least recently used entries until there is room, and files of writers that died. If another
        process is evicting, this one does nothing."""
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
        """Remove every entry. Returns their number."""
        found = list(self.entries())
        for entry in found:
            self.drop(entry.digest, entry.kind)
        self._sweep(time.time() - _HOUR)
        with contextlib.suppress(OSError):
            os.truncate(f"{self.folder}/written", 0)
        return len(found)

    def _sweep(self, before: float) -> None:
        with os.scandir(self.folder) as files:
            for file in files:
                if file.name.startswith(".") and file.name.endswith(_TEMPORARY):
                    with contextlib.suppress(OSError):
                        if file.stat(follow_symlinks=False).st_mtime < before:
                            os.unlink(file.path)

    @contextlib.contextmanager
    def _locked(self) -> Generator[bool]:
        """A context with the lock of this folder, and whether it was free. The lock belongs to the process: a forked
        child does not hold it, and it ends with the process. Two threads of the process may both get the lock. In the
        worst case, both measure the folder."""
        file = os.open(f"{self.folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            is_locked = True
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                is_locked = False
            except OSError:
                # This file system has no locks: two processes may measure the folder, and remove the same files.
                pass
            yield is_locked
        finally:
            os.close(file)


def _read(file: int, size: int) -> bytes:
    """The bytes of a file. If the file has fewer bytes than its stated size, only these: a wrong size must not allocate
    that much memory."""
    data = os.read(file, min(size, _FIRST))
    if size > _FIRST and length(data) != size:
        return data
    while len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            break
        data += more
    return data
