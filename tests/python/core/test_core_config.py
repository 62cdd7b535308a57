"""Settings: by environment, by call, by context. Settings that affect code are part of the cache key."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pycompiler as pc
from pycompiler._runtime import context_key
from pycompiler.core.config import variables
from pycompiler.core.config.config import config, enable_x64

ROOT = Path(__file__).resolve().parents[3]


def test_a_context_holds_in_its_thread_only_and_changes_the_key():
    before = context_key()
    seen = []
    with enable_x64():
        assert config.enable_x64
        assert context_key() != before
        with enable_x64(False):
            assert not config.enable_x64
        thread = threading.Thread(target=lambda: seen.append((config.enable_x64, context_key())))
        thread.start()
        thread.join()
    assert seen == [(False, before)]
    assert not config.enable_x64
    assert context_key() == before


def test_update_holds_in_all_threads():
    seen = []
    config.update("debug", 2)
    try:
        thread = threading.Thread(target=lambda: seen.append(config.debug))
        thread.start()
        thread.join()
    finally:
        config.update("debug", 0)
    assert seen == [2]


def test_bad_names_and_values_say_what_there_is():
    with pytest.raises(ValueError, match="no setting 'x64'; there are enable_x64"):
        config.update("x64", True)
    with pytest.raises(ValueError, match="platform_name: there is no platform 'gpu' here; there is cpu"):
        config.update("platform_name", "gpu")
    with pytest.raises(ValueError, match="enable_x64 must be a value of type bool, got 'perhaps'"):
        config.update("enable_x64", "perhaps")


def test_the_environment_sets_the_defaults():
    code = "from pycompiler.core.config.config import config; print(config.enable_x64, config.debug)"
    environment = {**os.environ, "PYCOMPILER_ENABLE_X64": "1", "PYCOMPILER_DEBUG": "3"}
    assert subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) == "True 3\n"


def test_every_setting_is_an_attribute_with_a_line_of_explanation():
    for setting in config.settings():
        assert getattr(config, setting.name) == config.read(setting.name)
        assert setting.summary
        assert setting.environment.startswith("PYCOMPILER_")


def test_every_variable_that_is_read_is_in_the_table():
    read = set()
    for folder in (
        "pycompiler",
        "pycompiler_commands",
        "dialect",
        "runtime",
        "tools",
        "benchmarks",
        "tests",
        "examples",
    ):
        for ending in ("*.py", "*.cpp", "*.h", "*.def"):
            for path in (ROOT / folder).rglob(ending):
                if path != Path(__file__):
                    read |= set(re.findall(r'"(PYCOMPILER_[A-Z0-9_]+)"', path.read_text()))
    guards = {f"PYCOMPILER_TRANSFER_GUARD_{way}" for way in ("HOST_TO_DEVICE", "DEVICE_TO_DEVICE", "DEVICE_TO_HOST")}
    assert read | guards == set(variables.known())


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("PYCOMPILER_DEBUGG", "PYCOMPILER_DEBUG"), ("PYCOMPILER_NUM_THREAD", "PYCOMPILER_NUM_THREADS")],
)
def test_an_unknown_variable_is_a_warning_at_import(given, nearest):
    environment = {**os.environ, given: "1", "PYCOMPILER_SYNC": "1", "OTHER": "1"}
    command = [sys.executable, "-c", "import pycompiler"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    assert f"UserWarning: the environment variable {given} is not known and changes nothing; the nearest one is" in told
    assert f" {nearest}. What to do: unset it" in told
    assert told.count("UserWarning") == 1


def test_what_is_like_none_is_named_alone():
    assert variables.unknown(["PYCOMPILER_QQQ", "PATH", "PYCOMPILER_DEBUG"]) == {"PYCOMPILER_QQQ": None}


def test_absl_knows_the_settings():
    """absl.app.run refuses flags that nobody defined."""
    pytest.importorskip("absl")
    for call in ("config_with_absl", "parse_flags_with_absl"):
        program = (
            "import pycompiler as pc\nfrom absl import app\n"
            f"pc.config.{call}()\npc.config.{call}()\npc.config.update('jax_enable_x64', False)\n"
            "app.run(lambda rest: print(rest[1:], pc.config.enable_x64, pc.config.default_matmul_precision))"
        )
        flags = ["--jax_enable_x64", "--nojax_debug_nans", "--jax_default_matmul_precision=highest", "file"]
        ran = subprocess.run([sys.executable, "-c", program, *flags], capture_output=True, text=True)
        assert ran.stdout == "['file'] True highest\n", ran.stderr


def test_flags_of_the_command_line(monkeypatch):
    given = [
        "script",
        "--epochs=3",
        "--jax_enable_x64=true",
        "--nojax_log_compiles",
        "--jax_no_setting=1",
        "--",
        "--jax_debug_nans",
    ]
    monkeypatch.setattr(sys, "argv", given)
    before = {name: config.read(name) for name in ("enable_x64", "log_compiles", "debug_nans")}
    try:
        config.update("log_compiles", True)
        config.parse_flags_with_absl()
        assert (config.enable_x64, config.log_compiles, config.debug_nans) == (True, False, before["debug_nans"])
        monkeypatch.setattr(sys, "argv", ["script", "--jax_enable_x64=perhaps"])
        with pytest.raises(ValueError, match="perhaps"):
            config.parse_flags_with_absl()
    finally:
        for name, value in before.items():
            config.update(name, value)


def test_reading_under_jaxs_name():
    with enable_x64(True):
        assert config._read("jax_enable_x64") is config._read("enable_x64") is True
    assert config._read("jax_enable_x64") == config.enable_x64
    with pytest.raises(ValueError, match="there is no setting 'jax_nothing'"):
        config._read("jax_nothing")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("collective_timeout", "soon", "must be a number of seconds, 0 for no limit, got 'soon'"),
        ("collective_timeout", 1 << 70, r"must be below 2\*\*63, got 1180591620717411303424"),
        ("memory_limit", -1, "must be a number of bytes, 0 for no limit, got -1"),
        ("memory_limit", 1 << 64, r"must be below 2\*\*63, got 18446744073709551616"),
        ("cache_size", 1 << 70, r"must be below 2\*\*63, got 1180591620717411303424"),
        ("gpu_libraries", "wrong", "must be 'auto', 'none', or some of cublaslt, .* got 'wrong'"),
    ],
)
def test_a_setting_says_which_values_it_takes(name, value, message):
    before = getattr(config, name)
    with pytest.raises(ValueError, match=f"config: {name} {message}"):
        config.update(name, value)
    assert getattr(config, name) == before


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("collective_timeout", 3, "call config.update"),
        ("memory_limit", 3, "call config.update"),
        ("wait_for_callbacks", True, "call config.update"),
        ("platform_name", "cpu", "use default_device"),
    ],
)
def test_settings_of_the_process_are_no_threads_own(name, value, advice):
    before = getattr(config, name)
    refused = pytest.raises(ValueError, match=f"{name} is a setting of the whole process, not of a thread; {advice}")
    with refused, config.override(name, value):
        pass
    assert getattr(config, name) == before


def test_transfers_of_all_directions_have_one_setting():
    directions = [f"transfer_guard_{way}" for way in ("host_to_device", "device_to_device", "device_to_host")]
    before = [getattr(config, name) for name in directions]
    with pc.transfer_guard("log"):
        assert [getattr(config, name) for name in directions] == ["log"] * 3
        with pc.transfer_guard_device_to_host("disallow"), pc.transfer_guard_host_to_device("allow"):
            assert [getattr(config, name) for name in directions] == ["allow", "log", "disallow"]
    assert [getattr(config, name) for name in directions] == before


def test_a_value_that_the_runtime_refuses_changes_nothing(monkeypatch):
    def refuse(size):
        raise RuntimeError("refused")

    before = config.cache_size
    monkeypatch.setattr("pycompiler.core.config.config.set_call_limit", refuse)
    with pytest.raises(RuntimeError, match="refused"):
        config.update("cache_size", before + 1)
    assert config.cache_size == before
