"""Functions of a view, or of a bundle, as functions of what they use of it: each attribute is an argument.

    def force(s):                                     def force(torque, stiffness, angle):
        s.torque[0] = -s.stiffness * s.angle              torque[0] = -stiffness * angle

A *view* stands for all that a function may ask for; its attributes are arguments. A *bundle* is a named tuple
of arguments with methods (``is_bundle = True`` in its class): ``s.past.append(t, …)`` calls the method with
the arguments that ``s.past`` consists of. Helpers that are given one of them are flattened, too. Whatever else
reads a function (rules, effects, kinks, machine code, plain Python) reads the flat one, with the lines of the
author's file.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import environment
from cosim_compiler.nearest import nearest
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_source import FLAT, bound_names, definition_of, names_of_file, where
from cosim_compiler.sources.recursion import is_recursive


@dataclass(frozen=True)
class View:
    """What the attributes of a view stand for.

    Attributes
    ----------
    numbers : frozenset of str
        Those that are one number: ``s.x = …`` sets it, where it is a result.
    bundles : tuple of (str, type, tuple of str)
        Those that stand for several arguments: the name, the class, the arguments.
    names : frozenset of str
        All that there are.
    """

    numbers: frozenset[str]
    bundles: tuple[tuple[str, type, tuple[str, ...]], ...] = ()
    names: frozenset[str] = field(default=frozenset(), compare=False)

    def bundle(self, name: str) -> tuple[type, tuple[str, ...]] | None:
        """The class and the arguments that an attribute stands for, where it is a bundle."""
        return next(((cls, names) for known, cls, names in self.bundles if known == name), None)

    def only(self, mentioned: set[str]) -> View:
        """The same for functions that mention these names alone."""
        bundles = tuple(bundle for bundle in self.bundles if bundle[0] in mentioned)
        return replace(self, numbers=self.numbers & mentioned, bundles=bundles)


Kind = View | type
Given = tuple[tuple[str, Kind], ...]
"""Arguments of a function that are written out, with what they stand for."""


@dataclass(frozen=True)
class Flat:
    """How a function was flattened.

    Attributes
    ----------
    author : function
        As it was written.
    tree : ast.FunctionDef
        The definition of the flat one.
    given : Given
    arguments : dict of str to list of str
        What each argument in `given` has become: attributes of views in the order in which they are met, and
        the fields of bundles that are used.
    fields : dict of str to list of str
        Those of each argument that is a bundle.
    results : frozenset of str
        Numbers of a view that arrive as views of one element, since they are set.
    lines : dict of str to int
        Where an attribute of a view is met first.
    renamed : dict of str to str
        What the author calls local names that have another one here.
    """

    author: types.FunctionType
    tree: ast.FunctionDef
    given: Given
    arguments: dict[str, list[str]]
    fields: dict[str, list[str]]
    results: frozenset[str]
    lines: dict[str, int]
    renamed: dict[str, str]


def is_bundle(value: Any) -> bool:
    """Whether it is a class of named tuples whose methods are called with their fields."""
    return isinstance(value, type) and issubclass(value, tuple) and getattr(value, "is_bundle", False) is True


def flattened(function: Callable[..., Any], **given: type) -> Any:
    """A function of bundles as one of their fields; who is flattened may still call it with a bundle.

    Parameters
    ----------
    function : function
    **given : type
        Arguments that are bundles, with their classes.
    """
    return flatten(_plain(function), tuple(given.items()))


def flat_method(cls: type, name: str) -> Any:
    """A method of a bundle as a function of its fields."""
    return flatten(_plain(vars(cls)[name]), (("self", cls),))


def _plain(function: Any) -> types.FunctionType:
    found: types.FunctionType = function.fget if isinstance(function, property) else function
    return found


def flatten(function: types.FunctionType, given: Given = ()) -> types.FunctionType:
    """The function with each of these arguments written out.

    Raises
    ------
    ContractError
        What cannot be written out, one fault a line.
    """
    mentioned = _names_in_reach(function)
    return _flatten(
        function, tuple((n, k.only(mentioned) if isinstance(k, View) else k) for n, k in given)
    )


@functools.cache
def is_flat(function: types.FunctionType) -> bool:
    """Whether neither the function nor a helper mentions a bundle."""
    if FLAT in function.__dict__ or is_recursive(function):
        return True
    values = environment(function).values()
    helpers = (value for value in values if isinstance(value, types.FunctionType))
    return not any(map(is_bundle, values)) and all(map(is_flat, helpers))


def attributes_of(function: types.FunctionType, name: str) -> list[str]:
    """The attributes of an argument that a function mentions itself."""
    nodes = (node for node in ast.walk(definition_of(function)) if isinstance(node, ast.Attribute))
    return [node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == name]


def is_view(function: types.FunctionType, name: str) -> bool:
    """Whether a function asks an argument for attributes, itself or in a helper."""
    if attributes_of(function, name):
        return True
    helpers = environment(function)
    for node in ast.walk(definition_of(function)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        handed = [i for i, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id == name]
        helper = helpers.get(node.func.id)
        if isinstance(helper, types.FunctionType) and FLAT not in helper.__dict__ and not is_recursive(helper):
            parameters = [a.arg for a in definition_of(helper).args.args]
            if any(is_view(helper, parameters[i]) for i in handed if i < len(parameters)):
                return True
        elif handed and _is_further_down(function, node.func.id):
            return True
    return False


def _is_further_down(function: types.FunctionType, name: str) -> bool:
    """Whether the file of a function gives a name its value after the function."""
    return name not in environment(function) and name in names_of_file(function)


@functools.cache
def _flatten(function: types.FunctionType, given: Given) -> types.FunctionType:
    return _Flattening(function, given).made()


def _names_in_reach(function: types.FunctionType) -> set[str]:
    """Names that a function and its helpers mention."""
    found: set[str] = set()
    left, seen = [function], {function}
    while left:
        one = left.pop()
        found.update(one.__code__.co_names)
        helpers = [h for h in environment(one).values() if isinstance(h, types.FunctionType)]
        left += [helper for helper in helpers if helper not in seen]
        seen.update(helpers)
    return found


class _Flattening(ast.NodeTransformer):
    """One function while it is flattened."""

    def __init__(self, function: types.FunctionType, given: Given) -> None:
        self.function, self.given = function, given
        self.tree = copy.deepcopy(definition_of(function))
        self.helpers = environment(function)
        self.faults: list[tuple[int, str]] = []
        self.faults_of_helpers: list[str] = []
        self.views = {name: kind for name, kind in given if isinstance(kind, View)}
        self.bundles: dict[str, tuple[type, list[ast.expr]]] = {}
        self.arguments: dict[str, list[str]] = {}
        self.lines: dict[str, int] = {}
        self.results: set[str] = set()
        self.free: dict[str, Any] = {}
        self.others = [a.arg for a in self.tree.args.args if a.arg not in dict(given)]
        self.local = bound_names(self.tree) | set(self.others)
        self.mentioned = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        self._write_out_bundles()
        self._meet_attributes()
        self.renamed = self._renamed()

    def made(self) -> types.FunctionType:
        """The flat function."""
        self.tree.body = [self.visit(statement) for statement in self.tree.body]
        ordered = sorted(dict.fromkeys(self.faults))
        faults = [f"{where(self.function, line)}: {text}" for line, text in ordered] + self.faults_of_helpers
        if faults:
            raise ContractError("\n".join(dict.fromkeys(faults)))
        fields = self._fields_used()
        arguments: list[ast.arg] = []
        for argument in self.tree.args.args:
            names = self.arguments.get(argument.arg, [argument.arg])
            taken = {a.arg for a in arguments} | (set(self.others) - {argument.arg})
            arguments += [
                ast.copy_location(ast.arg(name), argument) for name in names if name not in taken
            ]
        self.tree.args.args, self.tree.returns = arguments, None
        made = self._compiled()
        results = frozenset(self.results)
        made.__dict__[FLAT] = Flat(
            self.function,
            self.tree,
            self.given,
            self.arguments,
            fields,
            results,
            self.lines,
            {new: name for name, new in self.renamed.items()},
        )
        return made

    def _fields_used(self) -> dict[str, list[str]]:
        """The fields of bundles that the flat function mentions; only they are arguments of it."""
        used = {node.id for one in self.tree.body for node in ast.walk(one) if isinstance(node, ast.Name)}
        found = {}
        for name, kind in self.given:
            if not isinstance(kind, View):
                pairs = zip(kind._fields, self.arguments[name], strict=True)  # type: ignore[attr-defined]
                chosen = [(field, argument) for field, argument in pairs if argument in used]
                found[name] = [field for field, _ in chosen]
                self.arguments[name] = [argument for _, argument in chosen]
        return found

    def _compiled(self) -> types.FunctionType:
        """The function of the tree: what it takes from outside is as in the author's, or a name of ours."""
        author = self.function
        cells = dict(zip(author.__code__.co_freevars, author.__closure__ or (), strict=True))
        cells |= {name: types.CellType(value) for name, value in self.free.items()}
        around = ast.parse(f"def around({', '.join(cells)}): pass")
        outer = around.body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = [self.tree]
        ast.fix_missing_locations(around)
        module = compile(around, author.__code__.co_filename, "exec", dont_inherit=True)
        code = _code_in(_code_in(module, "around"), author.__name__)
        code = code.replace(co_qualname=author.__qualname__)
        closure = tuple(cells[name] for name in code.co_freevars)
        made = types.FunctionType(code, author.__globals__, author.__name__, author.__defaults__, closure)
        made.__qualname__, made.__doc__, made.__module__ = (
            author.__qualname__,
            author.__doc__,
            author.__module__,
        )
        return made

    # what is written out

    def _write_out_bundles(self) -> None:
        """The bundles among the arguments, and the names that are given one."""
        for name, kind in self.given:
            if not isinstance(kind, View):
                fields = [f if name == "self" else f"{name}_{f}" for f in kind._fields]  # type: ignore[attr-defined]
                self.arguments[name] = fields
                self.bundles[name] = kind, [_Part(f, ast.Load()) for f in fields]
        stores = [n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, bundle = node.targets[0].id, self._bundle(node.value)
                if bundle is not None and len(node.targets) == 1 and stores.count(name) == 1:
                    self.bundles[name] = bundle

    def _meet_attributes(self) -> None:
        """The attributes of views, where each is met first, and which of the numbers are set."""
        met: dict[str, dict[str, tuple[int, int, int]]] = {name: {} for name in self.views}

        def meet(view: str, names: Iterable[str], node: ast.expr) -> None:
            for i, name in enumerate(names):
                here = (node.lineno, node.col_offset, i)
                met[view][name] = min(here, met[view].get(name, here))

        for node in ast.walk(self.tree):
            if (attribute := self._attribute(node)) is not None:
                view, name = attribute
                bundle = self.views[view].bundle(name)
                meet(view, (name,) if bundle is None else bundle[1], node)  # type: ignore[arg-type]
                if name in self.views[view].numbers and isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
                    self.results.add(name)
            elif isinstance(node, ast.Subscript) and (attribute := self._attribute(node.value)) is not None:
                self.results |= {attribute[1]} & self.views[attribute[0]].numbers
            elif isinstance(node, ast.Call) and (called := self._called(node)) is not None:
                for parameter, argument in called.given:
                    self._hand_over(called, parameter, argument, meet)
        for view, places in met.items():
            ordered = sorted(places, key=places.__getitem__)
            self.arguments[view] = ordered
            self.lines.update({name: places[name][0] for name in ordered})

    def _hand_over(
        self, called: _Called, parameter: str, argument: ast.expr, meet: Callable[..., None]
    ) -> None:
        """What a helper does with an argument that is a view, or one of its numbers."""
        attribute = self._attribute(argument)
        if isinstance(argument, ast.Name) and argument.id in self.views:
            flat = self._flat(called)
            if flat is not None:
                meet(argument.id, flat.arguments[parameter], argument)
                self.results |= flat.results & self.views[argument.id].numbers
        elif attribute is not None and attribute[1] in self.views[attribute[0]].numbers:
            if called.takes_view(parameter):
                self.results.add(attribute[1])

    def _flat(self, called: _Called) -> Flat | None:
        try:
            found: Flat = self._flat_function(called).__dict__[FLAT]
        except ContractError as error:
            self.faults_of_helpers += str(error).splitlines()
            return None
        return found

    def _flat_function(self, called: _Called) -> types.FunctionType:
        """The function that is called in place of the author's."""
        kinds: list[tuple[str, Kind]] = []
        for parameter, argument in called.given:
            if isinstance(argument, ast.Name) and argument.id in self.views:
                kinds.append((parameter, self.views[argument.id]))
            elif (bundle := self._bundle(argument)) is not None:
                kinds.append((parameter, bundle[0]))
        if not kinds and is_flat(called.function):
            return called.function
        return flatten(called.function, tuple(kinds))

    def _renamed(self) -> dict[str, str]:
        """Names of the author's that an argument has now: what they are called in the flat function."""
        arguments = {name for names in self.arguments.values() for name in names}
        found = {}
        for name in sorted((self.local | self.mentioned) & arguments - set(self.others)):
            found[name] = self._new_name(name)
        return found

    def _new_name(self, name: str) -> str:
        taken = {*self.mentioned, *self.local, *self.free, *(n for a in self.arguments.values() for n in a)}
        return next(new for i in range(1, 1 << 20) if (new := f"{name}_{i}") not in taken)

    # what nodes are

    def _attribute(self, node: ast.AST) -> tuple[str, str] | None:
        """View and attribute, where it is one."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.views:
            return node.value.id, node.attr
        return None

    def _bundle(self, node: ast.AST) -> tuple[type, list[ast.expr]] | None:
        """The class and the parts of a bundle, where it is one."""
        if isinstance(node, ast.Name):
            return None if isinstance(node, _Part) else self.bundles.get(node.id)
        if (attribute := self._attribute(node)) is not None:
            found = self.views[attribute[0]].bundle(attribute[1])
            return None if found is None else (found[0], [_Part(name, ast.Load()) for name in found[1]])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            cls = self.helpers.get(node.func.id)
            if is_bundle(cls) and len(node.args) == len(cls._fields):
                return cls, node.args
        return None

    def _called(self, node: ast.Call) -> _Called | None:
        """The call of a function whose source counts; of a method of a bundle, too."""
        function: Any = None
        arguments = list(node.args)
        if isinstance(node.func, ast.Name) and node.func.id not in self.local:
            function = self.helpers.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and (bundle := self._bundle(node.func.value)) is not None:
            function = vars(bundle[0]).get(node.func.attr)
            arguments.insert(0, node.func.value)
        if not isinstance(function, types.FunctionType) or is_recursive(function):
            return None
        flat: Flat | None = function.__dict__.get(FLAT)
        if flat is not None and any(self._bundle(argument) is not None for argument in arguments):
            function = flat.author  # in its own form
        starred = (self._parts_of_starred(argument) for argument in arguments)
        return _Called(node, function, [part for parts in starred for part in parts])

    def _parts_of_starred(self, argument: ast.expr) -> list[ast.expr]:
        """``*s.past`` as its parts; any other argument as it is."""
        bundle = self._bundle(argument.value) if isinstance(argument, ast.Starred) else None
        return [argument] if bundle is None else bundle[1]

    # the flat tree

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        attribute = self._attribute(node)
        if attribute is not None:
            view, name = attribute
            bundle = self.views[view].bundle(name)
            if bundle is not None:
                self._refuse(node, f"{_shown(node)} is {_a(bundle[0])}: call what it has: {_members(bundle[0])}")
                return node
            place = ast.copy_location(ast.Name(name, node.ctx), node)
            return self._first_element(place, node.ctx) if name in self.results else place
        bundle = self._bundle(node.value)  # type: ignore[assignment]
        if bundle is None:
            return self.generic_visit(node)
        cls, parts = bundle
        if node.attr in cls._fields:  # type: ignore[attr-defined]
            return self._part(parts[cls._fields.index(node.attr)], node)  # type: ignore[attr-defined]
        made = vars(cls).get(node.attr)
        if isinstance(made, property) and isinstance(made.fget, types.FunctionType):
            call = ast.copy_location(ast.Call(node, [], []), node)
            return self._call(_Called(call, made.fget, [node.value]))
        near = nearest(node.attr, [n for n in vars(cls) if not n.startswith("_")])
        hint = f"nearest: '{near}'" if near else f"it has {_members(cls)}"
        self._refuse(node, f"{_shown(node)}: {_a(cls)} has no '{node.attr}'; {hint}")
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802
        attribute = self._attribute(node.value)
        if attribute is not None and self.views[attribute[0]].bundle(attribute[1]) is None:
            node.value = ast.copy_location(ast.Name(attribute[1], ast.Load()), node.value)
            node.slice = self.visit(node.slice)
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        called = self._called(node)
        if called is None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            handed = [a.id for a in node.args if isinstance(a, ast.Name)]
            if name and _is_further_down(self.function, name) and not self.views.keys().isdisjoint(handed):
                self._refuse(node, f"'{name}' is defined further down; move it above the class")
                return node
            node.args = [part for argument in node.args for part in self._written_out(argument)]
            node.func = self.visit(node.func)
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
            return node
        return self._call(called)

    def _call(self, called: _Called) -> ast.AST:
        """The call of the flat function with what its arguments are written out to."""
        node = called.node
        try:
            function = self._flat_function(called)
        except ContractError as error:
            self.faults_of_helpers += str(error).splitlines()
            return node
        flat: Flat | None = function.__dict__.get(FLAT)
        arguments: list[ast.expr] = []
        for parameter, argument in called.given:
            attribute = self._attribute(argument)
            if isinstance(argument, ast.Name) and argument.id in self.views and flat is not None:
                names = [name for name in flat.arguments[parameter] if name not in called.parameters]
                arguments += [self._number(name, name in flat.results, argument) for name in names]
            elif attribute is not None and attribute[1] in self.results:
                arguments.append(self._number(attribute[1], called.takes_view(parameter), argument))
            elif (bundle := self._bundle(argument)) is not None and flat is not None:
                places = [bundle[0]._fields.index(name) for name in flat.fields[parameter]]  # type: ignore[attr-defined]
                arguments += [self._part(bundle[1][i], argument) for i in places]
            else:
                arguments += self._written_out(argument)
        arguments += [part for argument in called.more for part in self._written_out(argument)]
        if function is not called.function or not isinstance(node.func, ast.Name):
            node.func = ast.copy_location(ast.Name(self._name_of(function), ast.Load()), node.func)
        else:
            node.func = self.visit(node.func)
        node.args = arguments
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def _written_out(self, argument: ast.expr) -> list[ast.expr]:
        """An argument; the parts of a bundle, one by one."""
        bundle = self._bundle(argument.value if isinstance(argument, ast.Starred) else argument)
        return [self.visit(argument)] if bundle is None else [self._part(part, argument) for part in bundle[1]]

    def _part(self, part: ast.expr, at: ast.AST) -> ast.expr:
        """A part of a bundle, at this place of the source."""
        made: ast.expr = self.visit(copy.deepcopy(part))
        for node in ast.walk(made):
            ast.copy_location(node, at)
        return made

    def visit__Part(self, node: _Part) -> ast.AST:  # noqa: N802
        return ast.copy_location(ast.Name(node.id, node.ctx), node)

    def _number(self, name: str, as_view: bool, at: ast.expr) -> ast.expr:
        """A number of a view as an argument of a helper."""
        place = ast.copy_location(ast.Name(name, ast.Load()), at)
        if as_view or name not in self.results:
            return place
        return self._first_element(place, ast.Load())

    @staticmethod
    def _first_element(name: ast.Name, ctx: ast.expr_context) -> ast.expr:
        zero = ast.copy_location(ast.Constant(0), name)
        owner = ast.copy_location(ast.Name(name.id, ast.Load()), name)
        return ast.copy_location(ast.Subscript(owner, zero, ctx), name)

    def _name_of(self, function: types.FunctionType) -> str:
        """The name by which the flat function calls another one."""
        for name, value in self.free.items():
            if value is function:
                return name
        name = self._new_name(function.__name__)
        self.free[name] = function
        return name

    def visit_Assign(self, node: ast.Assign) -> ast.AST:  # noqa: N802
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.bundles:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        if node.id in self.views:
            names = self.arguments[node.id]
            shown = f"{node.id}.{names[0]}" if names else f"{node.id}.…"
            self._refuse(
                node,
                f"{node.id} stands for all that the function may ask for: write an attribute of it, {shown}, or "
                f"hand it to a plain function, helper({node.id})",
            )
        elif node.id in self.bundles:
            cls = self.bundles[node.id][0]
            self._refuse(node, f"{node.id} is {_a(cls)}: call what it has: {_members(cls)}")
        elif node.id not in self.local and isinstance(node.ctx, ast.Load):
            return self._global(node)
        return ast.copy_location(ast.Name(self.renamed.get(node.id, node.id), node.ctx), node)

    def _global(self, node: ast.Name) -> ast.AST:
        """What stands outside of the function under this name."""
        new = self.renamed.get(node.id)
        is_builtin = hasattr(builtins, node.id)
        if node.id not in self.helpers and not is_builtin:
            for name, view in self.views.items():
                if node.id in view.names:
                    self._refuse(node, f"'{node.id}' is an attribute of the view here: write {name}.{node.id}")
            return node
        if new is None:
            return node
        if is_builtin and node.id not in self.helpers:
            self._refuse(
                node,
                f"'{node.id}' is a function of Python, and something that the class declares: "
                "give the declaration another name",
            )
            return node
        self.free[new] = self.helpers[node.id]
        return ast.copy_location(ast.Name(new, ast.Load()), node)

    def _refuse(self, node: ast.expr, text: str) -> None:
        self.faults.append((node.lineno, text))


class _Part(ast.Name):
    """A name that is an argument of the flat function, whatever the author calls so."""


@dataclass(frozen=True)
class _Called:
    """The call of a function: the node, what is called, and the arguments in its order."""

    node: ast.Call
    function: types.FunctionType
    arguments: list[ast.expr]

    @property
    def parameters(self) -> list[str]:
        """Names of the arguments that it takes."""
        return [a.arg for a in definition_of(self.function).args.args]

    @property
    def given(self) -> list[tuple[str, ast.expr]]:
        """The arguments by the names of parameters."""
        return list(zip(self.parameters, self.arguments, strict=False))

    @property
    def more(self) -> list[ast.expr]:
        """Arguments beyond the parameters."""
        return self.arguments[len(self.parameters) :]

    def takes_view(self, parameter: str) -> bool:
        """Whether the function takes elements of an argument, so that it is given a view, not a number."""
        effects = effects_of(self.function)
        return parameter in effects.writes | effects.adds or parameter in effects.subscripts


def _code_in(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _shown(node: ast.expr) -> str:
    return ast.unparse(node)


def _a(cls: type) -> str:
    noun = cls.__name__.lower()
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _members(cls: type) -> str:
    """The methods and the properties of a bundle."""
    own = ((name, value) for name, value in vars(cls).items() if not name.startswith("_"))
    return ", ".join(
        f"{name}()" if isinstance(value, types.FunctionType) else name
        for name, value in own
        if isinstance(value, (types.FunctionType, property))
    )


def lines_of_attributes(function: types.FunctionType) -> dict[str, int]:
    """Where the author's function asks a view for each of its attributes first; empty where it has none."""
    flat: Flat | None = function.__dict__.get(FLAT)
    return {} if flat is None else flat.lines
