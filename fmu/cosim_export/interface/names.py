"""Names of variables: as FMI wants them, without dots, or those that a user gives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cosim
from cosim_export.interface.fmu_variable import FmuVariable

PIECE = r"[A-Za-z_][A-Za-z0-9_]*(\[[0-9]+(,[0-9]+)*\])?"
PATH = rf"{PIECE}(\.{PIECE})*"
SUBSCRIPTS = re.compile(r"\[\d+(,\d+)*\](?=\)?$)")
QUOTED = r"'[A-Za-z0-9_.,()/\[\]]+'"
STRUCTURED = re.compile(rf"{PATH}|der\({PATH}\)|{QUOTED}")


def element_name(path: str, shape: tuple[int, ...], index: int) -> str:
    """Structured name of one element: rows first, counted from 1.

    Examples
    --------
    >>> element_name("strut.stiffness", (6,), 3), element_name("plate.R", (3, 3), 5)
    ('strut.stiffness[4]', 'plate.R[2,3]')
    """
    if not shape:
        return path
    subscripts = []
    for size in reversed(shape):
        subscripts.append(str(index % size + 1))
        index //= size
    return f"{path}[{','.join(reversed(subscripts))}]"


def without_subscripts(name: str) -> str:
    """The name of the array that an element belongs to.

    Examples
    --------
    >>> [without_subscripts(name) for name in ("plate.R[2,3]", "der(x.y[2])", "links[2].mass")]
    ['plate.R', 'der(x.y)', 'links[2].mass']
    """
    return SUBSCRIPTS.sub("", name)


def is_structured(name: str) -> bool:
    """Whether a name obeys the convention "structured".

    Examples
    --------
    >>> [is_structured(name) for name in ("strut_left.stiffness[4]", "der(strut_left.x)", "größe.x")]
    [True, True, False]
    """
    return STRUCTURED.fullmatch(name) is not None


def c_identifier(name: str) -> str:
    """A C identifier that resembles a name.

    Examples
    --------
    >>> c_identifier("engine mount"), c_identifier("3-link")
    ('engine_mount', '_3_link')
    """
    text = re.sub(r"[^A-Za-z0-9_]", "_", name) or "model"
    return f"_{text}" if text[0].isdigit() else text


NAMINGS = ("structured", "flat")


@dataclass(frozen=True)
class Naming:
    """The naming of the variables of an FMU.

    Parameters
    ----------
    kind : str
        "structured" (``strut.stiffness[4]``, ``der(strut.x)``), or "flat": identifiers of C
        (``strut_stiffness_4``, ``der_strut_x``).
    names : mapping of str to str
        By the structured name of a variable, or of the vector that it is an element of: another one.
    """

    kind: str
    names: Mapping[str, str]

    @classmethod
    def of(cls, naming: str, names: Mapping[str, str] | None) -> Naming:
        """The naming of these options, which are checked."""
        problems = []
        if naming not in NAMINGS:
            problems.append(cosim.Problem("naming", f"is {naming!r}, needs {' or '.join(NAMINGS)}"))
        new_names = dict(names or {})
        problems += [
            cosim.Problem("names", f"{old!r} is called {new!r}, needs a name: text without line breaks")
            for old, new in new_names.items()
            if not (isinstance(new, str) and new.strip() == new and new.isprintable() and new)
        ]
        if problems:
            raise cosim.ModelError(problems)
        return cls(naming, new_names)

    def path(self, path: str) -> str:
        """The name of what is not a variable: a clock, a terminal."""
        return self.names.get(path, c_identifier(path) if self.kind == "flat" else path)

    def renamed(
        self, variables: Sequence[FmuVariable], in_arrays: Iterable[str] = ()
    ) -> tuple[FmuVariable, ...]:
        """The variables under their new names, also where others name them.

        Parameters
        ----------
        variables : sequence of FmuVariable
        in_arrays : iterable of str
            Names of elements of arrays, which keep their subscripts: the array has a name.

        Raises
        ------
        ModelError
            Names that are given to nothing; one name for several variables.
        """
        self._check_given(variables)
        keeping = set(in_arrays)
        new = {v.name: self._name(v, v.name in keeping) for v in variables}
        _check_collisions(new, keeping)

        def of(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(new[name] for name in names)

        return tuple(
            replace(
                v,
                name=new[v.name],
                dependencies=of(v.dependencies),
                initial_dependencies=of(v.initial_dependencies),
                derivative_of=new[v.derivative_of] if v.derivative_of else "",
            )
            for v in variables
        )

    def _check_given(self, variables: Sequence[FmuVariable]) -> None:
        variable_names = [v.name for v in variables]
        variable_names += list(dict.fromkeys(without_subscripts(name) for name in variable_names))
        wrong = [name for name in self.names if name not in variable_names]
        if wrong:
            texts = (str(cosim.LookUpError("variable of the FMU", name, variable_names)) for name in wrong)
            raise cosim.ModelError([cosim.Problem("names", text) for text in texts])

    def _name(self, variable: FmuVariable, keeps_subscripts: bool) -> str:
        """The name of a variable; a derivative is named after its state unless it is given a name itself."""
        if variable.derivative_of and variable.name not in self.names:
            return self._built(variable.derivative_of, keeps_subscripts, "der_{}", "der({})")
        return self._built(variable.name, keeps_subscripts, "{}", "{}")

    def _built(self, name: str, keeps_subscripts: bool, flat: str, structured: str) -> str:
        if name in self.names:
            return (flat if self.kind == "flat" else structured).format(self.names[name])
        if name.startswith("'") and self.kind == "flat":
            return re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        match = SUBSCRIPTS.search(name)
        base, subscripts = (name[: match.start()], match[0]) if match else (name, "")
        named = self.names.get(base)
        if self.kind == "structured":
            return structured.format((base if named is None else named) + subscripts)
        start = c_identifier(base) if named is None else named
        return flat.format(start) + (subscripts if keeps_subscripts else _flat_subscripts(subscripts))


def _flat_subscripts(subscripts: str) -> str:
    return re.sub(r"[\[,]", "_", subscripts.rstrip("]"))


def _check_collisions(new: Mapping[str, str], in_arrays: set[str]) -> None:
    """Refuses one name for several variables, or for a variable and an array."""
    arrays = {without_subscripts(new[name]) for name in in_arrays}
    counts = Counter([*new.values(), *arrays])
    old: dict[str, list[str]] = {}
    for before, after in new.items():
        for name in {after, without_subscripts(after) if before in in_arrays else after}:
            if counts[name] > 1:
                old.setdefault(name, []).append(before)
    of_states = {name: befores for name, befores in old.items() if not befores[0].startswith("der(")}
    problems = [
        cosim.Problem(
            "names", f"{' and '.join(befores)} would both be called {name!r}: give one another name (names)"
        )
        for name, befores in (of_states or old).items()  # rates are named after their states
    ]
    if problems:
        raise cosim.ModelError(problems)


def leaves_that_are_branches(names: Iterable[str]) -> list[tuple[str, str]]:
    """Variables whose name is the beginning of another one, and the first of these.

    Examples
    --------
    >>> leaves_that_are_branches(["felt", "felt.delay", "felts.x", "felt.late"])
    [('felt', 'felt.delay')]
    """
    listed = list(dict.fromkeys(names))
    first: dict[str, str] = {}
    for name in listed:
        start = name
        while "." in start:
            start = start.rpartition(".")[0]
            first.setdefault(start, name)
    return [(name, first[name]) for name in listed if name in first]
