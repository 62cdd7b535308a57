"""The disk cache: new processes load code of others, damage is reported and repaired, the folder is private."""

import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import cache
from pycompiler.cache import __main__ as command
from pycompiler.cache import entry, identity, store
from pycompiler.compile.plan import plan_outputs
from pycompiler.core.config.config import config

PROGRAM = """
import sys
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp

def layer(x, w):
    return pc.nn.softmax(pnp.tanh(x @ w) + 0.5)

step = pc.jit(pc.value_and_grad(lambda w, x: layer(layer(x, w), w)[0].sum()), donate_argnums=0)
sort = pc.jit(lambda x: (pnp.sort(x), pc.lax.fori_loop(0, 3, lambda i, c: c * 2, x)))
w, x = np.linspace(-1, 1, 1600, dtype=np.float32).reshape(40, 40), np.ones((7, 40), np.float32)
for array in (*step(pnp.asarray(w), x), *sort(x[0] - w[3]), pnp.cos(x)):
    print(np.asarray(array).tobytes().hex()[:400])
print("pycompiler._compiler" in sys.modules)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache for this test and the processes that it starts."""
    path = tmp_path / "cache"
    monkeypatch.setenv("PYCOMPILER_COMPILATION_CACHE_DIR", str(path))
    monkeypatch.setattr(cache, "_told", set())
    with config.override("compilation_cache_dir", str(path)):
        yield path


def python(*arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=check
    )


def files(folder):
    return sorted(folder.glob("*.entry"))


def compiled(fun, *args, **options):
    """The result of a function compiled for these arguments, and whether it was loaded."""
    made = pc.jit(fun, **options).lower(*args).compile()
    return made, made._compilation.from_disk


def key_of(fun, *args, aliases=()):
    traced = pc.jit(fun).trace(*args)
    return cache.key_of(plan_outputs(traced.jaxpr).graph, aliases)


def test_a_new_process_loads_what_another_compiled(folder):
    first = python("-c", PROGRAM, PYTHONHASHSEED="1").stdout.splitlines()
    kept = {file: file.read_bytes() for file in files(folder)}
    second = python("-c", PROGRAM, PYTHONHASHSEED="2").stdout.splitlines()
    assert (first.pop(), second.pop()) == ("True", "False")
    assert first == second
    assert len(first) == 5
    assert {file: file.read_bytes() for file in files(folder)} == kept


def test_what_is_loaded_is_as_it_was_compiled():
    def f(x, y):
        return pnp.sin(x) @ y, pnp.linalg.cholesky(y)

    x = pnp.ones((4, 4))
    first, was_loaded = compiled(f, x, x, donate_argnums=0)
    assert not was_loaded
    pc.clear_caches()
    second, was_loaded = compiled(f, x, x, donate_argnums=0)
    assert was_loaded
    assert first.cost_analysis() == second.cost_analysis()
    assert first.memory_analysis() == second.memory_analysis()
    assert first.as_text("array") == second.as_text("array")
    assert "asm" not in second.compile_times()
    assert {"key", "read", "load"} <= set(second.compile_times())
    assert x.sum() == 16
    second(x, pnp.eye(4))
    assert x.is_deleted()


def test_what_calls_python_calls_what_is_there(capsys):
    for factor in (2, 3):
        f = pc.jit(lambda x: pc.pure_callback(lambda x, factor=factor: factor * np.asarray(x), x, x) + 1)  # noqa: B023
        assert float(f(pnp.float32(5))) == 5 * factor + 1
    assert compiled(lambda x: pc.pure_callback(np.abs, x, x) + 1, pnp.float32(5))[1]


TWO_LINES = """def f(x):
    a = pc.lax.sort(x)
    return pc.pure_callback(fails, a, a)
"""


def test_an_error_names_the_line_of_this_program():
    def fails(x):
        raise ValueError("no")

    x, seen = pnp.ones(3), []
    for text in (TWO_LINES, "\n\n" + TWO_LINES, TWO_LINES.replace("\n    return", "; return")):
        scope = {"pc": pc, "fails": fails}
        exec(compile(text, "model.py", "exec"), scope)
        made, was_loaded = compiled(scope["f"], x)
        with pytest.raises(ValueError, match="no") as caught:
            made(x).block_until_ready()
        places = re.findall(r"model\.py:(\d+)", str(caught.value) + "".join(caught.value.__notes__))
        seen.append((was_loaded, set(places)))
    # In the last pair, one line stands for two: the code differs.
    assert seen == [(False, {"3"}), (True, {"5"}), (False, {"2"})]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:10],
        lambda data: b"",
        lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
        lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
        lambda data: data[:8] + b"\x63" + data[9:],
        lambda data: data + b"more",
    ],
    ids=["half", "head", "empty", "code", "known", "version", "longer"],
)
def test_a_damaged_entry_is_told_and_replaced(folder, change):
    def f(x):
        return pnp.sin(x) * 3

    x = pnp.ones(3)
    expected = np.asarray(compiled(f, x)[0](x))
    (file,) = files(folder)
    whole = file.read_bytes()
    file.write_bytes(change(whole))
    pc.clear_caches()
    with pytest.warns(UserWarning, match=rf"the entry of f is damaged.*{file.name}.*compiled again"):
        made, was_loaded = compiled(f, x)
    assert not was_loaded
    np.testing.assert_array_equal(made(x), expected)
    assert entry.unpack(key_of(f, x), file.read_bytes()) == entry.unpack(key_of(f, x), whole)


