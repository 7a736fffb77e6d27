"""Paths to what a flattened function calls: each form is found again as the very object."""

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


def author(span, number):
    return halved(number) + width(span) + flat_width(span.start, span.end)


def other(number):
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
def test_what_a_path_leads_to_is_the_object_itself(expanded: Expanded, value: Any, path: list[Any]) -> None:
    origins = Origins(author, expanded, flatten)
    found = origins.path_of(value)
    if path[0] == "flat":  # its key is a digest
        assert found is not None and found[:-1] == path[:-1]
    else:
        assert found == path
    assert origins.value(json.loads(json.dumps(found))) is value


def test_the_form_of_an_author_is_found_where_only_the_flat_one_has_a_name() -> None:
    origins = Origins(author, (), flatten)
    origins.names = {"flat_width": flat_width}
    assert origins.path_of(width) == ["author", "flat_width"]
    assert origins.value(["author", "flat_width"]) is width


def test_what_the_author_does_not_reach_has_no_path() -> None:
    assert Origins(author, (), flatten).path_of(other) is None
    with pytest.raises(ValueError, match="is not a path"):
        Origins(author, (), flatten).value(["elsewhere", "other"])
