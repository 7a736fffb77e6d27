"""Attachments of components, and the names that they offer to kernel functions.

Assemblies, slots and parts are `Any` here: their classes are defined in layers above this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cosim.component.argument import Argument
from cosim.stage import Stage


@dataclass(frozen=True)
class Offer:
    """A name that an attachment offers; the part that provides its value is found at assembly.

    Attributes
    ----------
    slot : str
        Name of the declaration in the part that provides the value.
    shape : tuple of int
    accumulates : bool
        Whether kernel functions add to it, as to a force, and do not read it.
    meaning : str
    array : str
        The array that contains the value: "c" (computed), "p" (parameters) or "y" (states).
    added_at : Stage
        The earliest stage at which kernel functions add to it, if it accumulates.
    """

    slot: str
    shape: tuple[int, ...]
    accumulates: bool = False
    meaning: str = ""
    array: str = "c"
    added_at: Stage = Stage.DYNAMICS


class Attachment(ABC):
    """A kind of attachment: a signal, a body, a coordinate; a plugin declares its own.

    A component declares an attachment with `cosim.kit.attachment`, which takes an object of this class.

    Attributes
    ----------
    name : str
        The kind: "body".
    offers : mapping of str to Offer
        By the name that kernel functions use, without suffix.
    names_part : bool
        Whether the path that a user passes for the attachment begins with the name of a part.
    """

    name: ClassVar[str]
    offers: ClassVar[Mapping[str, Offer]]
    names_part: ClassVar[bool] = True

    def offered_names(self, attachment: str) -> dict[str, Offer]:
        """Its offers by argument name: ``body1`` offers ``X_GB1``, and ``hand`` offers ``X_GB_hand``."""
        is_numbered_kind = attachment.startswith(self.name)
        suffix = attachment[len(self.name) :] if is_numbered_kind else "_" + attachment
        return {name + suffix: offer for name, offer in self.offers.items()}

    def path(self, attached: str, slot: str) -> str:
        """The path of the signal behind an offer, from the attached path and the name of its declaration."""
        return f"{attached.partition('.')[0].partition('[')[0]}.{slot}"

    def attachable(self, assembly: Any) -> list[Any]:
        """All items of a model that this kind can be attached to; listed once for each assembly."""
        attachable: list[Any] | None = assembly.attachable.get(self.name)
        if attachable is None:
            attachable = assembly.attachable[self.name] = self.list_all(assembly)
        return attachable

    def list_all(self, assembly: Any) -> list[Any]:
        """Compute the list of `attachable`; kinds override this."""
        return []

    def has_offer(self, assembly: Any, part: Any, argument: Argument) -> bool:
        """Whether a part has an offered name; if not, functions with that name as ``when=`` do not run."""
        return True

    @abstractmethod
    def slot_of(self, assembly: Any, part: Any, argument: Argument, number: int | None) -> Any:
        """The slot of an argument that goes through this attachment.

        Parameters
        ----------
        assembly : Assembly
        part : Component
            The part whose kernel function has the argument.
        argument : Argument
            ``argument.of`` is the name of the attachment, ``argument.slot`` that of the declaration.
        number : int or None
            The index in `attachable`, for a component that is attached to each item.

        Returns
        -------
        Slot

        Raises
        ------
        ModelError, LookUpError
            The attached path names no item of this kind, or the item does not offer this name.
        """


class SourceAttachment(Attachment):
    """An attachment to a signal: its value and its derivatives."""

    name = "source"
    names_part = False
    offers: ClassVar[Mapping[str, Offer]] = {
        "": Offer("value", (), meaning="value of the source"),
        "_dot": Offer("value_dot", (), meaning="its time derivative, NaN where there is none"),
        "_dot2": Offer("value_dot2", (), meaning="the second one, likewise"),
        "_dot3": Offer("value_dot3", (), meaning="the third one, likewise"),
    }

    def offered_names(self, attachment: str) -> dict[str, Offer]:
        """A source ``s`` offers ``s``, ``s_dot`` and so on."""
        return {attachment + suffix: offer for suffix, offer in self.offers.items()}

    def slot_of(self, assembly: Any, part: Any, argument: Argument, number: int | None) -> Any:
        """See `Attachment.slot_of`."""
        return assembly.source_slot(part, argument)


SOURCE = SourceAttachment()
