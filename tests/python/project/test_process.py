"""New processes: the order of loaded modules, the example, the README, the wheel."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def run(*command: str, **environment: str) -> str:
    """The output of a command; fails with its output if the command fails."""
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=3600, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def python(code: str, **environment: str) -> str:
    return run(sys.executable, "-c", code, **environment)


def test_mlir_is_loaded_by_the_first_compilation_only():
    out = python(
        "import sys, pycompiler as pc, pycompiler.numpy as pnp\n"
        "mapped = lambda: any('libMLIR' in line for line in open('/proc/self/maps'))\n"
        "x = pnp.asarray([1.0, 2.0])\n"
        "print('pycompiler._compiler' in sys.modules, mapped())\n"
        "pc.jit(lambda x: x + 1)(x).block_until_ready()\n"
        "print('pycompiler._compiler' in sys.modules, mapped())\n",
        PYCOMPILER_ENABLE_COMPILATION_CACHE="0",
    )
    assert out.split() == ["False", "False", "True", "True"]


def test_peers_and_scipy_are_not_imported():
    out = python("import sys, pycompiler; print([m for m in ('jax', 'scipy', 'matplotlib') if m in sys.modules])")
    assert out.strip() == "[]"


RARE = ("debug", "example_libraries", "experimental", "export", "image", "nn", "profiler", "scipy", "test_util")


def test_rare_modules_are_loaded_at_their_first_use():
    """They, and what they need of the standard library, are a third of the time of `import pycompiler`."""
    out = python(
        "import sys, gc, pycompiler as pc\n"
        "slow = ('subprocess', 'tempfile', 'importlib.metadata', 'numpy.random')\n"
        f"print([m for m in {RARE} if f'pycompiler.{{m}}' in sys.modules], [m for m in slow if m in sys.modules])\n"
        f"print(all(getattr(pc, m) is sys.modules[f'pycompiler.{{m}}'] for m in {RARE}), gc.isenabled())\n"
        "print([m for m in sys.modules if m.startswith('pycompiler.scipy.stats')])\n"
        "print(pc.scipy.stats.norm.cdf(0.0), pc.scipy.stats.norm is sys.modules['pycompiler.scipy.stats.norm'])\n"
    )
    assert out.splitlines() == ["[] []", "True True", "[]", "0.5 True"]


def test_jax_proxies_load_no_rare_module():
    out = python(
        "from pycompiler.compat import install\ninstall()\nimport sys, jax, jax.numpy\n"
        "print([m for m in ('nn', 'scipy', 'export') if f'pycompiler.{m}' in sys.modules], 'email' in sys.modules)\n"
        "import importlib.metadata\nprint(importlib.metadata.version('jax') == jax.__version__)\n"
    )
    assert out.split() == ["[]", "False", "True"]


def test_an_import_leaves_collections_off_that_were_off():
    assert python("import gc; gc.disable(); import pycompiler; print(gc.isenabled())") == "False\n"


def test_the_settings_are_read_from_the_environment():
    assert python("import pycompiler.numpy as pnp; print(pnp.ones(1).dtype)", PYCOMPILER_ENABLE_X64="1") == "float64\n"
    assert (
        "compiled"
        in subprocess.run(
            [sys.executable, "-c", "import pycompiler.numpy as pnp; pnp.sin(1.0)"],
            env={**os.environ, "PYCOMPILER_DEBUG": "1", "PYCOMPILER_ENABLE_COMPILATION_CACHE": "0"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
    )


def test_running_in_place_gives_the_same():
    code = "import pycompiler.numpy as pnp; x = pnp.ones((300, 300)); print(float((x @ x).sum()))"
    assert python(code) == python(code, PYCOMPILER_SYNC="1") == "27000000.0\n"


def test_the_example_learns_the_digits(tmp_path):
    picture = tmp_path / "digits.png"
    out = run(sys.executable, "examples/train_digits.py", "--picture", str(picture))
    found = re.search(r"held-out accuracy: (\d+\.\d\d)%", out)
    assert found
    assert float(found[1]) >= 97
    assert "compilation of the step" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_ir_in_the_readme_is_what_its_example_prints():
    readme = (ROOT / "README.md").read_text()
    example, shown = re.search(r"```python\n(.*?)```.*?```mlir\n(.*?)```", readme, re.S).groups()
    assert shown.strip() in python(example)


def test_array_opt_takes_the_module_of_the_readme():
    shown = re.search(r"```mlir\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    for pipeline, expected in (("--array-to-linalg", "linalg.generic"), ("--array-to-llvm", "llvm.func @pcrt_main")):
        result = subprocess.run(
            [ROOT / "build/bin/array-opt", pipeline], input=shown, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        assert expected in result.stdout


@pytest.mark.full
def test_the_wheel_works_in_a_fresh_environment(tmp_path):
    run(sys.executable, "-m", "venv", str(tmp_path / "env"))
    fresh = str(tmp_path / "env" / "bin" / "python")
    run(fresh, "-m", "pip", "install", "-q", ".")
    code = "import pycompiler as pc, pycompiler.numpy as pnp; print(pc.__file__, pc.jit(pnp.sin)(0.0))"
    out = subprocess.run([fresh, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in out
    assert out.split()[-1] == "0.0"
    # The kernels of the build are part of it: the first use of an operator loads no compiler.
    code = "import sys, pycompiler.numpy as pnp; print(pnp.ones(3) + 1, 'pycompiler._compiler' in sys.modules)"
    out = subprocess.run([fresh, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[2. 2. 2.] False"
