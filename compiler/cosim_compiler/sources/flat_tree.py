"""The definition of a flat function: names in place of attributes, and functions in place of methods."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from cosim_compiler.nearest import nearest
from cosim_compiler.sources.attribute_uses import AttributeUses, Called, FlatArgument, Flatten, copy_of
from cosim_compiler.sources.tree_walk import tree_nodes
from cosim_compiler.sources.views import fields_of, flat_form, is_further_down


class FlatTree(ast.NodeTransformer):
    """Turns the tree of a function into that of the flat function.

    Parameters
    ----------
    uses : AttributeUses
        The attributes that the function uses.
    flatten : callable
        Returns the function that is called in place of a helper.

    Attributes
    ----------
    faults : list of (int, str)
        Line and text of what cannot be expanded.
    free : dict of str to object
        The values of names that are not the author's.
    renamed : dict of str to str
        The new names of the author's variables that are called like an argument of the flat function.
    """

    def __init__(self, uses: AttributeUses, flatten: Flatten) -> None:
        self.uses, self.flatten = uses, flatten
        self.faults: list[tuple[int, str]] = []
        self.free: dict[str, Any] = {}
        self.attribute_names = {name for names in uses.arguments.values() for name in names}
        clashing = (uses.local | uses.mentioned) & self.attribute_names - set(uses.others)
        self.renamed: dict[str, str] = {}
        for name in sorted(clashing):
            self.renamed[name] = self._new_name(name)

    def flat_definition(self) -> ast.FunctionDef:
        """The definition with the flat body; its parameters are still the author's."""
        tree = self.uses.tree
        tree.body, tree.returns = [self.visit(statement) for statement in tree.body], None
        return tree

    def _new_name(self, name: str) -> str:
        used_names = {
            *self.uses.mentioned,
            *self.uses.local,
            *self.free,
            *self.attribute_names,
            *self.renamed.values(),
        }
        return next(new for i in range(1, 1 << 20) if (new := f"{name}_{i}") not in used_names)

    def _refuse(self, node: ast.expr, text: str) -> None:
        self.faults.append((node.lineno, text))

    # attributes

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        attribute, bundle = self.uses.attribute(node), self.uses.bundle(node)
        if bundle is not None:
            self._refuse(
                node,
                f"{ast.unparse(node)} is {_with_article(bundle.cls)}: "
                f"call what it has: {_members(bundle.cls)}",
            )
            return node
        if attribute is not None:
            place = ast.copy_location(ast.Name(attribute.name, node.ctx), node)
            return _first_element(place) if attribute.name in self.uses.results else place
        owner = self.uses.bundle(node.value)
        if owner is None:
            return self.generic_visit(node)
        cls, parts = owner
        if node.attr in fields_of(cls):
            return self._part(parts[fields_of(cls).index(node.attr)], node)
        member = vars(cls).get(node.attr)
        if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
            call = ast.copy_location(ast.Call(node, [], []), node)
            return self._call(Called(call, member.fget, [node.value]))
        near = nearest(node.attr, [name for name in vars(cls) if not name.startswith("_")])
        hint = f"nearest: '{near}'" if near else f"it has {_members(cls)}"
        self._refuse(node, f"{ast.unparse(node)}: {_with_article(cls)} has no '{node.attr}'; {hint}")
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802
        attribute = self.uses.attribute(node.value)
        if attribute is None or self.uses.bundle(node.value) is not None:
            return self.generic_visit(node)
        node.value = ast.copy_location(ast.Name(attribute.name, ast.Load()), node.value)
        node.slice = self.visit(node.slice)
        return node

    # calls

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        called = self.uses.called(node)
        if called is not None:
            return self._call(called)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        passed = {argument.id for argument in node.args if isinstance(argument, ast.Name)}
        if name and passed & self.uses.views.keys() and is_further_down(self.uses.function, name):
            self._refuse(node, f"'{name}' is defined further down; move it above the class")
            return node
        node.args = [part for argument in node.args for part in self._expanded(argument)]
        node.func = self.visit(node.func)
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def _call(self, called: Called) -> ast.AST:
        """The call of the flat function, with the arguments that stand for the expanded ones."""
        node, uses = called.node, self.uses
        function = uses.function_of(called)
        if function is None:
            return node
        flat = flat_form(function)
        arguments: list[ast.expr] = []
        for parameter, argument in called.by_parameter:
            bundle, number = uses.bundle(argument), uses.number(argument)
            if flat is not None and isinstance(argument, ast.Name) and argument.id in uses.views:
                names = [name for name in flat.arguments[parameter] if name not in called.parameters]
                arguments += [self._number(name, name in flat.results, argument) for name in names]
            elif flat is not None and bundle is not None:
                places = [fields_of(bundle.cls).index(name) for name in flat.fields[parameter]]
                arguments += [self._part(bundle.parts[i], argument) for i in places]
            elif number:
                arguments.append(self._number(number, called.takes_view(parameter), argument))
            else:
                arguments += self._expanded(argument)
        arguments += [part for argument in called.surplus for part in self._expanded(argument)]
        if function is called.function and isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        else:
            node.func = ast.copy_location(ast.Name(self._name_of(function), ast.Load()), node.func)
        node.args = arguments
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def _expanded(self, argument: ast.expr) -> list[ast.expr]:
        """The parts of an argument that is a bundle; any other argument alone."""
        bundle = self.uses.bundle(argument.value if isinstance(argument, ast.Starred) else argument)
        return (
            [self.visit(argument)]
            if bundle is None
            else [self._part(part, argument) for part in bundle.parts]
        )

    def _part(self, part: ast.expr, at: ast.AST) -> ast.expr:
        """A copy of a part of a bundle, which gets the place of a node in the source."""
        copied: ast.expr = self.visit(copy_of(part))
        for node in tree_nodes(copied):
            ast.copy_location(node, at)
        return copied

    def visit_FlatArgument(self, node: FlatArgument) -> ast.AST:  # noqa: N802
        return ast.copy_location(ast.Name(node.id, node.ctx), node)

    def _number(self, name: str, as_view: bool, at: ast.expr) -> ast.expr:
        """An attribute of a view as an argument of a helper: a view, or the number itself."""
        place = ast.copy_location(ast.Name(name, ast.Load()), at)
        return place if as_view or name not in self.uses.results else _first_element(place)

    def _name_of(self, function: types.FunctionType) -> str:
        """The name by which the flat function calls another one."""
        for name, value in self.free.items():
            if value is function:
                return name
        name = self._new_name(function.__name__)
        self.free[name] = function
        return name

    # names

    def visit_Assign(self, node: ast.Assign) -> ast.AST:  # noqa: N802
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.uses.bundles:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        if node.id in self.uses.views:
            shown = f"{node.id}.{next(iter(self.uses.arguments[node.id]), '…')}"
            self._refuse(
                node,
                f"{node.id} stands for all that the function may ask for: write an attribute of it, {shown}, "
                f"or hand it to a plain function, helper({node.id})",
            )
        elif node.id in self.uses.bundles:
            cls = self.uses.bundles[node.id][0]
            self._refuse(node, f"{node.id} is {_with_article(cls)}: call what it has: {_members(cls)}")
        elif node.id not in self.uses.local and isinstance(node.ctx, ast.Load):
            return self._global(node)
        return ast.copy_location(ast.Name(self.renamed.get(node.id, node.id), node.ctx), node)

    def _global(self, node: ast.Name) -> ast.AST:
        """A name of the module or of Python; its new name if an argument of the flat function has it."""
        is_known, is_builtin = node.id in self.uses.helpers, hasattr(builtins, node.id)
        if not is_known and not is_builtin:
            for name, view in self.uses.views.items():
                if node.id in view.names:
                    self._refuse(
                        node, f"'{node.id}' is an attribute of the view here: write {name}.{node.id}"
                    )
            return node
        new = self.renamed.get(node.id)
        if new is not None and is_known:
            self.free[new] = self.uses.helpers[node.id]
            return ast.copy_location(ast.Name(new, ast.Load()), node)
        if new is not None:
            self._refuse(
                node,
                f"'{node.id}' is a function of Python, and something that the class declares: "
                "give the declaration another name",
            )
        return node


def _first_element(name: ast.Name) -> ast.expr:
    """``x[0]`` in place of a number that is a result."""
    owner = ast.copy_location(ast.Name(name.id, ast.Load()), name)
    zero = ast.copy_location(ast.Constant(0), name)
    return ast.copy_location(ast.Subscript(owner, zero, name.ctx), name)


def _with_article(cls: type) -> str:
    noun = cls.__name__.lower()
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _members(cls: type) -> str:
    """The methods and the properties of a bundle."""
    public = ((name, value) for name, value in vars(cls).items() if not name.startswith("_"))
    return ", ".join(
        f"{name}()" if isinstance(value, types.FunctionType) else name
        for name, value in public
        if isinstance(value, (types.FunctionType, property))
    )
