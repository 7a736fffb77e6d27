"""Units that are not written down: which quantities have one to be found, and how they hang together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cosim.component.declaration import Declaration
from cosim.errors import ContractError, UnitError, nearest
from cosim.units import parse_unit

NAME = re.compile(r"\{(\w+)\}")
POWER = re.compile(r"(\{\w+\})([1-9])")
DERIVATIVE = re.compile(r"^(?P<base>\w+?)_dot(?P<order>\d*)$")


class UnitRule(NamedTuple):
    """A unit as a product of the units of other quantities and of written ones.

    Attributes
    ----------
    above, below : tuple of str
        Names in the numerator and in the denominator.
    units_above, units_below : tuple of str
    """

    above: tuple[str, ...]
    below: tuple[str, ...]
    units_above: tuple[str, ...]
    units_below: tuple[str, ...]


@lru_cache
def read_rule(text: str) -> UnitRule:
    """Read ``"{gain}.{source}"``, ``"{value}/s"``, ``"{value}/({source}.s)"``.

    Examples
    --------
    >>> read_rule("{value}/({source}.s)")
    UnitRule(above=('value',), below=('source',), units_above=(), units_below=('s',))
    >>> read_rule("{source}2.s")
    UnitRule(above=('source', 'source'), below=(), units_above=('s',), units_below=())
    """
    text = POWER.sub(lambda match: ".".join([match[1]] * int(match[2])), text)
    numerator, _, denominator = text.partition("/")
    names, units = [], []
    for part in (numerator, denominator):
        names.append(tuple(NAME.findall(part)))
        plain_units = NAME.sub("", part).strip("() ").split(".")
        units.append(tuple(piece for piece in plain_units if piece not in ("", "1")))
    return UnitRule(names[0], names[1], units[0], units[1])


def check_unit(unit: str, where: str) -> None:
    """Read a unit that stands in a class; `ContractError` says where it does."""
    try:
        parse_unit(unit)
    except UnitError as error:
        raise ContractError(f"{where}: {error}") from error


def settle_unit_rules(
    declarations: dict[str, Declaration], open_names: Iterable[str], unit_from: str
) -> None:
    """Decide which quantities of a class have a unit that is found, and say how.

    Ports without a unit, what others take their unit from, and what has a rule itself. Everything else
    that declares no unit is dimensionless.
    """
    if unit_from and "value" in declarations:
        declarations["value"] = replace(declarations["value"], units=("1",), unit_rule=f"{{{unit_from}}}")
    mentioned = set(open_names) | {
        d.options["unit_of"] for d in declarations.values() if "unit_of" in d.options
    }
    for declaration in declarations.values():
        rule = declaration.unit_rule or declaration.options.get("unit") or ""
        mentioned.update(NAME.findall(rule))
    for name, declaration in declarations.items():
        if (
            declaration.unit_rule == ""
            and declaration.kind not in ("input", "output")
            and name not in mentioned
        ):
            derivative = DERIVATIVE.match(name)
            base = declarations.get(derivative["base"]) if derivative else None
            rule = None
            if derivative and base is not None and (base.unit_rule is not None or base.units != ("1",)):
                rule = f"{{{derivative['base']}}}/s{derivative['order']}"
            declarations[name] = replace(declaration, unit_rule=rule)


def check_rule_names(declarations: dict[str, Declaration], names: Iterable[str], owner: str) -> None:
    """Every name in a rule is one that the component has; `ContractError` otherwise."""
    names = list(names)
    for name, declaration in declarations.items():
        rule = declaration.unit_rule or declaration.options.get("unit") or ""
        for units in read_rule(rule)[2:] if "{" in rule else ():
            for unit in units:
                check_unit(unit, f"{owner}: the unit of {name}")
        for mentioned in (*NAME.findall(rule), *filter(None, [declaration.options.get("unit_of")])):
            if mentioned not in names:
                near = nearest(mentioned, names)
                hint = f"; nearest: '{near}'" if near else ""
                raise ContractError(
                    f"{owner}: the unit of {name} mentions '{mentioned}', which does not exist{hint}"
                )
