"""The sample of `make test` (sampling.py): its parts are everything, and each test has a case in each."""

import pathlib
import subprocess
import sys

import pytest

TABLES = """
import pytest

@pytest.mark.parametrize("case", range(40))
def test_long(case): pass

@pytest.mark.parametrize("case", range(8))
def test_short(case): pass

@pytest.mark.parametrize("case", [*range(20), pytest.param(20, marks=pytest.mark.full)])
def test_with_marks(case): pass

def test_alone(): pass
"""


@pytest.fixture
def collected(tmp_path):
    (tmp_path / "test_tables.py").write_text(TABLES)
    (tmp_path / "conftest.py").write_text(
        "import pytest, sampling\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items): sampling.mark_outside(items)\n"
    )

    def collect(sample, *options):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", *options, tmp_path]
        environment = {"SAMPLE": sample, "PYTHONPATH": str(pathlib.Path(__file__).parents[1])}
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return collect


def names(done):
    return {line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line}


def test_the_samples_together_are_all_tests(collected):
    everything = names(collected("0"))
    assert len(everything) == 40 + 8 + 21 + 1
    samples = [names(collected(str(number), "-m", "not full")) for number in range(8)]
    assert set.union(*samples) == everything - {"test_with_marks[20]"}
    for sample in samples:
        long = {name for name in sample if name.startswith("test_long")}
        assert 1 <= len(long) <= 20
        assert len(sample - long) == 8 + 20 + 1


def test_an_unknown_sample_is_an_error(collected):
    done = collected("8")
    assert done.returncode != 0
    assert "SAMPLE must be a number from 0 to 7, got '8'" in done.stdout + done.stderr
