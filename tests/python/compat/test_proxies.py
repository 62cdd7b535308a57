"""`import jax` gives pycompiler under JAX's names, in processes of their own."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

import pycompiler.compat
from pycompiler.compat import modules, proxies


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    dropped = ("PYCOMPILER_NUM_CPU_DEVICES", "JAX_", "XLA_FLAGS", "PYCOMPILER_THREEFRY_PARTITIONABLE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return subprocess.run(
        [sys.executable, *arguments], env={**kept, **environment}, capture_output=True, text=True, timeout=300
    )


def in_jaxs_place(code: str, **environment: str) -> str:
    """What a program prints under `python -m pycompiler.jax -c`."""
    ran = run("-m", "pycompiler.jax", "-c", textwrap.dedent(code), **environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_modules_are_proxies_and_ours_stay_as_they_are():
    code = """
        import importlib.metadata, sys
        import jax, jax.numpy as jnp, jax.scipy.special
        from jax import lax, random
        from jax.nn import relu
        import jaxlib, pycompiler
        assert "jaxlib.xla_client" not in sys.modules and jax.__version_info__ >= (0, 10)
        assert jax.__version__ == jaxlib.__version__ == importlib.metadata.version("jax") == jax.version.__version__
        assert jnp is jax.numpy is sys.modules["jax.numpy"] and jnp.sin is pycompiler.numpy.sin
        assert jnp.__array_namespace_info__ is pycompiler.numpy.__array_namespace_info__ and jnp.__array_api_version__
        assert pycompiler.numpy.__name__ == pycompiler.numpy.__spec__.name == "pycompiler.numpy"
        assert pycompiler.__version__ != jax.__version__ and jax.Array is pycompiler.Array
        assert "numpy" in dir(jax) and "compile" not in dir(jax) and "sin" in dir(jnp) and "creation" not in dir(jnp)
        assert isinstance(jax.jit(lambda x: x + 1)(jnp.ones(3)), jax.Array)
        print(jax.grad(lambda x: jnp.sum(relu(x) ** 2))(jnp.array([1.0, -1.0])), random.normal(random.key(0)))
    """
    # The number is JAX's, of its default stream.
    assert in_jaxs_place(code) == "[2. 0.] 1.6226422\n"


def test_all_names_of_a_module_can_be_imported():
    code = """
        from jax.lax import *
        from jax.numpy import *
        print(array, linalg.norm(ones(4)), slice_in_dim.__name__)
        print({name for name in dir() if name.startswith("_") and not name.startswith("__")})
    """
    lines = in_jaxs_place(code).splitlines()
    assert re.fullmatch("<function array at 0x[0-9a-f]*> 2.0 slice_in_dim", lines[0])
    assert lines[1] == "set()"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import jax.no_module", "No module named 'jax.no_module': pycompiler replaces JAX"),
        ("import jax.numpy.creation", "No module named 'jax.numpy.creation'"),
        ("import jax._src.no_module", "No module named 'jax._src.no_module': pycompiler replaces JAX"),
        ("import jaxlib.xla_client", "No module named 'jaxlib.xla_client'"),
        (
            "import jax; jax.numpy.arrange",
            "no jax.numpy.arrange: pycompiler replaces JAX in this process, and does not have",
        ),
        ("import jax; jax.numpy.arrange", "the nearest name is arange"),
        ("import jax; jax._src.dispatch.no_name", "no jax._src.dispatch.no_name: pycompiler replaces JAX"),
        ("import jax; jax.compile", "no jax.compile: pycompiler replaces JAX"),
        ("from jax.numpy import no_name", "cannot import name 'no_name' from 'jax.numpy'"),
    ],
)
def test_missing_names_say_that_they_were_asked_for_in_jaxs_place(code: str, message: str):
    ran = run("-m", "pycompiler.jax", "-c", code)
    assert ran.returncode == 1
    assert message in ran.stderr


def test_variables_that_a_program_sets_before_it_imports_jax():
    code = """
        import os
        os.environ["JAX_ENABLE_X64"] = "1"
        os.environ["XLA_FLAGS"] = "--xla_dump_to=x --xla_force_host_platform_device_count=4"
        import jax, jax.numpy as jnp
        print(jnp.ones(1).dtype, len(jax.devices()), jax.config.jax_threefry_partitionable)
    """
    assert in_jaxs_place(code) == "float64 4 True\n"
    assert in_jaxs_place(code, PYCOMPILER_NUM_CPU_DEVICES="2", JAX_THREEFRY_PARTITIONABLE="0") == "float64 2 False\n"
    assert in_jaxs_place("import jax; print(jax.device_count())", JAX_NUM_CPU_DEVICES="3") == "3\n"


def test_flags_that_a_program_sets_before_it_asks_for_devices():
    code = """
        import os, jax, jax.numpy as jnp
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
        print(jax.device_count(), len(jax.local_devices()), jax.make_mesh((3,), "x").size)
    """
    assert in_jaxs_place(code) == "3 3 3\n"


def test_a_number_of_devices_that_is_none_is_a_warning():
    ran = run("-m", "pycompiler.jax", "-c", "import jax", XLA_FLAGS="--xla_force_host_platform_device_count=some")
    assert ran.returncode == 0
    assert "--xla_force_host_platform_device_count=some is not taken: config: num_cpu_devices is 1" in ran.stderr


def test_scripts_and_modules_run_as_python_runs_them(tmp_path):
    (tmp_path / "beside.py").write_text("value = 7\n")
    script = tmp_path / "script.py"
    script.write_text("import sys, jax, beside\nprint(__name__, sys.argv[1:], beside.value, jax.__version__ > '0')\n")
    ran = run("-m", "pycompiler.jax", str(script), "--epochs", "3")
    assert ran.stdout == "__main__ ['--epochs', '3'] 7 True\n", ran.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "pycompiler.jax", "-m", "script", "-x"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.stdout == "__main__ ['-x'] 7 True\n", ran.stderr


def test_pytest_runs_on_it_and_so_do_its_workers(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import jax, pycompiler\n\n\ndef test_it():\n    assert jax.Array is pycompiler.Array\n"
    )
    for options in ([], ["-n", "1"]):
        ran = run("-m", "pycompiler.jax", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(tmp_path))
        assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_file.py"], "there is no file 'no_file.py'"),
        (["-m"], "-m needs a module"),
        (["--fast"], "unknown option --fast; there are -m, -c and -h"),
        ([], "python -m pycompiler.jax script.py [arguments]"),
    ],
)
def test_bad_command_lines(arguments: list[str], message: str):
    ran = run("-m", "pycompiler.jax", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr


def test_a_jax_that_is_loaded_is_an_error():
    pytest.importorskip("jax")
    ran = run("-c", "import jax, pycompiler.compat\npycompiler.compat.install()")
    assert "this process has loaded the real jax (module jax)" in ran.stderr
    assert not pycompiler.compat.is_installed()


def test_installing_twice_changes_nothing():
    code = """
        import sys, pycompiler.compat
        before = len(sys.meta_path)
        pycompiler.compat.install()
        print(pycompiler.compat.is_installed(), len(sys.meta_path) - before)
    """
    assert in_jaxs_place(code) == "True 0\n"


def test_the_table_of_modules():
    """The modules of the table are ours, and the most used ones are there."""
    there = [name for name in modules.NAMES if proxies.sources_of(name)]
    assert {"numpy", "lax", "random", "scipy.special", "tree_util"} <= set(there)
    assert all(not source.__name__.startswith("jax") for name in there for source in proxies.sources_of(name))


def test_functions_of_the_host_fail_as_jax_reports_it():
    code = """
        import jax, jax.numpy as jnp

        class Mine(Exception):
            pass

        def bad(x):
            raise Mine("no good")

        @jax.jit
        def f(x):
            return 3, x, jax.pure_callback(bad, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

        for call in (f, lambda x: f(x)[2], jax.jit(lambda x: jax.debug.callback(bad, x)), jax.make_jaxpr(f)):
            try:
                call(jnp.ones(2))
            except jax.errors.JaxRuntimeError as error:  # at the call, before a result is read
                assert "Mine: no good" in str(error) and "CpuCallback error" in str(error)
                print("failed")
        jax.effects_barrier()
    """
    assert in_jaxs_place(code) == "failed\n" * 3


def test_failed_functions_of_the_host_are_logged():
    code = """
        import logging, sys
        logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")
        import jax
        from jax.experimental import io_callback

        def bad(x):
            raise RuntimeError("no good")

        for call in (jax.pure_callback, io_callback):
            try:
                jax.jit(lambda x: call(bad, x, x))(1.0).block_until_ready()
            except RuntimeError:
                pass
    """
    found = in_jaxs_place(code)
    assert "ERROR jax.pure_callback failed\nTraceback" in found
    assert "ERROR jax.io_callback failed\nTraceback" in found
