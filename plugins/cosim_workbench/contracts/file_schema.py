"""The schema of a kind of file, for editors and checkers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from cosim import plugin_kind
from cosim.kit import AbstractClosedAttributes


@plugin_kind("file_schema")
class FileSchema(AbstractClosedAttributes):
    """Makes the JSON Schema of a kind of file, for ``cosim schema``.

    A plugin registers the class; it is instantiated without arguments.

    Attributes
    ----------
    name : str
        The name that users type: "model".
    what : str
        The kind of file in words: "a model file".

    Examples
    --------
    >>> class Notes(FileSchema):
    ...     '''Notes are a list of texts.'''
    ...     name, what = "notes", "notes"
    ...     def schema(self): return {"type": "array", "items": {"type": "string"}}
    """

    name: ClassVar[str]
    what: ClassVar[str]

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The schema (draft 2020-12), made from what is registered now."""
