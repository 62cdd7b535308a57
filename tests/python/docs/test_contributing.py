"""The instructions of CONTRIBUTING.md work: its tests pass, its edit applies, its commands exist."""

import re
import shutil
import subprocess

import pytest
from pages import ROOT, Runner, blocks, shell_environment

PAGE = ROOT / "CONTRIBUTING.md"


@pytest.fixture
def checkout(tmp_path):
    """A folder like a checkout, to which tests of a newcomer can be added."""
    for name in ("pycompiler", "llvm-version.txt", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for folder in ("tests/lit/IR", "tests/python/numpy"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tests/lit/lit.cfg.py", tmp_path / "tests/lit")
    return tmp_path


def test_the_first_tests_pass_and_print_what_is_shown(checkout):
    runner = Runner(PAGE, checkout)
    shown = [block for block in blocks(PAGE) if block.language == "console"]
    assert len(shown) == 3
    for block in shown:
        runner.run(block)
    # This checks that a test can fail.
    first = checkout / "tests/lit/IR/first.mlir"
    first.write_text(first.read_text().replace("return %[[X]]", "return %[[Y:.*]] : tensor<5xf32>"))
    again = subprocess.run(["lit", first], env=shell_environment(), capture_output=True, text=True, check=False)
    assert again.returncode == 1


def test_the_first_edit_applies():
    (edit,) = re.findall(r"^```diff\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    done = subprocess.run(
        ["git", "apply", "--check", "-"], cwd=ROOT, input=edit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_targets_and_links_are_there():
    text = PAGE.read_text()
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^make ([a-z-]+)", text, re.M))
    assert {"build", "test", "test-fast", "hooks", "coverage"} <= named <= targets
    links = re.findall(r"\]\(([^)#]+)(?:#[\w-]*)?\)", text)
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
