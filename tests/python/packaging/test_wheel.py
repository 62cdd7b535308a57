"""The wheel for a user: in a fresh environment, on a machine without LLVM's packages."""

import email.parser
import json
import math
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("packaging")

# Libraries of all machines: glibc and the run-time libraries of GCC.
SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "libpthread.so.0",
    "libdl.so.2",
}
OWN = "libArrayCompiler.so"

IR = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

PROGRAM = """
import json, sys
import pycompiler as pc
import pycompiler.numpy as pnp

@pc.jit
def loss(w, x):
    return pnp.tanh(x @ w).sum()

w, x = pnp.ones((3, 2)), pnp.ones((4, 3))
value, gradient = loss(w, x), pc.grad(loss)(w, x)
sampled = pc.random.normal(pc.random.key(0), (5,))
mapped = [line.split()[-1] for line in open("/proc/self/maps") if ".so" in line]
print(json.dumps({
    "package": pc.__file__,
    "value": float(value),
    "gradient": gradient.tolist(),
    "sampled": sampled.tolist(),
    "compiler": "pycompiler._compiler" in sys.modules,
    "mapped": sorted(set(mapped)),
}))
"""


@pytest.fixture(scope="module")
def first(installed):
    """The output of the program with an empty disk cache."""
    return json.loads(installed.says(PROGRAM))


def test_the_tag_says_from_which_glibc_on(wheel):
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"pycompiler-\d+\.\d+\.\d+-{python}-{python}-manylinux_2_\d+_x86_64\.whl", wheel.name)
    assert wheel.stat().st_size < 64 << 20


# The parts for shared objects of exported functions.
LINKED_WITH_EXPORTS = {
    "pycompiler/export/libpycompiler_export.a",
    "pycompiler/export/include/runtime/Abi.h",
    "pycompiler/export/include/runtime/Exported.h",
}

# Of C functions that compiled code calls.
FOR_C_FUNCTIONS = {f"pycompiler/ffi/include/xla/ffi/api/{name}.h" for name in ("api", "c_api", "ffi")}


def test_what_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        about = email.parser.Parser().parsestr(file.read(metadata).decode())
    folder = metadata.rpartition("/")[0]
    assert {"pycompiler/py.typed", "pycompiler/_runtime.pyi", f"pycompiler/lib/{OWN}", "pycompiler/bin/array-opt"} <= {
        *names
    }
    assert {"pycompiler/libpjrt_pycompiler.so", "jax_plugins/pycompiler/__init__.py"} <= {*names}
    assert {name.split("/")[0] for name in names} == {"jax_plugins", "pycompiler", "pycompiler_commands", folder}
    assert {name for name in names if name.endswith((".cpp", ".h", ".a", ".td", ".pyc"))} == (
        LINKED_WITH_EXPORTS | FOR_C_FUNCTIONS
    )
    # The licenses of all linked libraries.
    licenses = [name.removeprefix(f"{folder}/licenses/") for name in names if "/licenses/" in name]
    assert {
        "LICENSE",
        "dialect/wheel/LICENSES.md",
        "third_party/pocketfft/LICENSE.md",
        "third_party/pjrt/LICENSE.md",
    } <= {*licenses}
    assert {"linalg", "gpu", "jax"} <= set(about.get_all("Provides-Extra"))
    required = [line for line in about.get_all("Requires-Dist") if "extra" not in line]
    assert [re.match(r"\w+", line)[0] for line in required] == ["numpy", "ml_dtypes"]


