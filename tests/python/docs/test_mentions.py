"""The files, folders and tests that a page names exist."""

import re

import pytest
from pages import DOCUMENTS, ROOT
from test_pages import names

# In these, `a/b` is a path. Elsewhere it may be a quotient, or a folder of a user.
FOLDERS = ("benchmarks/", "dialect/", "docs/", "examples/", "pycompiler/", "runtime/", "tests/", "tools/")
TESTS = "".join(path.read_text() for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".cpp"))


def spans(page):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE))


def is_there(path):
    """A file, a folder, or a header in the form of its include; `<family>` stands for any name."""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return any(True for start in ("", "*/include/") for _ in ROOT.glob(start + pattern))


@pytest.mark.parametrize("page", DOCUMENTS, ids=names(DOCUMENTS))
def test_what_a_page_names_is_there(page):
    found = spans(page)
    paths = [span.split("::")[0] for span in found if span.startswith(FOLDERS) and " " not in span]
    assert not [path for path in paths if not is_there(path)]
    functions = [span.rpartition("::")[2] for span in found if re.fullmatch(r"([\w/.]+::)?test_\w+", span)]
    assert not [name for name in functions if f"def {name}(" not in TESTS]
    files = [span for span in found if re.fullmatch(r"test_\w+\.py|\w+Test\.cpp", span)]
    assert not [name for name in files if not any((ROOT / "tests").rglob(name))]
