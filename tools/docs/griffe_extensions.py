"""Extensions of griffe, which reads the package's sources for the reference: functions created by calls, and docstrings
as Markdown.

In the source, `sin = _float_function("sin", ...)` is only an assignment. The imported module gives the signature and
the docstring of the function.
"""

import inspect
import sys
from typing import Any

import griffe
from docstring_markdown import as_markdown  # hooks.py has imported it already

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: griffe.ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: griffe.ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: griffe.ParameterKind.var_keyword,
}


class ObjectsMadeByCalls(griffe.Extension):
    """Replaces each assignment that creates a function by that function."""

    def on_module_members(self, *, mod: griffe.Module, **kwargs: Any) -> None:
        module = sys.modules.get(mod.path)
        if module is None:  # the public modules were imported, so modules with public functions are loaded
            return
        for name, member in list(mod.members.items()):
            if name.startswith("_") or member.is_alias or not member.is_attribute or member.has_docstring:
                continue
            value = getattr(module, name, None)
            if callable(value) and not isinstance(value, type) and value.__doc__:
                mod.set_member(name, _function(name, value, member))


class Docstrings(griffe.Extension):
    """Converts each docstring to Markdown."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def _function(name: str, value: Any, member: griffe.Object | griffe.Alias) -> griffe.Function:
    function = griffe.Function(name, parameters=_parameters(value), lineno=member.lineno, endlineno=member.endlineno)
    function.docstring = griffe.Docstring(inspect.cleandoc(value.__doc__), parent=function)
    return function


def _parameters(value: Any) -> griffe.Parameters:
    try:
        signature = inspect.signature(value)
    except ValueError:  # a function of an extension module without a signature
        return griffe.Parameters()
    return griffe.Parameters(
        *(
            griffe.Parameter(
                parameter.name,
                kind=KINDS[parameter.kind],
                default=None if parameter.default is inspect.Parameter.empty else repr(parameter.default),
            )
            for parameter in signature.parameters.values()
        )
    )
