"""Units that a class leaves open: which quantities have one, and the rules by which it is inferred."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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
        Names of quantities in the numerator and in the denominator.
    units_above, units_below : tuple of str
        Written units in the numerator and in the denominator.
    """

    above: tuple[str, ...]
    below: tuple[str, ...]
    units_above: tuple[str, ...]
    units_below: tuple[str, ...]


@lru_cache
def read_rule(text: str) -> UnitRule:
    """Read the text of a rule, such as ``"{gain}.{source}"``, ``"{value}/s"`` or ``"{value}/({source}.s)"``.

    Examples
    --------
    >>> read_rule("{value}/({source}.s)")
    UnitRule(above=('value',), below=('source',), units_above=(), units_below=('s',))
    >>> read_rule("{source}2.s")
    UnitRule(above=('source', 'source'), below=(), units_above=('s',), units_below=())
    """
    text = POWER.sub(lambda match: ".".join([match[1]] * int(match[2])), text)
    numerator, _, denominator = text.partition("/")
    above, below = tuple(NAME.findall(numerator)), tuple(NAME.findall(denominator))
    return UnitRule(above, below, _written_units(numerator), _written_units(denominator))


def _written_units(product: str) -> tuple[str, ...]:
    """The factors of a product that are units, and no names."""
    factors = NAME.sub("", product).strip("() ").split(".")
    return tuple(factor for factor in factors if factor not in ("", "1"))


def check_unit(unit: str, where: str) -> None:
    """Check the unit of a declaration.

    Raises
    ------
    ContractError
        It is not a unit; the message begins with `where`.
    """
    try:
        parse_unit(unit)
    except UnitError as error:
        raise ContractError(f"{where}: {error}") from error


def settle_unit_rules(
    declarations: dict[str, Declaration], open_names: Iterable[str], unit_from: str
) -> None:
    """Complete the rules of all quantities of a class whose unit is to be inferred, in `declarations`.

    These are ports without a unit, quantities that a rule mentions, and those with a rule. All others that
    declare no unit are dimensionless.

    Parameters
    ----------
    declarations : dict of str to Declaration
    open_names : iterable of str
        Quantities whose unit is left open by name.
    unit_from : str
        The quantity whose unit ``value`` has, or "".
    """
    if unit_from and "value" in declarations:
        declarations["value"] = replace(declarations["value"], units=("1",), unit_rule=f"{{{unit_from}}}")
    mentioned = _mentioned_names(declarations, open_names)
    for name, declaration in declarations.items():
        is_port = declaration.kind in ("input", "output")
        if declaration.unit_rule == "" and not is_port and name not in mentioned:
            declarations[name] = replace(declaration, unit_rule=_rule_of_derivative(declarations, name))


def _mentioned_names(declarations: Mapping[str, Declaration], open_names: Iterable[str]) -> set[str]:
    """The quantities whose units are left open by name, by an option that names a unit, or in a rule."""
    named = (d.options["unit_of"] for d in declarations.values() if "unit_of" in d.options)
    mentioned = {*open_names, *named}
    for declaration in declarations.values():
        mentioned.update(NAME.findall(declaration.unit_rule or declaration.options.get("unit") or ""))
    return mentioned


def _rule_of_derivative(declarations: Mapping[str, Declaration], name: str) -> str | None:
    """The unit of a declared derivative: that of its quantity per second; None where that has none."""
    derivative = DERIVATIVE.match(name)
    base = declarations.get(derivative["base"]) if derivative else None
    if derivative is None or base is None or (base.unit_rule is None and base.units == ("1",)):
        return None
    return f"{{{derivative['base']}}}/s{derivative['order']}"


def check_rule_names(declarations: dict[str, Declaration], names: Iterable[str], owner: str) -> None:
    """Check the rules of a component.

    Raises
    ------
    ContractError
        A rule contains a word that is not a unit, or a name that the component does not have.
    """
    names = list(names)
    for name, declaration in declarations.items():
        rule = declaration.unit_rule or declaration.options.get("unit") or ""
        if "{" in rule:
            written = read_rule(rule)
            for unit in (*written.units_above, *written.units_below):
                check_unit(unit, f"{owner}: the unit of {name}")
        for mentioned in (*NAME.findall(rule), *filter(None, [declaration.options.get("unit_of")])):
            if mentioned not in names:
                near = nearest(mentioned, names)
                hint = f"; nearest: '{near}'" if near else ""
                raise ContractError(
                    f"{owner}: the unit of {name} mentions '{mentioned}', which does not exist{hint}"
                )