@pytest.mark.parametrize("size", [1 << 20, 1 << 40, 1 << 62])
@pytest.mark.parametrize("says_so", [False, True])
def test_an_entry_of_a_huge_size_is_replaced(folder, size, says_so):
    def f(x):
        return pnp.cos(x) * 3

    x = pnp.ones(3)
    expected = np.asarray(compiled(f, x)[0](x))
    (file,) = files(folder)
    whole = file.read_bytes()
    if says_so:  # its head, too
        magic, form, known, code = entry._HEAD.unpack_from(whole)
        code = size - len(whole) + code
        file.write_bytes(entry._HEAD.pack(magic, form, known, code) + whole[entry._HEAD.size :])
    try:
        os.truncate(file, size)  # the file is sparse and uses no space
    except OSError:
        pytest.skip("this file system has no files of this size")
    pc.clear_caches()
    with pytest.warns(UserWarning, match=rf"the entry of f is damaged.*{file.name}.*compiled again"):
        made, was_loaded = compiled(f, x)
    assert not was_loaded
    np.testing.assert_array_equal(made(x), expected)
    assert file.read_bytes()[:8] == whole[:8]
    assert file.stat().st_size < 1 << 20


@pytest.mark.parametrize("lost", ["entry", "sites", "image", "checksum"])
def test_an_entry_without_a_part_is_damaged(lost, monkeypatch):
    key = entry.Key("k", "ir", "options", "compiler", "target", ())
    artifact = entry.Artifact(b"code", "main", 64, 2.5, True, True, [("sort", "")], ())
    seal = entry.seal

    def without(magic, digest, known, following):
        return seal(magic, digest, {name: value for name, value in known.items() if name != lost}, following)

    monkeypatch.setattr(entry, "seal", without)
    with pytest.raises(entry.DamagedError):
        entry.unpack(key, entry.pack(key, artifact, {}))


def test_every_byte_is_watched():
    key = entry.Key("k", "ir", "options", "compiler", "target", ("model.py:1",))
    artifact = entry.Artifact(
        b"code" * 20,
        "main",
        64,
        2.5,
        True,
        True,
        # The places in a called module are those of its export.
        [("sort", "model.py:1"), ("fft", ""), ("qr", "elsewhere.py:2")],
        ((0, 1),),
    )
    whole = entry.pack(key, artifact, {"name": "f"})
    assert entry.unpack(key, whole) == artifact
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :]):
            with pytest.raises(entry.DamagedError):
                entry.unpack(key, damaged)
    with pytest.raises(entry.DamagedError):
        entry.unpack(entry.Key("other", "ir", "options", "compiler", "target"), whole)


def test_code_that_does_not_load_is_replaced(folder):
    def f(x):
        return pnp.sin(x) * 4

    x = pnp.ones(3)
    compiled(f, x)
    (file,) = files(folder)
    key = key_of(f, x)
    bad = entry.Artifact(b"no code", "main", 0, 1.0, False, False, [], ())
    file.write_bytes(entry.pack(key, bad, {}))
    pc.clear_caches()
    with pytest.warns(UserWarning, match="damaged, cannot load 'f'"):
        assert not compiled(f, x)[1]
    assert entry.unpack(key, file.read_bytes()).object[:4] == b"\x7fELF"


def test_the_folder_and_its_files_are_the_users_alone(folder):
    compiled(lambda x: pnp.sin(x), pnp.ones(3))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())


