"""The attributes of views and bundles that a function uses, as found before it is flattened."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from cosim_compiler.errors import ContractError
from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.recursion import is_recursive
from cosim_compiler.sources.tree_walk import tree_nodes
from cosim_compiler.sources.views import Expanded, Flat, Kind, ViewAttributes, fields_of, flat_form, is_bundle

Flatten = Callable[[types.FunctionType, Expanded], types.FunctionType]


class Bundle(NamedTuple):
    """A bundle in the source of a function: its class, and an expression for each field."""

    cls: type
    parts: list[ast.expr]


class AttributeOfView(NamedTuple):
    """An attribute of a view in the source of a function."""

    view: str
    name: str


Node = TypeVar("Node", bound=ast.AST)


def copy_of(node: Node) -> Node:
    """A copy of a syntax tree."""
    copy = type(node).__new__(type(node))  # Python 3.13 warns of a call without the fields
    for name, value in vars(node).items():
        if isinstance(value, list):
            value = [copy_of(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST):
            value = copy_of(value)
        setattr(copy, name, value)
    return copy


class FlatArgument(ast.Name):
    """A name that means an argument of the flat function, even if the author has a variable of that name."""


@dataclass(frozen=True)
class Called:
    """The call of a function: the node, the function, and the arguments in the order of its parameters."""

    node: ast.Call
    function: types.FunctionType
    arguments: list[ast.expr]

    @property
    def parameters(self) -> list[str]:
        """The names of the function's parameters."""
        return [a.arg for a in definition_of(self.function).args.args]

    @property
    def by_parameter(self) -> list[tuple[str, ast.expr]]:
        """Each argument with the name of its parameter."""
        return list(zip(self.parameters, self.arguments, strict=False))

    @property
    def surplus(self) -> list[ast.expr]:
        """Arguments beyond the parameters."""
        return self.arguments[len(self.parameters) :]

    def takes_view(self, parameter: str) -> bool:
        """Whether the function reads elements of an argument, so that it needs a view, not a number."""
        effects = effects_of(self.function)
        return parameter in effects.writes | effects.adds or parameter in effects.subscripts


