"""Errors: the data stands in attributes, the text is built from it.

Every message says where (full path), what was given, what would be valid and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosim.option_synonyms import option_of_synonym
from cosim.value_text import quote
from cosim_compiler.errors import ContractError as ContractError
from cosim_compiler.errors import CosimError as CosimError
from cosim_compiler.nearest import nearest as nearest
from cosim_compiler.nearest import nearest_names

if TYPE_CHECKING:
    from pathlib import Path

    from cosim.stage import Stage

    Result = Any
    EventStatus = Any

# Tracebacks and pickles say where users find them.
CosimError.__module__ = ContractError.__module__ = __name__


class PluginError(CosimError):
    """A plugin could not be loaded or did what a plugin must not do.

    Attributes
    ----------
    plugin, distribution, version : str
        Who is at fault.
    reason : str
    """

    def __init__(self, plugin: str, distribution: str, version: str, reason: str) -> None:
        self.plugin, self.distribution, self.version, self.reason = plugin, distribution, version, reason
        super().__init__(f"plugin '{plugin}' ({distribution} {version}): {reason}")


class UnitError(CosimError, ValueError):
    """A physical unit cannot be read, or two units do not measure the same thing."""


class LookUpError(CosimError, LookupError):
    """A name is not known.

    Attributes
    ----------
    what : str
        What was looked up ("component", "signal" ...).
    name : str
    known : list of str
        What exists.
    nearest : str or None
    near : list of str
        All that may be meant.
    """

    def __init__(
        self, what: str, name: str, known: Iterable[str], hint: str = "", same: Iterable[str] = ()
    ) -> None:
        self.what, self.name, self.known, self.hint = what, name, sorted(known), hint
        self.near = list(same) or nearest_names(name, self.known)
        self.nearest = next(iter(self.near), None)
        super().__init__(self._text())

    def _text(self) -> str:
        text = f"no {self.what} '{self.name}'."
        if self.nearest is not None:
            text += f" Nearest: {', '.join(self.near)}."
        elif self.known:
            shown = ", ".join(self.known[:12]) + (" …" if len(self.known) > 12 else "")
            text += f" There are: {shown}."
        return f"{text} {self.hint}".rstrip()


class OptionError(LookUpError, TypeError):
    """A function was given options that it does not have.

    Attributes
    ----------
    where : str
        The function, or what stands for it.
    given : dict
        The options that it does not have, with their values.
    known : list of str
        All that it has.
    made_with : tuple of str
        Of a method: what the constructor of the class takes.
    """

    def __init__(
        self, where: str, given: Mapping[str, Any], known: Iterable[str], made_with: Iterable[str] = ()
    ) -> None:
        self.where, self.given, self.made_with = where, dict(given), tuple(made_with)
        first = next(iter(given))
        known = list(known)
        super().__init__("option", first, known, same=filter(None, [option_of_synonym(first, known)]))

    def _text(self) -> str:
        sentences = []
        for name, value in self.given.items():
            near = option_of_synonym(name, self.known) or nearest(name, self.known)
            meant = f" Nearest: {near}." if near else ""
            if name in self.made_with:
                class_name = self.where.partition(".")[0]
                meant = f" It is an option of {class_name}: write {class_name}(…, {name}={quote(value)})."
            sentences.append(f"{self.where}: no option '{name}' (given: {name}={quote(value)}).{meant}")
        listed = ", ".join(self.known) or "none"
        return f"{' '.join(sentences)} There are: {listed}."


class AttributeNameError(LookUpError, AttributeError):  # type: ignore[misc]  # both have a name
    """An attribute was set that the object does not have, or that cannot be set.

    Attributes
    ----------
    owner : str
        Class of the object.
    """

    def __init__(self, owner: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.owner = owner
        super().__init__("attribute", name, known, hint)

    def _text(self) -> str:
        if self.hint:
            return f"{self.owner}.{self.name}: {self.hint}"
        near = f" Nearest: {self.nearest}." if self.nearest is not None else ""
        listed = f" There are: {', '.join(self.known)}." if self.known else " Nothing of it can be set."
        return f"{self.owner} has no attribute '{self.name}' to set.{near}{listed}"


CLASS_NOTES = ("attribute_hints", "hooks", "instead", "reading_hints")
"""Attributes of classes that say something to those who derive from them, and nothing to users."""


class MissingAttributeError(CosimError, AttributeError):
    """An attribute was read that the object does not have; the text is made when it is read.

    Attributes
    ----------
    owner : object
    name : str
    """

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(owner, name)
        self.owner, self.name = owner, name

    def __str__(self) -> str:
        cls = type(self.owner)
        hint = self.owner._hint_where_missing(self.name)
        if not hint:
            names = {*dir(cls), *vars(self.owner)}.difference(CLASS_NOTES)
            public = [n for n in names if not n.startswith("_")]
            hint = _known_names_text(str(self.name), public)
        return f"{cls.__name__} has no attribute '{self.name}': {hint}"

    def __reduce__(self) -> Any:
        return CosimError, (str(self),)


class ArgumentError(CosimError, TypeError):
    """Arguments of a call are missing, too many, or given twice."""


def _known_names_text(name: str, names: Iterable[str]) -> str:
    """The nearest of the known names, else the first of them."""
    near = nearest_names(name, names := sorted(names))
    if near:
        return f"nearest: {', '.join(near)}"
    return f"there are {', '.join(names[:12])}{' …' if len(names) > 12 else ''}"


@dataclass(frozen=True)
class Problem:
    """One fault of a model: where it stands and what is wrong with it."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


