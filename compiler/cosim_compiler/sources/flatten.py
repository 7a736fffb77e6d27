"""Flattening: a function of a view or a bundle becomes a function of the attributes that it uses.

    def force(s):                                     def force(torque, stiffness, angle):
        s.torque[0] = -s.stiffness * s.angle              torque[0] = -stiffness * angle

If ``s.past`` is a bundle, ``s.past.append(t, …)`` calls the method with the arguments that the bundle stands
for. Helpers that are passed a view or a bundle are flattened, too. All other modules (rules, effects, kinks,
machine code, plain Python) read the flat function, which has the lines of the author's file.
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
from cosim_compiler.sources.views import Expanded, Flat, ViewAttributes, fields_of, flat_form, is_bundle


def flattened(function: Callable[..., Any], **bundles: type) -> Any:
    """A function of bundles as a function of their fields; flattened functions may still pass it a bundle.

    Parameters
    ----------
    function : function
    **bundles : type
        The class of each argument that is a bundle.
    """
    assert isinstance(function, types.FunctionType)
    with names_at_rest():
        return flatten(function, tuple(bundles.items()))


def flat_method(cls: type, name: str) -> Any:
    """A method or a property of a bundle as a function of its fields."""
    member: Any = vars(cls)[name]
    method: Any = member.fget if isinstance(member, property) else member
    return flattened(method, self=cls)


_flat_functions: dict[tuple[types.FunctionType, Expanded], types.FunctionType] = {}


@functools.cache
def flatten(function: types.FunctionType, expanded: Expanded = (), key: str = "") -> types.FunctionType:
    """The function with each of these arguments expanded.

    Parameters
    ----------
    function : function
    expanded : Expanded
    key : str
        The key under which it is stored (`KeptReading`), if that of a caller says so.

    Raises
    ------
    ContractError
        What cannot be expanded, one fault a line.
    """
    if any(isinstance(kind, ViewAttributes) for _, kind in expanded):
        mentioned = {name for reached in _in_reach(function) for name in reached.__code__.co_names}
        expanded = tuple(
            (name, kind.only(mentioned) if isinstance(kind, ViewAttributes) else kind)
            for name, kind in expanded
        )
    return _flatten(function, expanded, key)


@functools.cache
def is_flat(function: types.FunctionType) -> bool:
    """Whether neither a function nor a helper of it mentions a bundle."""
    return not any(
        is_bundle(value) for reached in _in_reach(function) for value in environment(reached).values()
    )


def _in_reach(function: types.FunctionType) -> list[types.FunctionType]:
    """A function and its helpers, without those that are flat already."""
    reached = [function]
    for member in reached:
        helpers = (value for value in environment(member).values() if isinstance(value, types.FunctionType))
        reached += [h for h in dict.fromkeys(helpers) if h not in reached and flat_form(h) is None]
    return reached


def _flatten(function: types.FunctionType, expanded: Expanded, key: str) -> types.FunctionType:
    flat_function = _flat_functions.get((function, expanded))
    if flat_function is None:
        reading = KeptReading.of_key(function, key) if key else KeptReading(function, expanded, "flat")
        if reading.fact is None:
            flat_function, free, _ = _expand(function, expanded, reading.key)
            reading.remember(to_json(flat_function, free, flatten))
        else:
            flat_function = _restored(reading.fact, function, expanded, reading.key)
        _flat_functions[function, expanded] = flat_function
    return flat_function


def _restored(
    fact: dict[str, Any], author: types.FunctionType, expanded: Expanded, key: str
) -> types.FunctionType:
    """A flat function from the fact that an earlier process has stored."""
    code = restore_code(fact, author)

    def make_tree() -> ast.FunctionDef:
        flat, _, tree = _expand(author, expanded, key)
        if flat.__code__ != code:
            raise ContractError(
                f"{where(author)}: a function that it calls was replaced after the class was made: make the "
                "class anew"
            )
        return tree

    flat = Flat(
        author=author,
        make_tree=make_tree,
        expanded=expanded,
        arguments=fact["arguments"],
        fields=fact["fields"],
        results=frozenset(fact["results"]),
        lines=fact["lines"],
        renamed=fact["renamed"],
        key=key,
    )
    return _function_of(code, author, restore_free_names(fact, author, expanded, flatten), flat)


def _expand(
    function: types.FunctionType, expanded: Expanded, key: str
) -> tuple[types.FunctionType, dict[str, Any], ast.FunctionDef]:
    """The flat function, the values of those of its names that are not the author's, and its definition."""
    uses = AttributeUses(function, expanded, _called_flat)
    flat = FlatTree(uses, _called_flat)
    tree = flat.flat_definition()
    faults = [f"{where(function, line)}: {text}" for line, text in sorted(dict.fromkeys(flat.faults))]
    if faults or uses.faults:
        raise ContractError("\n".join(dict.fromkeys([*faults, *uses.faults])))
    fields = _fields_used(uses, tree)
    names = dict(uses.arguments)
    for name, used in fields.items():
        pairs = zip(fields_of(dict(expanded)[name]), names[name], strict=True)  # type: ignore[arg-type]
        names[name] = [argument for field, argument in pairs if field in used]
    tree.args.args = _arguments(tree, names, uses.others)
    renamed = {new: name for name, new in flat.renamed.items()}
    results = frozenset(uses.results)
    form = Flat(function, lambda: tree, expanded, names, fields, results, uses.lines, renamed, key)
    return _function_of(_code_of(tree, function, flat.free), function, flat.free, form), flat.free, tree


def _called_flat(function: types.FunctionType, expanded: Expanded) -> types.FunctionType:
    """The function that a flat function calls in place of a helper, some of whose arguments are expanded."""
    return function if not expanded and is_flat(function) else flatten(function, expanded)


def _fields_used(uses: AttributeUses, tree: ast.FunctionDef) -> dict[str, list[str]]:
    """The fields of each bundle that the flat function mentions: only these become arguments."""
    used = {
        node.id for statement in tree.body for node in tree_nodes(statement) if isinstance(node, ast.Name)
    }
    fields = {}
    for name, kind in uses.expanded:
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
    """The code of a definition, compiled inside a function that has the author's free names and `free`."""
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
    """The function of this code, with the values of the author's free names and of `free`."""
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
    """The code of the function of this name that is defined in other code."""
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
