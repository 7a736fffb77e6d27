"""Functions of a view, or of a bundle, as functions of what they use of it: each attribute is an argument.

    def force(s):                                     def force(torque, stiffness, angle):
        s.torque[0] = -s.stiffness * s.angle              torque[0] = -stiffness * angle

``s.past.append(t, …)``, where ``s.past`` is a bundle, calls the method with the arguments that it consists
of. Helpers that are given a view or a bundle are flattened, too. Whatever else reads a function (rules,
effects, kinks, machine code, plain Python) reads the flat one, with the lines of the author's file.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable
from typing import Any

from cosim_compiler.errors import ContractError
from cosim_compiler.names_at_rest import names_at_rest
from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.attribute_uses import AttributeUses
from cosim_compiler.sources.cached_flat_function import restore_code, restore_free_names, to_json
from cosim_compiler.sources.flat_tree import FlatTree
from cosim_compiler.sources.kept_reading import KeptReading
from cosim_compiler.sources.kernel_source import FLAT, one_tree_at_a_time, parse, where
from cosim_compiler.sources.tree_walk import tree_nodes
from cosim_compiler.sources.views import Flat, Given, ViewAttributes, fields_of, flat_form, is_bundle


def flattened(function: Callable[..., Any], **given: type) -> Any:
    """A function of bundles as one of their fields; functions that are flattened may still pass it a bundle.

    Parameters
    ----------
    function : function
    **given : type
        Arguments that are bundles, with their classes.
    """
    assert isinstance(function, types.FunctionType)
    with names_at_rest():
        return flatten(function, tuple(given.items()))


def flat_method(cls: type, name: str) -> Any:
    """A method or a property of a bundle as a function of its fields."""
    member: Any = vars(cls)[name]
    method: Any = member.fget if isinstance(member, property) else member
    return flattened(method, self=cls)


_flat_functions: dict[tuple[types.FunctionType, Given], types.FunctionType] = {}


@functools.cache
def flatten(function: types.FunctionType, given: Given = (), key: str = "") -> types.FunctionType:
    """The function with each of these arguments written out.

    Parameters
    ----------
    function : function
    given : Given
    key : str
        Of its fact (`KeptReading`), where that of a function that calls it says so.

    Raises
    ------
    ContractError
        What cannot be written out, one fault a line.
    """
    if any(isinstance(kind, ViewAttributes) for _, kind in given):
        mentioned = {name for reached in _in_reach(function) for name in reached.__code__.co_names}
        given = tuple((n, k.only(mentioned) if isinstance(k, ViewAttributes) else k) for n, k in given)
    return _flatten(function, given, key)


@functools.cache
def is_flat(function: types.FunctionType) -> bool:
    """Whether neither the function nor a helper mentions a bundle."""
    return not any(
        is_bundle(value) for reached in _in_reach(function) for value in environment(reached).values()
    )


def _in_reach(function: types.FunctionType) -> list[types.FunctionType]:
    """A function and its helpers, without what is flat already."""
    reached = [function]
    for member in reached:
        helpers = (value for value in environment(member).values() if isinstance(value, types.FunctionType))
        reached += [h for h in dict.fromkeys(helpers) if h not in reached and flat_form(h) is None]
    return reached


def _flatten(function: types.FunctionType, given: Given, key: str) -> types.FunctionType:
    flat_function = _flat_functions.get((function, given))
    if flat_function is None:
        reading = KeptReading.of_key(function, key) if key else KeptReading(function, given, "flat")
        if reading.fact is None:
            flat_function, free, _ = _written_out(function, given, reading.key)
            reading.remember(to_json(flat_function, free, flatten))
        else:
            flat_function = _kept_function(reading.fact, function, given, reading.key)
        _flat_functions[function, given] = flat_function
    return flat_function


def _kept_function(
    fact: dict[str, Any], author: types.FunctionType, given: Given, key: str
) -> types.FunctionType:
    """A flat function that an earlier process has made."""
    code = restore_code(fact, author)

    def make_tree() -> ast.FunctionDef:
        flat, _, tree = _written_out(author, given, key)
        if flat.__code__ != code:
            raise ContractError(
                f"{where(author)}: a function that it calls was replaced after the class was made: make the "
                "class anew"
            )
        return tree

    flat = Flat(
        author,
        make_tree,
        given,
        fact["arguments"],
        fact["fields"],
        frozenset(fact["results"]),
        fact["lines"],
        fact["renamed"],
        key,
    )
    return _function_of(code, author, restore_free_names(fact, author, given, flatten), flat)


def _written_out(
    function: types.FunctionType, given: Given, key: str
) -> tuple[types.FunctionType, dict[str, Any], ast.FunctionDef]:
    """The flat function, what those of its names stand for that are not the author's, and its definition."""
    uses = AttributeUses(function, given, _called_flat)
    flat = FlatTree(uses, _called_flat)
    tree = flat.made()
    faults = [f"{where(function, line)}: {text}" for line, text in sorted(dict.fromkeys(flat.faults))]
    if faults or uses.faults:
        raise ContractError("\n".join(dict.fromkeys([*faults, *uses.faults])))
    fields = _fields_used(uses, tree)
    names = dict(uses.arguments)
    for name, used in fields.items():
        pairs = zip(fields_of(dict(given)[name]), names[name], strict=True)  # type: ignore[arg-type]
        names[name] = [argument for field, argument in pairs if field in used]
    tree.args.args = _arguments(tree, names, uses.others)
    renamed = {new: name for name, new in flat.renamed.items()}
    results = frozenset(uses.results)
    form = Flat(function, lambda: tree, given, names, fields, results, uses.lines, renamed, key)
    return _function_of(_code_of(tree, function, flat.free), function, flat.free, form), flat.free, tree