def test_it_needs_no_library_but_the_systems_own(installed):
    programs = [path for path in installed.package.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(programs) >= 4  # both extension modules, the library, a tool
    for path in programs:
        said = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
        assert needed <= SYSTEM | {OWN}, f"{path.name} needs {needed - SYSTEM}"
        for runpath in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", said):
            assert runpath in ("$ORIGIN/lib", "$ORIGIN/../lib"), path.name


def test_it_runs(installed, first):
    assert first["package"] == str(installed.package / "__init__.py")
    assert first["value"] == pytest.approx(8 * math.tanh(3))
    # In float32, 1 - tanh**2 has lost digits.
    assert first["gradient"] == [[pytest.approx(4 / math.cosh(3) ** 2, rel=1e-4)] * 2] * 3
    assert len(set(first["sampled"])) == 5


def test_llvm_is_the_wheels_own(installed, first):
    assert first["compiler"]
    assert str(installed.package / "lib" / OWN) in first["mapped"]
    foreign = [path for path in first["mapped"] if re.search(r"libMLIR|libLLVM|libz3|llvm-\d+/", path)]
    assert foreign == []


def test_what_was_compiled_needs_no_llvm_in_the_next_process(installed, first):
    again = json.loads(installed.says(PROGRAM))
    assert {**again, "compiler": True, "mapped": []} == {**first, "mapped": []}
    assert not again["compiler"]
    assert not [path for path in again["mapped"] if OWN in path]


def test_what_the_build_compiled_is_inside(installed):
    program = """
import numpy as np
from pycompiler import _compiler
from pycompiler._runtime import Executable
f32 = np.dtype("float32")
kernel = Executable.built("add", f32, [(0, False, f32), (1, False, f32)], 4, "add")
print(kernel is not None, len(_compiler.built_functions(cpu="x86-64-v3")) > 0)
"""
    flags = Path("/proc/cpuinfo").read_text()
    # Kernels are built for x86-64-v3 on.
    assert installed.says(program).split() == [str("avx2" in flags and "bmi2" in flags), "True"]


def test_decompositions_say_that_they_need_scipy(installed):
    failed = installed.run(
        "python", "-c", "import pycompiler.numpy as pnp; pnp.linalg.svd(pnp.ones((3, 3)))", check=False
    )
    assert failed.returncode == 1
    assert "ImportError" in failed.stderr
    assert "pip install 'pycompiler[linalg]'" in failed.stderr


def test_the_tools_are_commands(installed):
    tools = sorted(path.name for path in (installed.package / "bin").iterdir())
    assert "array-opt" in tools
    for tool in tools:
        assert tool in installed.run(tool, "--help").stdout
    (installed.folder / "program.mlir").write_text(IR)
    lowered = installed.run("array-opt", "--array-to-llvm", "program.mlir")
    assert "llvm.call @main" in lowered.stdout
    # They share libraries with the package, and start without Python's packages.
    assert "import 'numpy" not in installed.run("array-opt", "--version", PYTHONVERBOSE="1").stderr


def test_every_tool_is_a_command_and_every_command_a_tool(installed):
    tools = {path.name for path in (installed.package / "bin").iterdir()}
    entries = next(installed.packages.glob("pycompiler-*.dist-info/entry_points.txt")).read_text()
    assert set(re.findall(r"^([\w-]+)\s*=\s*pycompiler_commands:run$", entries, re.M)) == tools


def test_a_command_without_its_tool_says_so(installed):
    program = "import sys; sys.argv = ['array-nothing']; import pycompiler_commands; pycompiler_commands.run()"
    failed = installed.run("python", "-c", program, check=False)
    assert failed.returncode == 1
    assert failed.stderr.startswith("array-nothing: there is no such tool in ")


def test_python_m_pycompiler_tells_of_the_machine(installed):
    said = installed.run("python", "-m", "pycompiler", PYCOMPILER_DEBUG_NANS="1").stdout
    rows = dict(re.findall(r"^([\w, ]+):\s+(.*)$", said, re.M))
    assert re.fullmatch(r"\d+\.\d+\.\d+", rows["pycompiler"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", rows["LLVM, MLIR"])
    assert re.match(r"cpu:0 \(cpu\), \d+ bytes in use of [\d.]+ GiB", rows["device"])
    assert rows["scipy"].startswith("not installed")
    assert rows["settings"].startswith("debug_nans=True")
    assert {"numpy", "python", "platform", "processor", "features", "threads", "GPU", "disk cache"} <= set(rows)


def test_importing_loads_no_llvm(installed):
    program = "import sys, pycompiler; print('pycompiler._compiler' in sys.modules, 'scipy' in sys.modules)"
    assert installed.says(program).split() == ["False", "False"]
