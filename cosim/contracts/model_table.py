"""The contract of readers of one table of a model file."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes
from cosim.component.component import Component
from cosim.errors import ContractError
from cosim.registration.kinds import plugin_kind

if TYPE_CHECKING:
    Model = Any

Report = Callable[[str, str], None]
"""``report(key_path, text)`` records a problem; ``key_path`` is seen from the entry: ``"frame.axis[2]"``."""

RESERVED = frozenset({"self", "name", "kind"})
"""Names of the arguments of `Model.add`."""

FORMS = ("entries", "rows", "table")


@plugin_kind("model_table")
class ModelTable(AbstractClosedAttributes):
    """Turns the entries of one table of a model file (``[elements.mount_left]``) into parts of a model.

    A plugin registers the class; it is instantiated without
    arguments for every file.

    Attributes
    ----------
    table : str
        Name of the table.
    form : str
        "entries": named entries, ``[table.name]``; "rows": ``[[table]]``; "table": the table as it stands.
    prefix : str
        Plugin whose ids may be written without it: ``type = "delay"`` for ``measures.delay``.
    comes_last : bool
        Whether it is read when other tables have been, wherever it stands in the file.
    settings : dict of str to object
        Keys of the table ``[model]`` that it claims, with their defaults.

    Raises
    ------
    ContractError
        When a class that implements `read` has no valid `table` or `form`.

    Examples
    --------
    >>> class Lamps(ModelTable):
    ...     '''Lamps, ``[lamps.name]``.'''
    ...     table = "lamps"
    ...     prefix = "acme"
    ...     def read(self, model, name, entry, report):
    ...         self.add_part(model, name, entry, report, kind="acme.lamp")
    """

    table: ClassVar[str]
    form: ClassVar[str] = "entries"
    prefix: ClassVar[str] = ""
    comes_last: ClassVar[bool] = False
    settings: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls.read, "__isabstractmethod__", False):
            return
        table = getattr(cls, "table", None)
        if not isinstance(table, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", table) or table == "model":
            raise ContractError(
                f"model table {cls.__qualname__}: table is {table!r}, needs lower case letters, digits, '_', "
                'and not "model": write table = "lamps" in the class.'
            )
        if cls.form not in FORMS:
            raise ContractError(
                f"model table {cls.__qualname__}: form is {cls.form!r}, needs one of {', '.join(FORMS)}."
            )

    def begin(self, model: Model, settings: Mapping[str, Any]) -> None:  # noqa: B027 - most need nothing
        """Prepare the model before anything is read; called when the table or one of its settings is there.

        Parameters
        ----------
        model : Model
            May have parts already, added by the `begin` of another table.
        settings : mapping of str to object
            A value for every key of `settings`: that of the file, else the default.

        Raises
        ------
        ModelError
            With the name of the setting as `where`.
        """

    @abstractmethod
    def read(self, model: Model, name: str, entry: dict[str, Any], report: Report) -> None:
        """Add what one entry says to the model.

        Parameters
        ----------
        model : Model
        name : str
            Of the entry; of rows their number, counted from 0; empty for a whole table.
        entry : dict
            Its keys and values. A key that means nothing is a problem: report it, with the nearest one.
        report : callable
            ``report(key_path, text)`` records a problem; the file and the line are found by the reader.

        Raises
        ------
        ModelError, LookUpError
            Are recorded like what is reported.
        """

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """JSON Schema of one entry, or of the whole table when that is its form; by default any object.

        Parameters
        ----------
        parts : mapping of str to object
            By id the schema of each registered component, for `part_schema`.
        """
        return {"type": "object"}

    def part_schema(
        self,
        parts: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
        given: Collection[str] = (),
        only: str | None = None,
    ) -> dict[str, Any]:
        """Schema of an entry that is a part: one of the registered ones, by its ``type``.

        Parameters
        ----------
        parts : mapping of str to object
            As for `schema`.
        more : mapping of str to object, optional
            Further keys of the entry, with their schemas.
        given : collection of str
            Values that an entry may leave out, since the table supplies them.
        only : str, optional
            Id of the only part that an entry can be, which then has no ``type``.
        """
        schemas = []
        for id, part in parts.items():
            if only is not None and id != only:
                continue
            short = id.removeprefix(f"{self.prefix}.") if self.prefix else id
            kind = {} if only is not None else {"type": {"enum": list(dict.fromkeys([short, id]))}}
            required = [name for name in part["required"] if name not in given]
            entry = {**part, "properties": {**kind, **part["properties"], **(more or {})}}
            schemas.append({**entry, "required": [*kind, *required]})
        return schemas[0] if only is not None and schemas else {"oneOf": schemas}

    def add_part(
        self, model: Model, name: str, entry: Mapping[str, Any], report: Report, kind: str | None = None
    ) -> Component | None:
        """Add one part: its values are the keys of the entry but for ``type``.

        Parameters
        ----------
        kind : str, optional
            Id of the component; by default ``entry["type"]``, completed by `prefix`.

        Returns
        -------
        Component or None
            None when a problem was reported.
        """
        values = dict(entry)
        if kind is None:
            kind = values.pop("type", None)
            if not isinstance(kind, str):
                fault = "is missing" if kind is None else f"is {kind!r}"
                example = f"{self.prefix or 'acme'}.thing"
                report("type", f'type {fault}, needs the id of a component, such as "{example}"')
                return None
        for key in () if RESERVED.isdisjoint(values) else sorted(RESERVED.intersection(values)):
            report(key, f"no parameter '{key}': the name of a part stands in the header, its kind at 'type'")
            del values[key]
        added: Component = model.add(self.full_id(kind), name, **values)
        return added

    def full_id(self, kind: str) -> str:
        """The whole id: one without a dot belongs to the plugin `prefix`."""
        return kind if "." in kind or not self.prefix else f"{self.prefix}.{kind}"
