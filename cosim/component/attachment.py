"""Attachments of components, and the names that they offer to kernel functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cosim.stage import Stage


@dataclass(frozen=True)
class Offer:
    """A name that an attachment offers: name and shape only; its provider is found at assembly.

    Attributes
    ----------
    slot : str
        Name of the declaration at the provider.
    shape : tuple of int
    accumulates : bool
        Whether it is only added to (forces).
    meaning : str
    array : str
        Where the provider keeps it: "c" (computed), "p" (parameter) or "y" (state).
    added_at : Stage
        Of what accumulates: the earliest stage at which it is added to.
    """

    slot: str
    shape: tuple[int, ...]
    accumulates: bool = False
    meaning: str = ""
    array: str = "c"
    added_at: Stage = Stage.DYNAMICS


class Attachment(ABC):
    """A kind of attachment: a signal, a body, a coordinate; a plugin declares its own.

    A component declares that it is attached to one with `Attachment.declaration`.

    Attributes
    ----------
    name : str
        In words: "body".
    offers : mapping of str to Offer
        By the name that kernel functions use, without suffix.
    names_part : bool
        Whether what is typed begins with the name of a part.
    """

    name: ClassVar[str]
    offers: ClassVar[Mapping[str, Offer]]
    names_part: ClassVar[bool] = True

    def offered_names(self, attachment: str) -> dict[str, Offer]:
        """Argument names that an attachment of this name brings: ``body1`` offers ``X_GB1``."""
        begins = attachment.startswith(self.name)
        suffix = attachment[len(self.name) :] if begins else "_" + attachment
        return {name + suffix: offer for name, offer in self.offers.items()}

    def path(self, provider: str, slot: str) -> str:
        """Path of the signal behind an offered name, from what is typed and the name at the provider."""
        return f"{provider.partition('.')[0].partition('[')[0]}.{slot}"

    def everything(self, assembly: Any) -> list[Any]:
        """Everything in a model that this kind can be attached to; listed once for each assembly."""
        attachable: list[Any] | None = assembly.attachable.get(self.name)
        if attachable is None:
            attachable = assembly.attachable[self.name] = self.list_all(assembly)
        return attachable

    def list_all(self, assembly: Any) -> list[Any]:
        """Everything in a model that this kind can be attached to; kinds override this."""
        return []

    def has(self, assembly: Any, part: Any, argument: Any) -> bool:
        """Whether an offered name exists for a part: kernel functions are switched by it (``when=``)."""
        return True

    @abstractmethod
    def slot(self, assembly: Any, part: Any, argument: Any, number: int | None) -> Any:
        """The slot of an argument that goes through this attachment.

        Parameters
        ----------
        assembly : Assembly
        part : Component
            Whose kernel function asks.
        argument : Argument
            ``argument.of`` is the name of the attachment, ``argument.slot`` that at the provider.
        number : int or None
            Which of `everything`, for a component that is attached to each.

        Returns
        -------
        Slot

        Raises
        ------
        ModelError, LookUpError
            What is given is none, or offers no such name.
        """


class SourceAttachment(Attachment):
    """A signal: its value and its derivatives."""

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

    def slot(self, assembly: Any, part: Any, argument: Any, number: int | None) -> Any:
        """See `Attachment.slot`."""
        return assembly.source_slot(part, argument)


SOURCE = SourceAttachment()