class AttributeUses:
    """The attributes of its views and bundles that one function uses.

    Parameters
    ----------
    function : function
    expanded : Expanded
        The arguments that are views or bundles.
    flatten : callable
        Returns the function that is called in place of a helper.

    Attributes
    ----------
    tree : ast.FunctionDef
        A copy of the definition, which may be changed.
    views : dict of str to ViewAttributes
    bundles : dict of str to Bundle
        By the name of an argument, or of a local name to which one is assigned.
    arguments : dict of str to list of str
        The arguments that stand for each expanded argument in the flat function.
    lines : dict of str to int
        The line of the first mention of each attribute of a view.
    results : set of str
        Numbers of views that the function sets.
    others : list of str
        The arguments that are not expanded.
    local, mentioned : set of str
        The names that the function assigns; all names in it.
    faults : list of str
        The faults of helpers, each with its place.
    """

    def __init__(self, function: types.FunctionType, expanded: Expanded, flatten: Flatten) -> None:
        self.function, self.expanded, self.flatten = function, expanded, flatten
        self.tree = copy_of(definition_of(function))
        self.nodes = list(tree_nodes(self.tree))
        self.helpers = environment(function)
        self.views = {name: kind for name, kind in expanded if isinstance(kind, ViewAttributes)}
        self.bundles: dict[str, Bundle] = {}
        self.arguments: dict[str, list[str]] = {}
        self.lines: dict[str, int] = {}
        self.results: set[str] = set()
        self.faults: list[str] = []
        self.others = [a.arg for a in self.tree.args.args if a.arg not in dict(expanded)]
        named = [node for node in self.nodes if isinstance(node, ast.Name)]
        self.stores = [node.id for node in named if isinstance(node.ctx, ast.Store)]
        self.local = {*self.stores, *self.others}
        self.mentioned = {node.id for node in named}
        for name, kind in expanded:
            if not isinstance(kind, ViewAttributes):
                self._add_argument_bundle(name, kind)
        self._find_named_bundles()
        self._find_attributes()

    # bundles

    def _add_argument_bundle(self, name: str, cls: type) -> None:
        """Add a bundle that is an argument; each of its fields becomes an argument."""
        fields = [field if name == "self" else f"{name}_{field}" for field in fields_of(cls)]
        self.arguments[name] = fields
        self.bundles[name] = Bundle(cls, [FlatArgument(field, ast.Load()) for field in fields])

    def _find_named_bundles(self) -> None:
        """Add the local names that are assigned once, and a bundle: ``past = s.past``."""
        stores = self.stores
        for node in self.nodes:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target, bundle = node.targets[0], self.bundle(node.value)
            if bundle is None or not isinstance(target, ast.Name) or stores.count(target.id) != 1:
                continue
            named = [part for part in bundle.parts if isinstance(part, ast.Name)]
            changed = [name for name in named if name.id in stores and not isinstance(name, FlatArgument)]
            if len(named) == len(bundle.parts) and not changed:
                self.bundles[target.id] = bundle

    def bundle(self, node: ast.AST) -> Bundle | None:
        """The bundle that an expression is; None of any other expression."""
        if isinstance(node, ast.Name):
            return None if isinstance(node, FlatArgument) else self.bundles.get(node.id)
        if (attribute := self.attribute(node)) is not None:
            of_view = self.views[attribute.view].bundle(attribute.name)
            if of_view is None:
                return None
            cls, names = of_view
            return Bundle(cls, [FlatArgument(name, ast.Load()) for name in names])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            helper = self.helpers.get(node.func.id)
            if isinstance(helper, type) and is_bundle(helper) and len(node.args) == len(fields_of(helper)):
                return Bundle(helper, node.args)
        return None

    # attributes

    def attribute(self, node: ast.AST) -> AttributeOfView | None:
        """The attribute of a view that an expression is; None of any other expression."""
        is_of_name = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_of_name and node.value.id in self.views:  # type: ignore[attr-defined]
            return AttributeOfView(node.value.id, node.attr)  # type: ignore[attr-defined]
        return None

    def number(self, node: ast.AST) -> str:
        """The name of the attribute that an expression is, if it is a number of a view; else empty."""
        attribute = self.attribute(node)
        is_number = attribute is not None and attribute.name in self.views[attribute.view].numbers
        return attribute.name if attribute is not None and is_number else ""

    def _find_attributes(self) -> None:
        """Find the attributes of views in the order of their first mention, and the numbers that are set."""
        mentions: dict[str, dict[str, tuple[int, int, int]]] = {name: {} for name in self.views}

        def add_mention(view: str, names: Iterable[str], line: int, column: int) -> None:
            for i, name in enumerate(names):
                place = line, column, i
                mentions[view][name] = min(place, mentions[view].get(name, place))

        for node in self.nodes:
            if isinstance(node, ast.Attribute) and (attribute := self.attribute(node)) is not None:
                of_view = self.views[attribute.view].bundle(attribute.name)
                names = (attribute.name,) if of_view is None else of_view[1]
                add_mention(attribute.view, names, node.lineno, node.col_offset)
                if isinstance(node.ctx, ast.Store):
                    self.results.add(self.number(node))
            elif isinstance(node, ast.Subscript):
                self.results.add(self.number(node.value))
            elif isinstance(node, ast.Call) and (called := self.called(node)) is not None:
                for parameter, argument in called.by_parameter:
                    if isinstance(argument, ast.Name) and argument.id in self.views:
                        names = self._used_by_helper(called, parameter, self.views[argument.id])
                        add_mention(argument.id, names, argument.lineno, argument.col_offset)
                    elif self.number(argument) and called.takes_view(parameter):
                        self.results.add(self.number(argument))
        self.results.discard("")
        for view, places in mentions.items():
            self.arguments[view] = sorted(places, key=places.__getitem__)
            self.lines.update({name: line for name, (line, _, _) in places.items()})

    def _used_by_helper(self, called: Called, parameter: str, view: ViewAttributes) -> tuple[str, ...]:
        """The attributes of a view that a helper uses; those that it sets are results here, too."""
        flat = self.flat(called)
        if flat is None:
            return ()
        self.results |= flat.results & view.numbers
        return tuple(flat.arguments[parameter])

    # calls

    def called(self, node: ast.Call) -> Called | None:
        """The call of a helper, or of a method of a bundle; None of any other call."""
        function: object = None
        arguments = list(node.args)
        if isinstance(node.func, ast.Name) and node.func.id not in self.local:
            function = self.helpers.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and (bundle := self.bundle(node.func.value)) is not None:
            function = vars(bundle.cls).get(node.func.attr)
            arguments.insert(0, node.func.value)
        if not isinstance(function, types.FunctionType) or is_recursive(function):
            return None
        flat = flat_form(function)
        if flat is not None and any(self.bundle(argument) is not None for argument in arguments):
            function = flat.author  # it is flattened for these arguments
        starred = (self._parts_of_starred(argument) for argument in arguments)
        return Called(node, function, [part for parts in starred for part in parts])

    def _parts_of_starred(self, argument: ast.expr) -> list[ast.expr]:
        """The parts of a starred bundle, ``*s.past``; any other argument alone."""
        bundle = self.bundle(argument.value) if isinstance(argument, ast.Starred) else None
        if bundle is None:
            return [argument]
        return [ast.copy_location(copy_of(part), argument) for part in bundle.parts]

    def function_of(self, called: Called) -> types.FunctionType | None:
        """The function that is called in place of the author's; None if it has a fault."""
        kinds: list[tuple[str, Kind]] = []
        for parameter, argument in called.by_parameter:
            if isinstance(argument, ast.Name) and argument.id in self.views:
                kinds.append((parameter, self.views[argument.id]))
            elif (bundle := self.bundle(argument)) is not None:
                kinds.append((parameter, bundle.cls))
        try:
            return self.flatten(called.function, tuple(kinds))
        except ContractError as error:
            self.faults += str(error).splitlines()
            return None

    def flat(self, called: Called) -> Flat | None:
        """How the function was made that is called in place of the author's; None if it is the author's."""
        function = self.function_of(called)
        return None if function is None else flat_form(function)
