"""The rules for kernel functions, checked in their source when the class is made."""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import random
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cosim_compiler import functions
from cosim_compiler.debugging import is_debugging, is_for_debugging
from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import is_replaced
from cosim_compiler.names_in_reach import environment
from cosim_compiler.nearest import nearest
from cosim_compiler.record import Record
from cosim_compiler.sources.assigned_names import names_without_value
from cosim_compiler.sources.clean_sources import is_known_clean, key_of, remember_clean
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import (
    assigned_in_class,
    authors_name,
    bound_names,
    definition_of,
    names_of_file,
    source_of,
    text_of,
    where,
)
from cosim_compiler.sources.own_arrays import faults_of_arrays
from cosim_compiler.sources.recursion import recursion_fault
from cosim_compiler.sources.remedies import (
    ADVICE,
    BUILTINS,
    FORBIDDEN,
    IN_MATH,
    METHODS,
    NO_METHODS,
    of_numpy,
)
from cosim_compiler.sources.tree_walk import tree_nodes

OF_CLOCKS = ("time", "datetime")
CLOCK = "a kernel function knows the time of the run alone: ask for t in its arguments"
RANDOM = "a kernel function is pure; random numbers come from a signal: signals.noise"
PURE = "a kernel function changes its results alone; what is to be remembered is a state: cosim.discrete()"


def check_rules(function: types.FunctionType) -> None:
    """Check a kernel function and every helper that it reaches.

    Raises
    ------
    ContractError
        Every fault, one a line, each with file and line.
    """
    faults = rule_faults(function)
    if faults:
        raise ContractError("\n".join(faults))


