"""A stored flat function names the functions that it calls by paths, which lead to the same objects again."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from cosim_compiler.sources.cached_flat_function import Origins
from cosim_compiler.sources.flatten import flatten
from cosim_compiler.sources.views import Expanded, ViewAttributes, bundle


@bundle
class Span(NamedTuple):
    """An interval of numbers."""

    start: float
    end: float

    @property
    def length(span):
        return span.end - span.start

    def moved(span, by):
        return span.start + by


def width(span):
    return span.length


def halved(number):
    return 0.5 * number


flat_width = flatten(width, (("span", Span),))


def author_function(span, number):
    return halved(number) + width(span) + flat_width(span.start, span.end)


def unreached(number):
    return number


IN_VIEW = ViewAttributes(frozenset(), (("span", Span, ("start", "end")),), frozenset({"span"}))


@pytest.mark.parametrize(
    ("expanded", "value", "path"),
    [
        ((), halved, ["name", "halved"]),
        ((), flat_width, ["name", "flat_width"]),
        ((("span", Span),), Span.moved, ["member", ["expanded", "span"], "moved"]),
        ((("span", Span),), vars(Span)["length"].fget, ["member", ["expanded", "span"], "length"]),
        ((("s", IN_VIEW),), Span.moved, ["member", ["bundle", "s", "span"], "moved"]),
        (
            (("span", Span),),
            flatten(Span.moved, (("span", Span),)),
            ["flat", ["member", ["expanded", "span"], "moved"], [["span", ["expanded", "span"]]], ""],
        ),
    ],
)
def test_a_path_leads_to_the_same_object(expanded: Expanded, value: Any, path: list[Any]) -> None:
    origins = Origins(author_function, expanded, flatten)
    found_path = origins.path_of(value)
    if path[0] == "flat":  # its key is a digest
        assert found_path is not None and found_path[:-1] == path[:-1]
    else:
        assert found_path == path
    assert origins.value(json.loads(json.dumps(found_path))) is value


def test_the_author_of_a_flat_function_with_a_name_has_a_path() -> None:
    origins = Origins(author_function, (), flatten)
    origins.names = {"flat_width": flat_width}
    assert origins.path_of(width) == ["author", "flat_width"]
    assert origins.value(["author", "flat_width"]) is width


def test_a_function_out_of_reach_has_no_path() -> None:
    assert Origins(author_function, (), flatten).path_of(unreached) is None
    with pytest.raises(ValueError, match="is not a path"):
        Origins(author_function, (), flatten).value(["elsewhere", "other"])
