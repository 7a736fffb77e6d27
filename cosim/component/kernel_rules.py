"""The rules for kernel functions, read from their source when the class is made.

Also finds which arguments a function writes or adds to, through the helpers that it calls.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
from dataclasses import dataclass, field

from cosim.compiled.fingerprint import environment
from cosim.errors import ContractError

FORBIDDEN: dict[type[ast.AST], str] = {
    ast.List: "a list; small vectors are tuples: (x, y, z)",
    ast.ListComp: "a list comprehension; write a loop over results: for i in range(3): x[i] = …",
    ast.Dict: "a dict",
    ast.DictComp: "a dict comprehension",
    ast.Set: "a set",
    ast.SetComp: "a set comprehension",
    ast.GeneratorExp: "a generator; write a loop",
    ast.Lambda: "a lambda; write a module-level helper function",
    ast.Try: "try; test before you compute",
    ast.With: "with",
    ast.JoinedStr: "an f-string",
    ast.Yield: "yield",
    ast.Await: "await",
    ast.FunctionDef: "a nested function; write a module-level helper function",
    ast.Global: "global; a kernel function is pure",
    ast.Nonlocal: "nonlocal; a kernel function is pure",
}


@dataclass(frozen=True)
class Effects:
    """What a function does to its arguments.

    Attributes
    ----------
    arguments : tuple of str
    writes, adds : frozenset of str
        Arguments that it stores into by ``=``, by ``+=`` or ``-=``.
    rebinds : dict of str to int
        Arguments whose name it assigns, with the line.
    lines : dict of str to int
        Where it first stores into an argument.
    indices : dict of str to (int, int)
        The largest constant index of an argument, with the line.
    """

    arguments: tuple[str, ...]
    writes: frozenset[str]
    adds: frozenset[str]
    rebinds: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    indices: dict[str, tuple[int, int]] = field(default_factory=dict)


@functools.cache
def check_rules(function: types.FunctionType) -> None:
    """Check a kernel function and every helper that it reaches; `ContractError` names the line."""
    tree = _parse(function)
    helpers = environment(function)
    for node in ast.walk(ast.Module(tree.body, [])):
        _check_node(function, node, getattr(node, "lineno", 1), helpers)
    for helper in helpers.values():
        if isinstance(helper, types.FunctionType) and helper is not function:
            check_rules(helper)


@functools.cache
def effects_of(function: types.FunctionType) -> Effects:
    """Which arguments the function writes, adds to or assigns."""
    tree = _parse(function)
    arguments = tuple(a.arg for a in tree.args.args)
    writes: set[str] = set()
    adds: set[str] = set()
    rebinds: dict[str, int] = {}
    lines: dict[str, int] = {}
    indices: dict[str, tuple[int, int]] = {}
    helpers = environment(function)

    def note(names: set[str], target: ast.expr, line: int) -> None:
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and target.value.id in arguments
        ):
            names.add(target.value.id)
            lines.setdefault(target.value.id, line)
        elif isinstance(target, ast.Name) and target.id in arguments:
            rebinds.setdefault(target.id, line)
        elif isinstance(target, ast.Tuple):
            for element in target.elts:
                note(names, element, line)

    for node in ast.walk(ast.Module(tree.body, [])):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            name, index = node.value.id, _constant_index(node.slice)
            if name in arguments and index is not None and index > indices.get(name, (-1, 0))[0]:
                indices[name] = (index, line)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                note(writes, target, line)
        elif isinstance(node, ast.AugAssign):
            note(adds if isinstance(node.op, (ast.Add, ast.Sub)) else writes, node.target, line)
        elif isinstance(node, ast.For):
            note(writes, node.target, line)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = helpers.get(node.func.id)
            if isinstance(helper, types.FunctionType):
                inner = effects_of(helper)
                for name, argument in zip(inner.arguments, node.args, strict=False):
                    passed = argument.value if isinstance(argument, ast.Subscript) else argument
                    if isinstance(passed, ast.Name) and passed.id in arguments:
                        if name in inner.writes:
                            writes.add(passed.id)
                        if name in inner.adds:
                            adds.add(passed.id)
                        lines.setdefault(passed.id, line)
    return Effects(arguments, frozenset(writes), frozenset(adds), rebinds, lines, indices)


def _constant_index(index: ast.expr) -> int | None:
    """A constant index; a negative one counts as too large, since nothing counts from the end."""
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return index.value
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return 1 << 30 if isinstance(index.operand, ast.Constant) else None
    return None


@functools.cache
def returns_value(function: types.FunctionType) -> bool:
    """Whether the function returns something other than None."""
    tree = _parse(function)
    returned = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in returned)


@functools.cache
def returns_condition(function: types.FunctionType) -> bool:
    """Whether everything that the function returns is true or false."""
    tree = _parse(function)
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)

    def is_condition(value: ast.expr | None, depth: int = 0) -> bool:
        if isinstance(value, ast.BoolOp):
            return all(is_condition(v, depth) for v in value.values)
        if isinstance(value, ast.IfExp):
            return is_condition(value.body, depth) and is_condition(value.orelse, depth)
        if isinstance(value, ast.Name) and depth < 10:
            sources = assigned.get(value.id, [])
            return bool(sources) and all(is_condition(v, depth + 1) for v in sources)
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id == "bool"
        is_not = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
        is_constant = isinstance(value, ast.Constant) and isinstance(value.value, bool)
        return is_not or is_constant or isinstance(value, ast.Compare)

    returned = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return)]
    return bool(returned) and all(is_condition(value) for value in returned)


def where(function: types.FunctionType, line: int) -> str:
    """File, line and name for a message."""
    return f"{function.__code__.co_filename}:{line}: {function.__qualname__}"


@functools.cache
def _parse(function: types.FunctionType) -> ast.FunctionDef:
    """The definition of a function; its lines are those of the file."""
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError) as error:
        raise ContractError(
            f"{function.__qualname__}: its source cannot be read ({error}); kernel functions live in a file"
        ) from error
    found = _definitions("".join(lines)).get(function.__code__.co_firstlineno)
    if found is None:
        raise ContractError(f"{function.__qualname__}: a kernel function is made with def")
    return found


@functools.cache
def _definitions(source: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by the line at which each begins, decorators included."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in found}


def _check_node(function: types.FunctionType, node: ast.AST, line: int, helpers: dict[str, object]) -> None:
    if type(node) in FORBIDDEN:
        raise ContractError(f"{where(function, line)}: a kernel function cannot use {FORBIDDEN[type(node)]}")
    if isinstance(node, ast.Call) and node.keywords:
        raise ContractError(
            f"{where(function, line)}: a kernel function calls helpers with positional arguments only"
        )
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow):
        raise ContractError(
            f"{where(function, line)}: `**` differs between compiled and plain Python in the last bit; "
            "write x * x, or math.pow(x, y) for a real exponent"
        )
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = helpers.get(node.value.id)
        if isinstance(module, types.ModuleType) and module.__name__ != "math":
            advice = (
                "use math"
                if module.__name__ == "numpy"
                else f"import it by name: from {module.__name__} import {node.attr}"
            )
            raise ContractError(
                f"{where(function, line)}: {node.value.id}.{node.attr} cannot be compiled; {advice}"
            )
