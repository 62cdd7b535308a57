"""Every class of errors has a page: its first example raises it, its second one runs, and messages name the page."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors

# Names of JAX's for classes of ours, and classes whose messages have the whole explanation.
ALIASES = {"InconclusiveDimensionOperation": "InconclusiveDimensionError", "JaxRuntimeError": "ExecutionError"}
WITHOUT_PAGE = {"JAXTypeError", "JAXIndexError", "JaxprTypeError"}
NAMES = [name for name in errors.__all__ if isinstance(getattr(errors, name), type)]
# Its example needs processes that fail: tests/python/distributed/test_failing_processes.py.
OF_PROCESSES = {"DistributedError"}
CLASSES = [name for name in NAMES if name not in {*ALIASES, *WITHOUT_PAGE, *OF_PROCESSES}]
BLOCK = re.compile(r"^```python( no-run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(name):
    """(whether it fails, code) of the examples of a page."""
    return [(bool(failing), code) for failing, code in BLOCK.findall(errors.page(name))]


def run(code, name):
    # The example is a user's file, whose lines messages show.
    exec(compile(code, f"{name}.py", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("name", CLASSES)
def test_the_page_of_a_class(name):
    page = errors.page(name)
    assert page.startswith(f"# {name}\n")
    assert [failing for failing, _ in examples(name)] == [True, False]
    (_, failing), (_, mended) = examples(name)
    with pytest.raises(getattr(errors, name)) as caught:
        run(failing, name)
    assert caught.type is getattr(errors, name)
    assert str(caught.value).endswith(f"\nExplained by: python -m pycompiler.errors {name}")
    run(mended, name)


def test_every_class_that_is_raised_has_a_page():
    defined = {
        name
        for name, value in vars(sys.modules["pycompiler.core.errors"]).items()
        if isinstance(value, type) and value.__module__ == "pycompiler.core.errors"
    }
    # Errors of arguments that don't fit have the whole explanation in their message.
    whole = {"ExplainedError", "ArgumentError", "AxisError", "CallbackResultError", "ShardingTypeError"}
    assert defined - whole - WITHOUT_PAGE == {*CLASSES, *OF_PROCESSES}
    pages = Path(errors.__file__).parent / "pages"
    assert {path.stem for path in pages.iterdir()} == {*CLASSES, *OF_PROCESSES}
    assert (Path(__file__).parents[3] / "docs" / "errors").resolve() == pages.resolve()


def test_the_pointer_is_no_part_of_what_is_raised():
    error = errors.TracerBoolConversionError("no value")
    assert error.args == ("no value",)
    assert str(error) == "no value\nExplained by: python -m pycompiler.errors TracerBoolConversionError"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    kind = type("Mine", (errors.KeyReuseError,), {})
    assert str(kind("again")).endswith("pycompiler.errors KeyReuseError")


def test_pages_by_command():
    command = [sys.executable, "-m", "pycompiler.errors"]
    found = subprocess.run([*command, "KeyReuseError"], capture_output=True, text=True)
    assert found.stdout == errors.page("KeyReuseError")
    listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert [line.partition(":")[0] for line in listed] == NAMES
    unknown = subprocess.run([*command, "NoError"], capture_output=True, text=True)
    assert unknown.returncode == 2
    assert "there is no class 'NoError'" in unknown.stderr


def test_a_page_that_is_not_there():
    with pytest.raises(ValueError, match="there is no class 'page'; there are ConcretizationTypeError"):
        pc.errors.page("page")
    with pytest.raises(ValueError, match="there is no class 'JAXTypeError'"):
        pc.errors.page("JAXTypeError")


def test_names_of_jax():
    for name, own in ALIASES.items():
        assert getattr(errors, name) is getattr(errors, own)
        assert errors.page(name) == errors.page(own)
    theirs = {n: c for n, c in vars(jax.errors).items() if isinstance(c, type) and not n.startswith("_")}
    assert set(theirs) <= set(NAMES)
    # An error that a program catches by a class of jax's is caught by the class of the same name.
    for name, kind in theirs.items():
        for base in kind.__mro__[1:]:
            if base.__module__ == "builtins":
                assert issubclass(getattr(errors, name), base), (name, base)
            elif base.__name__ in theirs:
                assert issubclass(getattr(errors, name), getattr(errors, base.__name__)), (name, base)


def test_the_runtime_error_of_jax_is_that_of_a_failed_execution():
    (_, failing), _ = examples("JaxRuntimeError")
    with pytest.raises(errors.JaxRuntimeError):
        run(failing, "JaxRuntimeError")


def test_a_graph_that_is_called_with_other_types():
    from_vector = pc.make_jaxpr(pc.jit(pnp.sin))(pnp.ones(3))
    (equation,) = from_vector.graph.equations
    with pytest.raises(errors.JaxprTypeError, match=r"the graph takes \(f32\[3\]\), called with \(f32\[2\]\)"):
        pc.eval_shape(lambda x: equation.primitive.bind(x, **equation.params), pnp.ones(2))
