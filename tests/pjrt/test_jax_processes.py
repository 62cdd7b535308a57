"""The backend in processes of its own: chosen alone, caches, fork, exit, versions, several devices, another client."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest


def run(program, timeout=300, **environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        env={**os.environ, "JAX_PLATFORMS": "pycompiler", "PYCOMPILER_ENABLE_COMPILATION_CACHE": "0", **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_alone():
    said = run("""
        import jax, jax.numpy as jnp
        print(jax.default_backend(), len(jax.devices()), jax.devices("cpu") == jax.devices())
        print(jnp.arange(3).sum(), jax.jit(lambda x: x + 1, device=jax.devices()[0])(1))
    """)
    assert said.split() == ["pycompiler", "1", "True", "3", "2"]


def test_it_is_not_the_default():
    said = run("import jax; print(jax.default_backend(), jax.devices('pycompiler')[0].platform)", JAX_PLATFORMS="")
    assert said.split() == ["cpu", "pycompiler"]


def test_nothing_is_loaded_for_another_platform():
    said = run("import sys, jax; jax.devices(); print('pycompiler' in sys.modules)", JAX_PLATFORMS="cpu")
    assert said.split() == ["False"]


def test_another_version_of_jax_is_named():
    said = run("""
        import jax
        jax.__version__ = "0.99.1"
        try:
            jax.devices()
        except RuntimeError as error:
            print(error)
    """)
    assert "JAX 0.99.1" in said
    assert "pip install 'pycompiler[jax]'" in said


PROGRAM = """
    import sys, jax, jax.numpy as jnp
    hits = []
    jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
    print(jax.jit(lambda x: jnp.sin(x) @ x.T)(jnp.ones((4, 4)))[0, 0])
    print("/jax/compilation_cache/cache_hits" in hits, "pycompiler._compiler" in sys.modules)
"""


def test_jaxs_cache(tmp_path):
    settings = {
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    first = run(PROGRAM, PYCOMPILER_COMPILATION_CACHE_DIR=str(tmp_path / "one"), **settings).split()
    again = run(PROGRAM, PYCOMPILER_COMPILATION_CACHE_DIR=str(tmp_path / "two"), **settings).split()
    assert first[0] == again[0]
    assert (first[1:], again[1:]) == (["False", "True"], ["True", "False"])


def test_jaxs_cache_leaves_out_programs_that_call_python(tmp_path):
    said = run(
        """
        import logging, warnings, jax, jax.numpy as jnp
        warnings.simplefilter("error")
        jax.config.update("jax_explain_cache_misses", True)
        logging.basicConfig(format="%(message)s")
        logging.getLogger().handlers[0].setStream(__import__("sys").stdout)
        jax.jit(lambda x: (jax.debug.print("said {}", x), x * 2)[1])(3)
        jax.effects_barrier()
        """,
        JAX_COMPILATION_CACHE_DIR=str(tmp_path),
        JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
        JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1",
    )
    assert "said 3" in said
    assert "because it uses host callbacks" in said


def test_our_cache(tmp_path):
    settings = {
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path),
    }
    first, again = run(PROGRAM, **settings).split(), run(PROGRAM, **settings).split()
    assert first[0] == again[0]
    assert (first[2], again[2]) == ("True", "False")


def test_caches_leave_out_programs_of_other_sources(tmp_path):
    """Of the plugin's Python half, which reads and divides JAX's programs."""
    settings = {
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path / "ours"),
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    change = """
    from pycompiler.pjrt import compiler, program
    compiler.digest_of_sources = program.digest_of_sources = lambda: "0123456789ab"
    """
    first, other = run(PROGRAM, **settings).split(), run(change + PROGRAM, **settings).split()
    assert first[0] == other[0]
    # JAX found the bytes, and compiled again.
    assert (first[1:], other[1:]) == (["False", "True"], ["False", "True"])


def test_fork_and_exit_with_work_in_flight():
    said = run("""
        import os, jax, jax.numpy as jnp, numpy as np
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda i, y: jnp.sin(y @ y) / 9, x))
        x = f(np.ones((64, 64), np.float32))
        child = os.fork()
        if child == 0:
            os._exit(0)
        print(os.waitpid(child, 0)[1], bool(jnp.isfinite(x).all()))
        for _ in range(20):
            x = f(x)
    """)
    assert said.split() == ["0", "True"]


def test_a_process_ends_right_after_a_compilation():
    """JAX drops the program in a thread that it joins at the end. One process of five did not end."""
    for _ in range(8):
        said = run("import jax; print(float(jax.jit(lambda x: (x * 3).sum())(jax.numpy.arange(4.0))))", timeout=60)
        assert said == "18.0\n"


def test_several_devices():
    said = run(
        """
        import jax, jax.numpy as jnp
        devices = jax.devices()
        x = jax.device_put(jnp.arange(4.0), devices[3])
        y = jax.jit(lambda x: x * 2)(x)
        print(len(devices), y.devices() == {devices[3]}, jax.device_put(y, devices[1]).sum())
        """,
        PYCOMPILER_NUM_CPU_DEVICES="4",
    )
    assert said.split() == ["4", "True", "12.0"]


def test_a_failure_that_a_call_raised_is_not_reported_again_at_the_end():
    said = run("""
        import sys, jax, jax.numpy as jnp
        from jax.experimental import io_callback
        sys.stderr = sys.stdout
        sys.unraisablehook = lambda info: print("unraisable", info.exc_value)
        def fail(x):
            raise KeyError("three")
        for ordered in (True, False):
            try:
                jax.jit(lambda x: io_callback(fail, x, x, ordered=ordered))(jnp.float32(1)).block_until_ready()
            except jax.errors.JaxRuntimeError as error:
                print("caught", "three" in str(error))
    """)
    assert said.count("caught True") == 2
    assert "unraisable" not in said


def test_a_dumped_program_is_read(tmp_path):
    run("import jax; jax.jit(lambda x: x + 1)(1.0)", PYCOMPILER_DUMP_DIR=str(tmp_path))
    assert any("stablehlo.add" in path.read_text() for path in tmp_path.iterdir())


@pytest.mark.skipif(importlib.util.find_spec("pypjrt") is None, reason="pypjrt is not installed (the extra jax-tests)")
def test_conformance():
    said = run("""
        import sys, pycompiler.pjrt
        pycompiler.pjrt.load()
        from pypjrt import conform
        sys.argv = ["conform", pycompiler.pjrt.library_path(), "-v"]
        print("ended", conform.main())
    """)
    assert said.endswith("ended 0\n"), said