def _called_flat(function: types.FunctionType, given: Given) -> types.FunctionType:
    """The function that is called in place of a helper with these arguments."""
    return function if not given and is_flat(function) else flatten(function, given)


def _fields_used(uses: AttributeUses, tree: ast.FunctionDef) -> dict[str, list[str]]:
    """The fields of bundles that the flat function mentions; only they are arguments of it."""
    used = {
        node.id for statement in tree.body for node in tree_nodes(statement) if isinstance(node, ast.Name)
    }
    fields = {}
    for name, kind in uses.given:
        if not isinstance(kind, ViewAttributes):
            pairs = zip(fields_of(kind), uses.arguments[name], strict=True)
            fields[name] = [field for field, argument in pairs if argument in used]
    return fields


def _arguments(tree: ast.FunctionDef, names: dict[str, list[str]], others: list[str]) -> list[ast.arg]:
    """The arguments of the flat function, each once."""
    arguments: list[ast.arg] = []
    for argument in tree.args.args:
        names_taken = {a.arg for a in arguments} | (set(others) - {argument.arg})
        for name in names.get(argument.arg, [argument.arg]):
            if name not in names_taken:
                arguments.append(ast.copy_location(ast.arg(name), argument))
    return arguments


def _code_of(tree: ast.FunctionDef, author: types.FunctionType, free: dict[str, Any]) -> types.CodeType:
    """The code of a tree, compiled inside a function that has the names of the author's and `free`."""
    names = dict.fromkeys([*author.__code__.co_freevars, *free])
    around = parse(f"def around({', '.join(names)}): pass")
    outer = around.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [tree]
    ast.fix_missing_locations(around)
    with one_tree_at_a_time:
        module = compile(around, author.__code__.co_filename, "exec", dont_inherit=True)
    code = _code_in(_code_in(module, "around"), author.__name__)
    return code.replace(co_qualname=author.__qualname__)


def _function_of(
    code: types.CodeType, author: types.FunctionType, free: dict[str, Any], form: Flat
) -> types.FunctionType:
    """The function of code: its free names are those of the author's function, and `free` by name."""
    cells = dict(zip(author.__code__.co_freevars, author.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in free.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    flat = types.FunctionType(code, author.__globals__, author.__name__, author.__defaults__, closure)
    flat.__qualname__, flat.__doc__, flat.__module__ = (
        author.__qualname__,
        author.__doc__,
        author.__module__,
    )
    flat.__dict__[FLAT] = form
    return flat


def _code_in(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