@pytest.mark.parametrize("kind", ["open", "foreign", "sudo", "file", "relative", "readonly"])
def test_a_folder_that_is_no_good_is_told_once_and_not_used(folder, kind, monkeypatch):
    match kind:
        case "open":
            folder.mkdir(mode=0o700)
            folder.chmod(0o750)
            message = f"is open to other users (mode 0750), who could put code into it.*chmod 700 {folder}"
        case "foreign":
            folder.mkdir(mode=0o700)
            monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
            message = "belongs to user .*, and you are .*; name one of yours"
        case "sudo":
            if os.geteuid() == 0:
                os.chown(folder.parent, 1000, -1)
            monkeypatch.setattr(os, "geteuid", lambda: 0)
            message = "is not there, and .* belongs to user .*, not to root; make it with mkdir -m 700"
        case "file":
            folder.write_text("")
            message = "is no folder; remove it, or name another one"
        case "relative":
            folder = "here"
            message = "the folder 'here' is no absolute path"
        case "readonly":
            folder = "/proc/pycompiler"
            message = "the folder /proc/pycompiler can't be made"
    with config.override("compilation_cache_dir", str(folder)):
        with pytest.warns(UserWarning, match=message.replace("(", r"\(").replace(")", r"\)")) as told:
            loaded = [compiled(lambda x: pnp.sin(x), pnp.ones(size))[1] for size in (3, 4)]
        assert loaded == [False, False]
        assert len(told) == 1
        assert not compiled(lambda x: pnp.sin(x), pnp.ones(3))[1]


