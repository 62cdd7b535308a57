"""A build reports the amount of work before it begins, and its progress in a log from time to time."""

import subprocess
import sys

import pytest
from pages import ROOT

import build

LINES = [
    "ninja: Entering directory `build'\n",
    "[1/4, 0.1s] Building a.o\n",
    "[2/4, 9.0s] Building b.o\n",
    "b.cpp:1: warning: something\n",
    "[3/4, 12.0s] Building c.o\n",
    "[4/4, 30.0s] Linking program\n",
]


def test_a_log_has_progress_now_and_then_and_all_that_compilers_say():
    times = iter([0.1, 9.0, 12.0, 30.0])
    assert list(build.thinned(LINES, times)) == [LINES[0], LINES[1], LINES[2], LINES[3], LINES[5]]


def test_the_last_step_is_told():
    assert list(build.thinned(LINES[1:3], iter([0.1, 5.0]))) == LINES[1:3]


@pytest.mark.parametrize(
    ("steps", "jobs", "said"),
    [
        (0, 2, ""),
        (5, 2, ""),
        (590, 2, "build: up to 590 steps by 2 jobs: about 9 minutes, far less with a warm ccache"),
        (20, 1, "build: up to 20 steps by 1 job: about 1 minute, far less with a warm ccache"),
    ],
)
def test_what_is_said_before(steps, jobs, said):
    assert build.announcement("build", steps, jobs) == said


@pytest.fixture
def tree(tmp_path):
    """A build tree with enough steps for a report. A dry run considers its manifest old, as with CMake's globs."""
    names = [f"step{number}" for number in range(20)]
    rules = "rule step\n  command = touch $out\nrule look\n  command = true\n  restat = 1\n  generator = 1\n"
    manifest = "build always: phony\nbuild globs: look | always\nbuild build.ninja: look | globs\n"
    steps = "".join(f"build {name}: step\n" for name in names)
    (tmp_path / "globs").touch()
    (tmp_path / "build.ninja").write_text(f"{rules}{manifest}{steps}default {' '.join(names)}\n")
    return tmp_path


def test_a_build_says_what_it_does_and_nothing_is_left_of_the_question(tree):
    assert build.steps_to_do(build.dry_run(str(tree), ())) == 20
    assert sorted(path.name for path in tree.iterdir()) == ["build.ninja", "globs"]
    command = [sys.executable, ROOT / "tools/build.py", tree, "-j", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tree}: up to 20 steps by 1 job: about 1 minute")
    assert "[20/20, " in done.stdout
    assert (tree / "step19").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "steps" not in again.stdout


def test_a_build_that_fails_fails(tree):
    with (tree / "build.ninja").open("a") as manifest:
        manifest.write("rule no\n  command = echo this went wrong; false\nbuild missing: no\ndefault missing\n")
    done = subprocess.run(
        [sys.executable, ROOT / "tools/build.py", tree, "-j", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "this went wrong" in done.stdout


def test_targets_stand_behind_the_jobs(tree):
    command = [sys.executable, ROOT / "tools/build.py", tree, "-j", "1", "step3", "step7"]
    subprocess.run(command, capture_output=True, text=True, check=True)
    assert sorted(path.name for path in tree.glob("step*")) == ["step3", "step7"]
