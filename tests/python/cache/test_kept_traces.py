"""Traces of other frameworks in the disk cache: kept bytes come back under their key, and the command shows them."""

import re

import pytest

from pycompiler import cache
from pycompiler.cache import __main__ as command
from pycompiler.core.config.config import config

KEY = ("4 nodes, ab", "2 inputs, cd", "gradients True", "1.0")
ABOUT = {"name": "torch.compile", "for": "(2 inputs)", "operations": 4, "milliseconds": 31.0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setattr(cache, "_told", set())
    with config.override("compilation_cache_dir", str(path)):
        yield path


def test_a_kept_trace_is_found_under_its_key_alone():
    key = cache.trace_key(*KEY)
    assert cache.find_trace(key) is None
    cache.keep_trace(key, b"\0bytes", ABOUT)
    assert cache.find_trace(key) == b"\0bytes"
    for place in range(len(KEY)):
        other = cache.trace_key(*KEY[:place], "another", *KEY[place + 1 :])
        assert other.digest != key.digest
        assert cache.find_trace(other) is None


@pytest.mark.parametrize("place", [0, 9, 20, 40, -1])
def test_a_damaged_trace_is_told_and_dropped(folder, place):
    key = cache.trace_key(*KEY)
    cache.keep_trace(key, b"bytes" * 100, ABOUT)
    (file,) = folder.glob("*.trace")
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    with pytest.warns(UserWarning, match="a trace is damaged"):
        assert cache.find_trace(key) is None
    assert not file.exists()


def test_without_a_cache_there_is_no_key():
    with config.override("enable_compilation_cache", False):
        assert cache.trace_key(*KEY) is None


def test_the_command_shows_traces_and_their_differences(folder, capsys):
    def said(*arguments):
        assert command.main(arguments) == 0
        return "".join(capsys.readouterr())

    keys = [cache.trace_key(*KEY), cache.trace_key(*KEY[:2], "gradients False", KEY[3])]
    for key in keys:
        cache.keep_trace(key, b"bytes", ABOUT)
    assert re.search(rf"{keys[0].digest[:12]} .* 31 ms +any machine +torch.compile\(2 inputs\)", said("list"))
    explained = said("explain", keys[0].digest[:12])
    assert "made 0 s ago in 31 ms from 4 operations" in explained
    assert "graph     the same: 4 nodes, ab" in explained
    assert "settings  gradients True" in explained
    assert "there gradients False: other settings of the framework" in explained
    assert said("clear") == f"2 entries removed from {folder}\n"