def test_a_full_disk_is_told_once_and_what_is_there_is_used(monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    x = pnp.ones(3)
    compiled(pnp.sin, x)
    monkeypatch.setattr(os, "rename", full)
    with pytest.warns(UserWarning, match="can't be written: No space left on device.*Make room") as told:
        loaded = [compiled(lambda x: pnp.sin(x), pnp.ones(size))[1] for size in (4, 5)]
    assert loaded == [False, False]
    assert len(told) == 1
    assert compiled(pnp.sin, x)[1]


def test_a_folder_that_goes_away_is_made_again(folder):
    compiled(lambda x: pnp.sin(x), pnp.ones(3))
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    compiled(lambda x: pnp.sin(x), pnp.ones(4))
    assert len(files(folder)) == 1
    assert folder.stat().st_mode & 0o777 == 0o700


def test_it_can_be_turned_off(folder):
    for name, value in (("enable_compilation_cache", False), ("compilation_cache_max_size", 0)):
        with config.override(name, value):
            compiled(lambda x: pnp.sin(x), pnp.ones(3))
            assert not folder.exists()


def test_where_it_is_by_default(monkeypatch):
    with config.override("compilation_cache_dir", None):
        monkeypatch.setenv("HOME", "/home/me")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        assert cache.folder() == "/home/me/.cache/pycompiler"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        assert cache.folder() == "/home/me/.cache/pycompiler"
        monkeypatch.setenv("XDG_CACHE_HOME", "/scratch/me")
        assert cache.folder() == "/scratch/me/pycompiler"
    with config.override("compilation_cache_dir", "~/code"):
        assert cache.folder() == "/home/me/code"


# The folder.


@pytest.fixture
def kept(folder):
    return store.Store(str(folder))


def names(kept):
    return sorted(stored.digest for stored in kept.entries())


def test_the_least_recently_used_go_first(kept):
    limit, size = 64 * 1024, 10 * 1024
    now = time.time()
    for number in range(5):
        kept.write(str(number), bytes(size), limit)
        os.utime(kept.path(str(number)), (now, now - 7200 * (10 - number)))
    assert kept.read("0") == bytes(size)  # used now
    for number in range(5, 8):
        kept.write(str(number), bytes(size), limit)
        assert sum(stored.size for stored in kept.entries()) <= limit
    assert names(kept) == ["0", "3", "4", "5", "6", "7"]


def test_what_is_larger_than_the_limit_is_not_kept_and_without_limit_all_is(kept):
    kept.write("a", bytes(2000), 1000)
    assert names(kept) == []
    for name in "abc":
        kept.write(name, bytes(100_000), -1)
    assert names(kept) == ["a", "b", "c"]


def test_what_many_small_processes_write_is_counted(kept):
    for number in range(200):
        # Each entry is read as in another process, which knows of no other entry.
        store.Store(kept.folder).write(str(number), bytes(5000), 500_000)
    assert 400_000 < sum(stored.size for stored in kept.entries()) <= 500_000


def test_eviction_waits_for_nobody(kept):
    code = (
        "import fcntl, os, sys\n"
        f"file = os.open({kept.folder + '/lock'!r}, os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    kept.write("a", bytes(9000), 10_000)
    kept.write("b", bytes(9000), 10_000)
    assert names(kept) == ["a", "b"]
    holder.communicate("")
    kept.write("c", bytes(9000), 10_000)
    assert len(names(kept)) == 1


def test_what_a_dead_writer_left_is_swept(kept, folder):
    old, new = folder / ".a.1.1.tmp", folder / ".b.1.1.tmp"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    kept.evict(1000)
    assert (old.exists(), new.exists()) == (False, True)


def test_links_and_files_of_others_are_not_read(kept, folder, monkeypatch):
    kept.write("a", b"whole", 1000)
    (folder / "b.entry").symlink_to(kept.path("a"))
    os.mkfifo(folder / "c.entry")
    assert [kept.read(name) for name in "abc"] == [b"whole", None, None]
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert kept.read("a") is None


def test_threads_write_read_evict_and_clear_at_once(kept):
    errors, stop = [], time.monotonic() + 1

    def work(number):
        try:
            while time.monotonic() < stop:
                for name in "abcdefgh":
                    data = kept.read(name)
                    assert data is None or data == name.encode() * 3000
                    kept.write(name, name.encode() * 3000, 20_000)
                if number == 0:
                    kept.clear()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not list(os.scandir(kept.folder)) or not [f for f in os.scandir(kept.folder) if f.name.endswith(".tmp")]


def test_processes_at_once(folder):
    code = (
        "import sys, numpy as np, pycompiler as pc, pycompiler.numpy as pnp\n"
        "for n in range(3, 9): print(np.asarray(pc.jit(lambda x: pnp.sin(x) * n)(np.ones(n, np.float32))).tobytes())"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(said) == 1
    assert len(files(folder)) == 6


def test_a_child_goes_on_with_it(folder):
    f = pc.jit(lambda x: pnp.sin(x) * 7)
    f(pnp.ones(3)).block_until_ready()
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled(lambda x: pnp.sin(x) * 7, pnp.ones(3))[1] else 1)
    assert os.waitpid(child, 0)[1] == 0


# The command.


def test_the_command(folder, capsys):
    def said(*arguments, status=0):
        assert command.main(arguments) == status
        return "".join(capsys.readouterr())

    assert said("list") == f"no entries in {folder}\n"

    def layer(x):
        return pnp.tanh(x) * 2

    compiled(layer, pnp.ones((3, 4)))
    (first,) = files(folder)
    key, about = entry.describe(first.stem, first.read_bytes())
    # The same function, from another compiler for another machine.
    other = entry.Key("ab" * 20, key.ir, key.options, "0.0.1 old", "x86_64 Other 12")
    other_file = folder / f"{other.digest}.entry"
    other_file.write_bytes(entry.pack(other, entry.Artifact(b"", "main", 0, 0, False, False, [], ()), about))
    (folder / f"{'cd' * 20}.entry").write_bytes(b"nonsense")

    listed = said("list")
    assert re.search(rf"{first.stem[:12]} +\d\.\d KiB +\d+ s +\d+ ms +this machine +layer\(f32\[3,4\]\)", listed)
    assert re.search(r"abababababab .* another machine: x86_64 Other +layer\(f32\[3,4\]\)", listed)
    assert re.search(r"cdcdcdcdcdcd .* damaged", listed)
    assert re.search(rf"3 entries, \d\.\d KiB of 1.0 GiB in {folder}", listed)

    explained = said("explain", "abab")
    assert "layer(f32[3,4])" in explained
    assert f"nearest: {first.stem[:12]}" in explained
    assert "compiler  0.0.1 old" in explained
    assert "target    x86_64 Other 12" in explained
    assert "IR        the same" in explained
    assert "no entry begins with ef" in said("explain", "ef", status=1)
    assert "damaged" in said("explain", "cdcd")
    assert first.stem[:12] in said("explain")
    assert python("-m", "pycompiler.cache", "clear").stdout == f"3 entries removed from {folder}\n"
    assert files(folder) == []


# Keys: see test_fingerprints.py for the part of the graph.


def test_a_key_holds_the_compiler_the_target_and_what_is_in_place(monkeypatch):
    def key(aliases=()):
        return key_of(lambda x: pnp.sin(x), pnp.ones(3), aliases=aliases).digest

    keys = {key(), key(((0, 0),)), key(((1, 0),))}
    monkeypatch.setattr(identity, "compiler", lambda: "another")
    keys.add(key())
    monkeypatch.setattr(identity, "target", lambda: "another")
    keys.add(key())
    assert len(keys) == 5
    assert key() == key()


def test_the_compiler_is_known_by_its_build():
    version, build, _ = identity.compiler().split()
    assert version == pc.__version__
    binary = os.path.join(os.path.dirname(pc._runtime.__file__), pc._runtime.__file__.replace("_runtime", "_compiler"))
    shown = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True).stdout
    assert f"Build ID: {build}" in shown
    assert identity._build_id(b"\x7fELF\x02" + bytes(4000)) == ""
    assert identity._build("/nothing") == "-"


def test_the_target_is_the_processor_and_its_features():
    with open("/proc/cpuinfo") as file:
        found = dict(re.findall(r"^(.*?)\s*: (.*)$", file.read(), re.M))
    machine, *name, digest = identity.target().split()
    assert machine == os.uname().machine
    if "model name" in found:
        assert " ".join(name) == found["model name"].strip()
    assert len(digest) == 16