class ModelError(CosimError, ValueError):
    """A model is wrong; all its faults are reported together.

    Attributes
    ----------
    problems : list of Problem
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(p) for p in self.problems))

    @classmethod
    def of(cls, where: str, text: str) -> ModelError:
        """An error with a single problem."""
        return cls([Problem(where, text)])


class StageError(CosimError):
    """Something was read from a State before it was computed.

    Attributes
    ----------
    what : str
    needed, current : Stage
    invalidated_by : str
        The last write that lowered the stage, empty when nothing has been realized yet.
    """

    def __init__(self, what: str, needed: Stage, current: Stage, invalidated_by: str = "") -> None:
        self.what, self.needed, self.current, self.invalidated_by = what, needed, current, invalidated_by
        why = f", last invalidated by {invalidated_by}" if invalidated_by else ""
        super().__init__(
            f"{what} needs stage {needed.name}, but the State is at {current.name}{why}: "
            f"call state.realize(Stage.{needed.name}) first."
        )


class StateError(CosimError, ValueError):
    """Bytes that are no State of this system, or a value that a State cannot take."""


class SimulationError(CosimError):
    """A simulation could not go on; the State is the last good one.

    Attributes
    ----------
    time : float
        Where the simulation stopped, s.
    reason : str
    status : EventStatus or None
        Of the handler that failed.
    result : Result or None
        What was recorded until then, where the run was recorded.
    """

    def __init__(self, time: float, reason: str) -> None:
        self.time, self.reason = time, reason
        self.status: EventStatus | None = None
        self.result: Result | None = None
        super().__init__(f"at t = {time:.9g} s: {reason}")


class NotWrittenError(CosimError):
    """Results could not be written when there were some: a disk is full; says where they are, if anywhere.

    Attributes
    ----------
    elsewhere : Path or None
        The file that they were written to instead.
    """

    def __init__(self, text: str, elsewhere: Path | None = None) -> None:
        self.elsewhere = elsewhere
        super().__init__(text)


class FmuError(CosimError):
    """An FMU cannot be read, loaded or stepped.

    Attributes
    ----------
    fmu : str
        Path or name of the FMU.
    function : str
        The fmi function that failed, empty when it was not a call.
    """

    def __init__(self, fmu: str, text: str, function: str = "") -> None:
        self.fmu, self.function = fmu, function
        super().__init__(f"{fmu}: {function + ': ' if function else ''}{text}")
