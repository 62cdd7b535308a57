"""The runner of examples finds errors on a page, and accepts differences between machines."""

import pytest
from pages import Runner, blocks, commands, head


def run(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    (folder / "run").mkdir()
    runner = Runner(page, folder / "run")
    for block in blocks(page):
        runner.run(block)


def fenced(language, *lines):
    return "\n".join([f"```{language}", *lines, "```", ""])


@pytest.mark.parametrize(
    "page",
    [
        fenced("python", "x = 1", "assert x == 1"),
        fenced("python", "x = 1") + "text\n\n" + fenced("pycon", ">>> x + 1", "2"),
        fenced("pycon", ">>> 1 / 3", "0.333", ">>> [0.1 + 0.2, 1e-7 / 3]", "[0.3, 3.33e-08]"),
        fenced("pycon", ">>> 0.12345678", "0.12345679"),
        fenced("pycon", ">>> print('[1.        , 2.0000002 ]')", "[1., 2.]"),
        fenced("pycon", ">>> print('a\\n\\nb')", "a", "", "b", "", ">>> 1", "1"),
        fenced("pycon", ">>> 1 / 0", "Traceback (most recent call last):", "    ...", "ZeroDivisionError: ..."),
        fenced("console", "$ echo one", "one", "$ cat <<END", "> two", "> END", "two"),
        fenced("console", "$ python -c 'import pycompiler.version as v; print(v.__file__)'", "...version.py"),
        fenced('python title="tests/python/docs/pages.py"', "import doctest", "...", "class Runner:"),
        fenced("mlir", "func.func @f() { return }") + fenced("mlir", "%y = array.tanh %x : tensor<4xf32>"),
    ],
)
def test_what_is_right_passes(page, tmp_path):
    run(tmp_path, page)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (fenced("python", "assert False, 'here'"), "here"),
        (fenced("pycon", ">>> 1 + 1", "3"), "Expected:"),
        (fenced("pycon", ">>> 1 / 3", "0.335"), "0.333"),
        (fenced("pycon", ">>> 0.123456", "0.123466"), "0.123456"),
        (fenced("pycon", ">>> [1.5, 2.5]", "[1.5]"), "2.5"),
        (fenced("pycon", ">>> 1"), "Expected nothing"),
        (fenced("console", "$ echo one", "two"), "got:\none"),
        (fenced("console", "$ exit 3"), "ended with 3"),
        (fenced('cpp title="tests/python/docs/pages.py"', "int main();"), "int main();"),
        (fenced('python title="tests/python/docs/pages.py"', "class Runner:", "import doctest"), "import doctest"),
        (fenced("mlir", "func.func @f() { nonsense }"), "array-opt does not take this"),
    ],
)
def test_what_is_wrong_fails(page, said, tmp_path):
    with pytest.raises(AssertionError) as caught:
        run(tmp_path, page)
    assert said in str(caught.value)


def test_the_line_of_an_error_is_the_page_s(tmp_path):
    with pytest.raises(ZeroDivisionError) as caught:
        run(tmp_path, "# A page\n\nText.\n\n" + fenced("python", "x = 1", "x / 0"))
    assert [entry.lineno + 1 for entry in caught.traceback if "page.md" in str(entry.path)] == [7]


def test_commands_of_a_session():
    assert list(commands("$ a \\\n> b\nout\n> quoted\n$ c\n")) == [("a \\\nb\n", "out\n> quoted\n"), ("c\n", "")]


def test_the_head_of_a_page(tmp_path):
    (tmp_path / "page.md").write_text("---\ndevices: 4\n---\n# Title\n")
    (tmp_path / "plain.md").write_text("# Title\n\n---\n")
    assert (head(tmp_path / "page.md"), head(tmp_path / "plain.md")) == ({"devices": 4}, {})
