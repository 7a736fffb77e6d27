"""The views among the names of a typed function: which elements of which argument each of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_values import value_of
from cosim_compiler.language.typed_form import Expression, Function
from cosim_compiler.language.types import View
from cosim_compiler.sources.kernel_source import definition_of

Elements = frozenset[int]
"""Elements of one argument, by their indices."""


@dataclass(frozen=True)
class ViewPart:
    """A view of some elements of a result.

    Attributes
    ----------
    result : str
        The argument whose elements they are.
    first, size : int or None
        Where the view begins in the argument, and how many elements it has; None if that is not known.
    columns : int
        Of a table; 0 for a view with one axis.
    """

    result: str
    first: int | None
    size: int | None
    columns: int = 0


def argument_views(function: Function, sizes: Mapping[str, int]) -> dict[str, ViewPart]:
    """The views among the arguments of a function, by the names of its parameters, each as a whole."""
    names = [argument.arg for argument in definition_of(function.author).args.args]
    views = {}
    for name, (variable, kind) in zip(names, function.parameters, strict=True):
        if name in sizes:
            columns = kind.shape[1] if isinstance(kind, View) and kind.axes == 2 and kind.shape else 0
            views[variable] = ViewPart(name, 0, sizes[name], columns)
    return views


class ViewFollower:
    """Finds which elements an expression shows or names, at one place of a function.

    Parameters
    ----------
    views : dict of str to ViewPart
        What the names of views show at this place.
    values : dict of str to number
        The names whose values are known at this place.
    sizes : mapping of str to int
        The length of each result.
    """

    def __init__(self, views: dict[str, ViewPart], values: dict[str, Any], sizes: Mapping[str, int]) -> None:
        self.views, self.values, self.sizes = views, values, sizes

    def value(self, node: Expression) -> Any:
        """The value of an expression; None if it is not known."""
        return value_of(node, self.values, self.length)

    def length(self, node: form.Length) -> int | None:
        """The length of a view along an axis; None if it is not known."""
        part = self.view_of(node.view)
        if part is None or part.size is None:
            return None
        if not part.columns:
            return part.size
        return part.columns if node.axis else part.size // part.columns

    def view_of(self, node: Expression) -> ViewPart | None:
        """The elements of a result that an expression shows; None if it is not a view of a result."""
        if isinstance(node, form.Variable):
            return self.views.get(node.name)
        if isinstance(node, form.Convert):
            return self.view_of(node.operand)
        if isinstance(node, form.Row):
            table, index = self.view_of(node.view), self.value(node.index)
            if table is None or not table.columns:
                return table
            is_known = table.first is not None and type(index) is int and index >= 0
            first = (table.first or 0) + index * table.columns if is_known else None
            return ViewPart(table.result, first, table.columns)
        if isinstance(node, form.Section):
            return self.section(node)
        if isinstance(node, form.RowsIn) and (whole_part := self.view_of(node.view)) is not None:
            return ViewPart(whole_part.result, None, None)
        if isinstance(node, form.AsTable) and (whole_part := self.view_of(node.view)) is not None:
            columns = self.value(node.columns)
            return ViewPart(
                whole_part.result, whole_part.first if columns else None, whole_part.size, columns or 0
            )
        return None

    def section(self, node: form.Section) -> ViewPart | None:
        """The elements that ``view[first:last]`` shows; their place is unknown unless `first` is known."""
        whole_part = self.view_of(node.view)
        if whole_part is None:
            return None
        first = 0 if node.first is None else self.value(node.first)
        last = whole_part.size if node.last is None else self.value(node.last)
        if whole_part.first is None or type(first) is not int or first < 0:
            return ViewPart(whole_part.result, None, None)
        size = last - first if type(last) is int and last >= 0 else None
        return ViewPart(whole_part.result, whole_part.first + first, size)

    def elements_at(self, part: ViewPart, indices: tuple[Any, ...]) -> Elements:
        """The element of the result that these indices of a view name; all elements if that is not known."""
        if part.first is not None and indices and all(type(index) is int for index in indices):
            offset: int | None = indices[-1]
            if len(indices) == 2:
                offset = (
                    indices[0] * part.columns + indices[1] if min(indices) >= 0 and part.columns else None
                )
            elif indices[0] < 0:
                offset = None if part.size is None else indices[0] + part.size
            if offset is not None:
                return frozenset({part.first + offset})
        return frozenset(range(self.sizes[part.result]))
