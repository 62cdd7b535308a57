# ruff: noqa: F821
"""Configures lit: `lit tests/lit -DBUILD_DIR=build`, where the build tree is build/ of this checkout by default.

Tests run array-opt and array-run from <build>/bin, and FileCheck, not and split-file of the LLVM that
llvm-version.txt names.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parents[2]
build = Path(lit_config.params.get("BUILD_DIR") or os.environ.get("BUILD_DIR") or root / "build").resolve()
version = (root / "llvm-version.txt").read_text().strip()
llvm_bin = subprocess.run(
    [f"llvm-config-{version}", "--bindir"], check=True, capture_output=True, text=True
).stdout.strip()

config.name = "pycompiler"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(build / "tests" / "lit")
config.environment["PATH"] = os.pathsep.join([str(build / "bin"), llvm_bin, os.environ.get("PATH", "")])
config.environment["PYTHONPATH"] = str(root)
# Costs follow the second cache. A RUN line that needs a cache of another size than 1 MiB names it.
config.substitutions.append(
    (r"(?<![\w/.-])array-opt(?![\w.-])(?!.*--second-cache-bytes)", "array-opt --second-cache-bytes=1048576")
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%emulated_driver", str(build / "tests" / "libcuda-emulated.so")))
config.substitutions.append(("%mlir_include", str(Path(llvm_bin).parent / "include")))
config.substitutions.append(("%array_plugin", str(build / "tests" / "array-test-plugin.so")))

for tool, remedy in (
    ("array-opt", f"build it: ninja -C {build} array-opt, or name the build tree by -DBUILD_DIR="),
    ("array-run", f"build it: ninja -C {build} array-run cuda-emulated"),
    ("FileCheck", f"install llvm-{version}-tools"),
):
    if shutil.which(tool, path=config.environment["PATH"]) is None:
        lit_config.fatal(f"{tool} is not in {build / 'bin'} nor in {llvm_bin}: {remedy}")
