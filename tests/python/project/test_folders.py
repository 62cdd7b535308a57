"""The check of folders' sizes passes, and finds a folder of tests that has one file too many."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).parents[3]


def test_no_folder_has_more_files_than_a_reader_sees_at_a_glance():
    spec = importlib.util.spec_from_file_location("check_folders", ROOT / "tools" / "check_folders.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    assert check.main() == 0
    # Each folder counts its own files, not those of the folders in it.
    files = ["README.md", *(f"tests/python/numpy/{i}.py" for i in range(41)), "tests/python/numpy/deeper/41.py"]
    assert check.too_large(files) == {"tests/python/numpy": 41}
    assert check.too_large(files[2:]) == {}
