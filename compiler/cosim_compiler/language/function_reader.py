"""Reading a kernel function: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
import types
from typing import NamedTuple

from cosim_compiler.calls import GATHERS
from cosim_compiler.language.constants import make_tuple
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.lifetimes import Lifetimes, lifetimes_of
from cosim_compiler.language.loops import LoopReader
from cosim_compiler.language.reading import Functions
from cosim_compiler.language.statements import Block
from cosim_compiler.language.tables import has_view
from cosim_compiler.language.typed_form import (
    Expression,
    Function,
    Variable,
    Zeros,
    walk,
)
from cosim_compiler.language.types import (
    NOTHING,
    Type,
    in_words,
)
from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import definition_of


class _StoredLifetimes(NamedTuple):
    """The lifetimes of a definition."""

    tree: ast.FunctionDef
    lifetimes: Lifetimes


_lifetimes: dict[types.CodeType, _StoredLifetimes] = {}


class Reader(LoopReader):
    """Reads one function for arguments of certain types.

    A type may grow after it was used: a whole number becomes a real at the end of a loop. Then the function
    is read once more, with the types that the first reading has found.

    Parameters
    ----------
    program : Functions
        Reads the functions that this one calls.
    function : Function
        The typed form, which is filled.
    argument_types : tuple of Type
    variables : dict of str to Type
        The types of local names that the reading before has found.
    result : Type or None
        The type of the result that the reading before has found.

    Attributes
    ----------
    widened : bool
        Whether a type grew after it was used.
    """

    def __init__(
        self,
        program: Functions,
        function: Function,
        argument_types: tuple[Type, ...],
        variables: dict[str, Type],
        result: Type | None,
    ) -> None:
        author = function.author
        self.program, self.function, self.author = program, function, author
        self.tree = definition_of(author)
        self.environment = environment(author)
        self.lifetimes = _lifetimes_of(author, self.tree)
        self.variables = dict(variables)
        self.result = result
        self.widened = False
        self.argument_types = argument_types
        self.name_count = 0
        self.caught = []

    def read(self) -> None:
        """Fill the typed form with parameters and body."""
        arguments, rest = self.tree.args.args, self.tree.args.vararg
        count = len(self.argument_types)
        if count < len(arguments) or (rest is None and count > len(arguments)):
            self.refuse(None, f"it has {len(arguments)} arguments, and is given {count}")
        for argument, type_ in zip(arguments, self.argument_types, strict=False):
            name = self.lifetimes.bound[id(argument)]
            self.function.parameters.append((name, type_))
            self._declare(name, type_, argument)
        gathered = () if rest is None else self._gathered(rest, self.argument_types[len(arguments) :])
        for unset in self.lifetimes.unset:
            self.refuse(
                unset, f"'{unset.id}' may have no value here: give it one before the branch or the loop"
            )
        self.function.body = (*gathered, *self.block(self.tree.body))
        if self.result is not None and not ends(self.function.body):
            self.refuse(
                self.tree.body[-1],
                f"the function may end here, and returns {in_words(self.result)} elsewhere: "
                "write return … here, too",
            )
        self.function.result = self.result or NOTHING
        if has_view(self.function.result) and any(
            isinstance(node, Zeros) for node in walk(*self.function.body)
        ):
            self.refuse(None, "its arrays end with it, so it returns no view: write into an argument")
        self.function.variables = self.variables

    def _gathered(self, rest: ast.arg, types_: tuple[Type, ...]) -> Block:
        """The assignment of the tuple ``*rest``; each of its items is a parameter of the typed form.

        The items have the names that `calls.gathering` gives them, else numbers.
        """
        names = [*self.author.__dict__.get(GATHERS, ())[: len(types_)]]
        names += map(str, range(len(names), len(types_)))
        parameters = [(f"{rest.arg}.{name}", type_) for name, type_ in zip(names, types_, strict=True)]
        self.function.parameters += parameters
        self.variables.update(parameters)
        values: list[Expression] = [Variable(type_, name) for name, type_ in parameters]
        return (self._set(self.lifetimes.bound[id(rest)], make_tuple(values), rest),)


def _lifetimes_of(function: types.FunctionType, tree: ast.FunctionDef) -> Lifetimes:
    stored = _lifetimes.get(function.__code__)
    if stored is None or stored.tree is not tree:
        stored = _lifetimes[function.__code__] = _StoredLifetimes(tree, lifetimes_of(tree))
    return stored.lifetimes
