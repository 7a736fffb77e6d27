"""Names of variables in an FMU: structured as FMI defines it, flat, or chosen by the user."""

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
        New names, by the structured name of a variable, or of the vector to which it belongs.
    """

    kind: str
    names: Mapping[str, str]

    @classmethod
    def of(cls, naming: str, names: Mapping[str, str] | None) -> Naming:
        """The naming with these options, after a check."""
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
        """The name of a thing that is not a variable, such as a clock."""
        return self.names.get(path, c_identifier(path) if self.kind == "flat" else path)

    def renamed(
        self, variables: Sequence[FmuVariable], in_arrays: Iterable[str] = ()
    ) -> tuple[FmuVariable, ...]:
        """The variables with their new names, in their dependencies, too.

        Parameters
        ----------
        variables : sequence of FmuVariable
        in_arrays : iterable of str
            Names of elements of arrays, which keep their subscripts: FMI 3.0 names the array.

        Raises
        ------
        ModelError
            A new name for an unknown variable; one name for several variables.
        """
        self._check_old_names(variables)
        with_subscripts = set(in_arrays)
        new_names = {v.name: self._name(v, v.name in with_subscripts) for v in variables}
        _check_collisions(new_names, with_subscripts)

        def renamed(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(new_names[name] for name in names)

        return tuple(
            replace(
                v,
                name=new_names[v.name],
                dependencies=renamed(v.dependencies),
                initial_dependencies=renamed(v.initial_dependencies),
                derivative_of=new_names[v.derivative_of] if v.derivative_of else "",
            )
            for v in variables
        )

    def _check_old_names(self, variables: Sequence[FmuVariable]) -> None:
        """Raise `ModelError` if new names are defined for unknown variables."""
        variable_names = [v.name for v in variables]
        variable_names += list(dict.fromkeys(without_subscripts(name) for name in variable_names))
        wrong = [name for name in self.names if name not in variable_names]
        if wrong:
            texts = (str(cosim.LookUpError("variable of the FMU", name, variable_names)) for name in wrong)
            raise cosim.ModelError([cosim.Problem("names", text) for text in texts])

    def _name(self, variable: FmuVariable, keeps_subscripts: bool) -> str:
        """The name of a variable; a derivative is named after its state unless it has a new name itself."""
        if variable.derivative_of and variable.name not in self.names:
            return self._formatted(variable.derivative_of, keeps_subscripts, "der_{}", "der({})")
        return self._formatted(variable.name, keeps_subscripts, "{}", "{}")

    def _formatted(self, name: str, keeps_subscripts: bool, flat: str, structured: str) -> str:
        """The new name of a variable in one of two formats, `flat` or `structured`."""
        if name in self.names:
            return (flat if self.kind == "flat" else structured).format(self.names[name])
        if name.startswith("'") and self.kind == "flat":
            return re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        match = SUBSCRIPTS.search(name)
        base, subscripts = (name[: match.start()], match[0]) if match else (name, "")
        new_base = self.names.get(base)
        if self.kind == "structured":
            return structured.format((base if new_base is None else new_base) + subscripts)
        flat_base = c_identifier(base) if new_base is None else new_base
        return flat.format(flat_base) + (subscripts if keeps_subscripts else _flat_subscripts(subscripts))


def _flat_subscripts(subscripts: str) -> str:
    """``_2_3`` for ``[2,3]``."""
    return re.sub(r"[\[,]", "_", subscripts.rstrip("]"))


def _check_collisions(new_names: Mapping[str, str], in_arrays: set[str]) -> None:
    """Raise `ModelError` for one name of several variables, or of a variable and an array."""
    arrays = {without_subscripts(new_names[name]) for name in in_arrays}
    counts = Counter([*new_names.values(), *arrays])
    collisions: dict[str, list[str]] = {}  # old names by the new name
    for old, new in new_names.items():
        for name in {new, without_subscripts(new) if old in in_arrays else new}:
            if counts[name] > 1:
                collisions.setdefault(name, []).append(old)
    # rates are named after their states: collisions of both are reported once
    of_states = {name: olds for name, olds in collisions.items() if not olds[0].startswith("der(")}
    problems = [
        cosim.Problem(
            "names", f"{' and '.join(olds)} would both be called {name!r}: give one another name (names)"
        )
        for name, olds in (of_states or collisions).items()
    ]
    if problems:
        raise cosim.ModelError(problems)


def leaves_that_are_branches(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names of variables that are a branch of another name, each with the first of these.

    Examples
    --------
    >>> leaves_that_are_branches(["felt", "felt.delay", "felts.x", "felt.late"])
    [('felt', 'felt.delay')]
    """
    unique_names = list(dict.fromkeys(names))
    first_leaves: dict[str, str] = {}  # by branch
    for name in unique_names:
        branch = name
        while "." in branch:
            branch = branch.rpartition(".")[0]
            first_leaves.setdefault(branch, name)
    return [(name, first_leaves[name]) for name in unique_names if name in first_leaves]
