"""Each notebook of examples/ runs from top to bottom in a separate process, and its assertions hold."""

import os
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
# Much longer than a notebook takes, because a testing machine has other work.
SECONDS_OF_A_CELL = 240
# It trains for half a minute: `make test-full` runs it.
LONG = {"character_gpt"}


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.full] if path.stem in LONG else []) for path in NOTEBOOKS],
)
def test_runs(path, monkeypatch):
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", python_path)
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(notebook, timeout=SECONDS_OF_A_CELL, kernel_name="python3", resources=folder).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_with_its_results(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs)
    assert not any(output.output_type == "error" for cell in cells for output in cell.outputs)
