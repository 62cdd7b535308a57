"""The benchmarks: the tables show the measurements, and a differing result is reported and not timed."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BENCHMARKS = ROOT / "benchmarks"


def run(*command, status=0):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{BENCHMARKS}", "COLUMNS": "240"}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_the_table_of_runs_and_its_picture(tmp_path):
    path = tmp_path / "bench.json"
    out = run(BENCHMARKS / "run.py", "--runs", 3, "--json", path, "x - x.mean(0)) 10x10", "matmul 64, bias")
    found = json.loads(path.read_text())
    assert found["threads"] == 1
    assert set(found["versions"]) >= {"numpy", "jax"}
    assert set(found["cases"]) == {"x.T @ (x - x.mean(0)) 10x10 f32", "matmul 64, bias and relu f32"}
    for name, case in found["cases"].items():
        assert name in out
        medians = {library: statistics.median(times) for library, times in case["seconds"].items()}
        assert set(medians) == {"pycompiler", "jax", "numpy"}
        assert all(len(times) == 3 for times in case["seconds"].values())
        assert case["ratio"] == pytest.approx(medians["pycompiler"] / min(medians["jax"], medians["numpy"]))
    assert found["cases"]["matmul 64, bias and relu f32"]["bar"] == 0.5
    assert found["groups"] == {}  # not all of its cases ran
    run(BENCHMARKS / "picture.py", "--results", tmp_path)
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_a_case_is_not_timed_where_results_differ_and_the_others_are(tmp_path):
    # One case with another function under pycompiler, one that raises, and one that is right.
    script = tmp_path / "differing.py"
    script.write_text(
        "import run\n"
        "from cases import tables\n"
        "from library import Case, normal\n"
        "def case(name, build): return Case(name, normal((3,)), build, bar=1.0)\n"
        "def raising(lib): raise ValueError('no such function')\n"
        "tables.CASES = (\n"
        "    case('differs', lambda lib: lambda x: x + (lib.name == 'pycompiler')),\n"
        "    case('raises', raising),\n"
        "    case('is right', lambda lib: lambda x: x + 1),\n"
        ")\n"
        "run.main()\n"
    )
    path = tmp_path / "bench.json"
    run(script, "--runs", 2, "--json", path, "differs", "raises", "is right", status=1)
    found = json.loads(path.read_text())["cases"]
    assert "result 0 beside that of jax" in found["differs"]["error"]
    assert "seconds" not in found["differs"]
    assert found["raises"]["error"] == "ValueError: no such function"
    assert found["is right"]["ratio"] > 0


@pytest.mark.full
def test_the_tables_of_compilation_and_of_temporaries(tmp_path):
    run(BENCHMARKS / "compile.py", "--runs", 1, "--json", tmp_path / "compile.json", "x+1")
    found = json.loads((tmp_path / "compile.json").read_text())
    assert list(found["cases"]) == ["x+1 1024x1024 f32"]
    assert found["mean"] == pytest.approx(found["cases"]["x+1 1024x1024 f32"]["ratio"])
    run(BENCHMARKS / "memory.py", "--json", tmp_path / "memory.json", "MLP step")
    found = json.loads((tmp_path / "memory.json").read_text())["MiB"]["MLP step 784-512-512-10, batch 128"]
    assert found["asked"] == pytest.approx(1.2 * found["jax"] + 2)
    assert found["pycompiler"] >= 0.5  # the residuals of two layers


@pytest.mark.full
def test_the_table_of_many_sizes(tmp_path):
    path = tmp_path / "dynamic.json"
    out = run(BENCHMARKS / "dynamic.py", "--runs", 1, "--sizes", 2, "--json", path, "MLP step", "x + 1, 4 f32")
    found = json.loads(path.read_text())["cases"]
    program = "MLP step 784-512-512-10, batch 1 to 50"
    sides = [f"whole run, {side}" for side in ("told", "auto", "static")] + ["compilations, told", "compilations, auto"]
    means = [f"warm calls beside {against}, geometric mean" for against in ("static", "jax")]
    assert set(found) == {f"{program}: {row}" for row in (*sides, *means)} | {"small call, x + 1, 4 f32"}
    for name, counted in (("told", 1), ("auto", 2)):
        assert found[f"{program}: compilations, {name}"] == {"compilations": counted, "jax": 2, "bar": counted}
        whole = found[f"{program}: whole run, {name}"]
        medians = {library: statistics.median(times) for library, times in whole["seconds"].items()}
        assert whole["ratio"] == pytest.approx(medians["pycompiler"] / medians["jax"])
    warm = found[f"{program}: warm calls beside static, geometric mean"]
    assert list(warm["ratios"]) == ["1", "50"]
    assert warm["ratio"] == pytest.approx(statistics.geometric_mean(warm["ratios"].values()))
    # Missed bars are reported, for any measurements of this machine.
    missed = [name for name, case in found.items() if case["bar"] and case.get("ratio", 0) > case["bar"]]
    assert [line for line in out.splitlines() if line.startswith("missing: ")] == [
        line for name in missed for line in out.splitlines() if line.startswith(f"missing: {name}: ")
    ]
    run(BENCHMARKS / "picture.py", "--results", tmp_path)
    assert (tmp_path / "dynamic.png").read_bytes().startswith(b"\x89PNG")


def test_many_sizes_are_not_timed_where_results_differ(tmp_path):
    script = tmp_path / "differing.py"
    script.write_text(
        "from cases import tables\n"
        "import dynamic\n"
        "import numpy as np\n"
        "from cases.dynamic import SizedCase\n"
        "def build(lib): return lambda x: x + (lib.name == 'pycompiler')\n"
        "inputs = lambda rng, size: (np.ones(size, np.float32),)\n"
        "tables.DYNAMIC = (SizedCase('differs', (2, 3), inputs, build, {0: ('n',)}),)\n"
        "dynamic.main()\n"
    )
    path = tmp_path / "dynamic.json"
    out = run(script, "--runs", 1, "--json", path, "differs", status=1)
    found = json.loads(path.read_text())["cases"]
    assert list(found) == ["differs: warm calls"]
    assert "beside pycompiler at size 2" in found["differs: warm calls"]["error"]
    assert "missing: differs: warm calls: AssertionError" in out


def test_the_table_of_functions(tmp_path):
    path = tmp_path / "functions.json"
    command = (BENCHMARKS / "functions.py", "--runs", 1, "--sizes", 64, "--keep", path)
    out = run(*command, "scipy.special.erfc", "nn.relu6")
    lines = {name: line for of in json.loads(path.read_text())["functions"].values() for name, line in of.items()}
    kinds = [f"{dtype} 64{grad}" for dtype in ("float32", "float64") for grad in ("", " grad")]
    names = ("nn.relu6", "scipy.special.erfc", "scipy.special.erfcx")
    assert set(lines) == {f"{name} {kind}" for name in names for kind in kinds}
    assert f"geometric mean of {len(lines)} lines" in out
    # The next piece keeps what is there.
    out = run(*command, "nn.relu")
    found = json.loads(path.read_text())["functions"]
    assert [set(found) - set(names), found["nn.relu6"]] == [{"nn.relu"}, {n: lines[n] for n in lines if "relu6" in n}]
    assert "geometric mean of 8 lines" in out
    assert run(*command[:4], 32, *command[5:], "nn.relu", status=1) == ""  # another size: nothing is measured
    out = run(*command, "--seconds", 0, "nn.relu6", "nn.selu")
    assert "the same command goes on" in out


def test_the_table_of_functions_of_complex_numbers_and_of_compilations(tmp_path):
    path = tmp_path / "functions.json"
    command = (BENCHMARKS / "functions.py", "--runs", 1, "--sizes", 64, "--keep", path)
    run(*command, "--dtypes", "complex64,complex128", "numpy.reciprocal", "numpy.cbrt")
    found = json.loads(path.read_text())["functions"]
    kinds = [f"{dtype} 64{grad}" for dtype in ("complex64", "complex128") for grad in ("", " grad")]
    assert [name for name, line in found["numpy.reciprocal"].items() if len(line) == 2] == [
        f"numpy.reciprocal {kind}" for kind in kinds
    ]
    assert all(isinstance(line, str) for line in found["numpy.cbrt"].values())  # neither library takes them
    run(*command, "numpy.reciprocal", status=1)  # other dtypes: nothing is measured
    out = run(*command[:-1], tmp_path / "compile.json", "--compile", "nn.relu6")
    assert "geometric mean of 4 lines" in out


def test_a_function_that_differs_is_reported(tmp_path):
    script = tmp_path / "differing.py"
    script.write_text("import pycompiler.nn, functions\npycompiler.nn.relu6 = lambda x: x + 1\nfunctions.main()\n")
    out = run(script, "--runs", 1, "--sizes", 64, "nn.relu6", status=1)
    assert "differs: nn.relu6 float32 64: the greatest difference is 1" in out


def test_every_case_has_a_name_of_its_own_and_a_bar_that_can_be_missed():
    code = (
        "from cases.tables import CASES, COMPILED, GROUPS\n"
        "names = [case.name for case in CASES]\n"
        "assert len(set(names)) == len(names)\n"
        "assert all(case.bar is None or 0 < case.bar <= 1.1 for case in CASES)\n"
        "assert {case.group for case in CASES} == {'', *GROUPS}\n"
        "assert len(COMPILED) == 8\n"
    )
    run("-c", code)