@functools.cache
def rule_faults(function: types.FunctionType, declared: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The faults of a function and its helpers, each with file and line, in order of lines."""
    if recursion := recursion_fault(function):
        return (recursion,)
    faults = _faults_without_helpers(function, declared)
    for helper in environment(function).values():
        if isinstance(helper, types.FunctionType) and helper is not function and not is_replaced(helper):
            faults += rule_faults(helper)
    return tuple(dict.fromkeys(faults))


def _faults_without_helpers(function: types.FunctionType, declared: frozenset[str]) -> list[str]:
    """Faults of the function itself; its source is checked once, not in each process."""
    source = source_of(function)
    key = key_of(function, declared, environment(function))
    if is_known_clean(source, key):
        return []
    faults = [
        (line, f"{where(function, line)}: {text}")
        for line, text in _FunctionRules(function, declared).faults()
    ]
    if not faults:
        remember_clean(source, key)
    return [text for _, text in sorted(dict.fromkeys(faults), key=lambda fault: fault[0])]


class _FunctionRules:
    """Checks one function; each method ``…_faults`` yields the faults of one kind of node."""

    def __init__(self, function: types.FunctionType, declared: frozenset[str]) -> None:
        self.function, self.declared = function, declared
        self.tree = definition_of(function)
        self.arguments = [a.arg for a in self.tree.args.args]
        variadic = [
            a.arg for a in (self.tree.args.vararg, self.tree.args.kwarg) if a is not None
        ]  # a fault of their own
        self.local = {*self.arguments, *variadic, *bound_names(self.tree)}
        self.globals = environment(function)

    def faults(self) -> Iterator[tuple[int, str]]:
        """Line and text of each fault."""
        yield from self._signature_faults()
        body = self.tree.body
        first = body[0] if body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            body = body[1:]  # the docstring
        for statement in body:
            yield from self._faults_below(statement)
        yield from faults_of_arrays(self.tree, self.globals)
        forbidden = _names_of_forbidden(self.tree)
        for line, name in names_without_value(body, self.arguments, self.local):
            if name in forbidden:
                continue
            shown = authors_name(self.function, name)
            yield line, f"'{shown}' may have no value here: give it one before the branch or the loop"

    def _signature_faults(self) -> Iterator[tuple[int, str]]:
        """Defaults, and arguments that are not plain."""
        signature = self.tree.args
        line = self.tree.lineno
        for argument, default in zip(reversed(signature.args), reversed(signature.defaults), strict=False):
            declaration = f"{argument.arg} = cosim.parameter(default={ast.unparse(default)})"
            remedy = f"write it into the class: {declaration}" if self.declared else "give it in each call"
            yield argument.lineno, f"the argument '{argument.arg}' has a default here; {remedy}"
        if signature.vararg or signature.kwarg or signature.kwonlyargs or signature.posonlyargs:
            yield line, "a kernel function has plain arguments: no *, ** or /"

    def _faults_below(self, node: ast.AST, raised: bool = False) -> Iterator[tuple[int, str]]:
        """Faults of a node and of all below it; `raised`: it is part of a ``raise`` or an ``assert``."""
        if is_debugging() and is_for_debugging(node):
            return
        line = getattr(node, "lineno", self.tree.lineno)
        if type(node) in FORBIDDEN:
            yield line, f"a kernel function cannot use {FORBIDDEN[type(node)]}"
            return
        for text in self._node_faults(node, raised):
            yield line, text
        raised = raised or isinstance(node, (ast.Raise, ast.Assert))
        skipped = self._skipped(node)
        for child in ast.iter_child_nodes(node):
            if child is not skipped:
                yield from self._faults_below(child, raised)

    @staticmethod
    def _skipped(node: ast.AST) -> ast.AST | None:
        """The child of a node that is checked together with the node itself; None if there is none."""
        if isinstance(node, ast.Attribute) and isinstance(_root(node), ast.Name):
            return node.value
        if isinstance(node, ast.AnnAssign):
            return node.annotation
        return None

    def _node_faults(self, node: ast.AST, raised: bool) -> Iterator[str]:
        """Faults of a node itself."""
        if isinstance(node, ast.Call) and node.keywords:
            yield "a kernel function calls helpers with positional arguments only"
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow):
            yield (
                "`**` differs between compiled and plain Python in the last bit; "
                "write x * x, or math.pow(x, y) for a real exponent"
            )
        if isinstance(node, ast.Constant):
            yield from self._constant_faults(node, raised)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
            yield (
                "there is no `@`; write matmul(a, b, out), or dot(a, b) of vectors: "
                "from cosim.functions import matmul, dot"
            )
        if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store):
            shown = text_of(self.function, node)
            yield f"`{shown} = …` takes the rest of a tuple; give each item a name of its own"
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Constant):
            yield f"raise takes an exception: raise ValueError({node.exc.value!r})"
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript):
            yield from self._index_faults(node, node.value)
        if isinstance(node, ast.Attribute):
            yield from self._attribute_faults(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from self._name_faults(node.id, raised)
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                base = target.value if isinstance(target, ast.Subscript) else None
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                    target_text, shown = (
                        text_of(self.function, expression) for expression in (target, target.value)
                    )
                    yield f"{target_text} = … cannot be compiled; for i in range(…): {shown}[i] = …"
                if isinstance(base, ast.Name) and base.id not in self.local and base.id in self.globals:
                    yield f"'{base.id}' belongs to the module: {PURE}"

    def _index_faults(self, node: ast.Subscript, row: ast.Subscript) -> Iterator[str]:
        """``m[i][j]``: both indices of a table stand in one pair of brackets."""
        is_single_index = not isinstance(row.slice, (ast.Slice, ast.Tuple))
        is_argument = isinstance(row.value, ast.Name) and row.value.id in self.arguments
        if is_single_index and is_argument and self.declared:
            both = f"{ast.unparse(row.slice)}, {ast.unparse(node.slice)}"
            yield f"{text_of(self.function, node)}: write {text_of(self.function, row.value)}[{both}]"

    def _constant_faults(self, node: ast.Constant, raised: bool) -> Iterator[str]:
        """Text and complex numbers."""
        if isinstance(node.value, (str, bytes)) and not raised:
            yield (
                f"a kernel function cannot use text ({node.value!r}); "
                "an option with choices arrives as its place among them: 0 for the first"
            )
        if isinstance(node.value, complex):
            yield f"a kernel function computes with reals, not with {node.value}"

    def _attribute_faults(self, node: ast.Attribute) -> Iterator[str]:
        """Attributes: of modules, of objects of the module, of arguments."""
        shown = ast.unparse(node)
        base = _root(node)
        of_module = isinstance(base, ast.Name) and base.id not in self.local
        value = self.globals.get(base.id) if isinstance(base, ast.Name) and of_module else None
        hidden = None if of_module else self.function.__globals__.get(getattr(base, "id", ""))
        if isinstance(value, types.ModuleType):
            yield from self._module_faults(value, shown)
        elif isinstance(hidden, types.ModuleType) and getattr(base, "id", "") not in self.declared:
            name = getattr(base, "id", "")
            yield f"{shown}: {name} is a variable here, which hides the module: rename the variable"
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            return
        elif isinstance(base, ast.Name) and base.id == "self":
            yield f"{shown}: a kernel function has no self; ask for '{node.attr}' in its arguments"
        elif isinstance(base, ast.Name) and base.id not in self.local and value is not None:
            constant = _simple_attribute(value, node)
            if isinstance(constant, (int, float)):
                remedy = (
                    f"give it a name of the module, {node.attr.upper()} = {shown}, or declare a parameter"
                )
            elif callable(constant):
                remedy = "write a function of the module, and call it by its name"
            else:
                remedy = PURE
            yield f"{shown} belongs to an object of the module: {remedy}"
        elif isinstance(base, ast.Name) and base.id not in self.local:
            yield from self._name_faults(base.id, False)
        elif node.attr in ("shape", "ndim") and shown == f"{getattr(base, 'id', '')}.{node.attr}":
            return
        elif node.attr == "size":
            yield f"{text_of(self.function, node)} cannot be compiled; write len(…)"
        elif isinstance(base, ast.Call) or getattr(base, "id", "") in effects_of(self.function).records:
            return
        elif getattr(base, "id", "") not in _names_of_forbidden(self.tree):
            remedy = METHODS.get(node.attr, NO_METHODS)
            yield f"{text_of(self.function, node)} cannot be compiled; {remedy}"

    def _module_faults(self, module: types.ModuleType, shown: str) -> Iterator[str]:
        """Names of a module: only `math` has some that a kernel function may use."""
        *within, name = shown.split(".")[1:]
        if "random" in (module.__name__, *within):
            yield f"{shown}: {RANDOM}"
        elif module.__name__ in OF_CLOCKS:
            yield f"{shown}: {CLOCK}"
        elif module.__name__ != "math":
            value = getattr(module, name, None)
            if module.__name__ == "numpy":
                yield f"{shown} cannot be compiled; {of_numpy(name)}"
            elif isinstance(value, type):
                yield f"{shown} is a class; a kernel function computes with numbers, tuples and views"
            else:
                source = ".".join([module.__name__, *within])
                yield f"{shown} cannot be compiled; import it by name: from {source} import {name}"
        elif name not in IN_MATH:
            yield f"{shown} cannot be compiled{_nearest(name, IN_MATH, 'math.')}"

    def _name_faults(self, name: str, raised: bool) -> Iterator[str]:
        """A name that is read: local, of the module, a builtin, or nowhere defined."""
        if name in self.local or name in _names_of_forbidden(self.tree):
            return
        if name in self.globals:
            yield from self._global_faults(name, self.globals[name], raised)
        elif hasattr(builtins, name):
            is_exception = raised and isinstance(getattr(builtins, name), type)
            if name not in BUILTINS and not is_exception:
                yield f"a kernel function cannot use {ADVICE.get(name, f'{name}()')}"
        elif name == "self":
            yield "a kernel function has no self; ask for what it needs in its arguments"
        elif name in self.declared:
            yield f"'{name}' is not among the arguments: write it into the signature to be given it"
        elif name in self.function.__code__.co_freevars or name in names_of_file(self.function):
            yield f"'{name}' is defined further down; move it above the class"
        elif name in (assigned := assigned_in_class(self.function)):
            mutable = assigned[name][:1] in "[{" or "(" in assigned[name]
            declared = "cosim.discrete()" if mutable else f"cosim.parameter(default={assigned[name]})"
            yield (
                f"'{name}' belongs to the class, which a kernel function does not see: declare it, "
                f"{name} = {declared}, and ask for it in the arguments"
            )
        elif remedy := self._remedy_of_unknown(name):
            yield f"'{name}' is not defined; {remedy}"
        else:
            visible = [*self.local, *self.globals, *self.declared, *BUILTINS, *names_of_file(self.function)]
            yield f"'{name}' is not defined{_nearest(name, visible)}"

    def _remedy_of_unknown(self, name: str) -> str:
        """A hint for a name that is well known elsewhere; empty for others."""
        if name in IN_MATH:
            return f"write math.{name}"
        if name in functions.__all__:
            return f"from cosim.functions import {name}"
        if name in OF_CLOCKS:
            return CLOCK
        if name == "random":
            return RANDOM
        variable = name.removesuffix("_next")
        if variable != name and variable in self.declared:
            return f"'{variable}' changes in handlers (cosim.on, cosim.every), which ask for {name}"
        return ""

    def _global_faults(self, name: str, value: Any, raised: bool) -> Iterator[str]:
        """A name of the module whose value a kernel function cannot use."""
        owner = getattr(value, "__self__", None)
        if getattr(value, "__module__", None) in OF_CLOCKS:
            yield f"'{name}': {CLOCK}"
            return
        if isinstance(owner, (random.Random, np.random.RandomState, np.random.Generator)):
            yield f"'{name}': {RANDOM}"
            return
        if isinstance(value, (int, float, np.generic, types.FunctionType, types.ModuleType)):
            return
        if isinstance(value, type):
            if not (issubclass(value, (enum.Enum, Record)) or (raised and issubclass(value, BaseException))):
                yield f"'{name}' is a class; a kernel function computes with numbers, tuples and views"
        elif isinstance(value, tuple):
            if not _is_of_numbers(value):
                yield f"'{name}' is a tuple with more in it than numbers"
        elif isinstance(value, np.ndarray):
            if value.dtype.kind not in "fiub":
                yield f"'{name}' is an array of {value.dtype}, needs numbers"
        elif isinstance(value, (list, dict, set, str, bytes)) or value is None:
            remedy = f"; make it a tuple: {name} = (…)" if isinstance(value, list) else ""
            yield f"'{name}' is a {type(value).__name__}, which a kernel function cannot use{remedy}"
        elif isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
            if value.__name__ not in IN_MATH:
                yield f"math.{value.__name__} cannot be compiled{_nearest(value.__name__, IN_MATH, 'math.')}"
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            yield f"'{name}' was made by another compiler (numba?): write a plain function, no decorator"
        elif callable(getattr(value, "__wrapped__", None)):
            yield f"a decorator stands above '{name}': write it as a plain function, without the decorator"
        else:
            yield f"'{name}' is {_with_article(type(value).__name__)}, which cannot be compiled"


@functools.lru_cache(4)
def _names_of_forbidden(tree: ast.FunctionDef) -> frozenset[str]:
    """Names that a forbidden statement or expression assigns: these are no further faults."""
    names: set[str] = set()
    for node in tree_nodes(tree):
        if type(node) not in FORBIDDEN or node is tree:
            continue
        name_nodes = (inner for inner in tree_nodes(node) if isinstance(inner, ast.Name))
        names |= {name.id for name in name_nodes if isinstance(name.ctx, ast.Store)}
        names |= {inner.asname or inner.name for inner in tree_nodes(node) if isinstance(inner, ast.alias)}
        names |= {getattr(node, "name", "")}
    return frozenset(names)


def _root(node: ast.Attribute) -> ast.AST:
    """The name before the first of several dots: ``np`` of ``np.random.rand``."""
    base: ast.AST = node
    while isinstance(base, ast.Attribute):
        base = base.value
    return base


def _simple_attribute(value: Any, node: ast.Attribute) -> Any:
    """The value of an attribute of an object of the module; None if it is not a simple one."""
    return getattr(value, node.attr, None) if isinstance(node.value, ast.Name) else None


def _is_of_numbers(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_of_numbers, value))
    return isinstance(value, (int, float, np.generic))


def _nearest(name: str, names: Iterable[str], before: str = "") -> str:
    near = nearest(name, names)
    return f"; nearest: '{before}{near}'" if near else ""


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
