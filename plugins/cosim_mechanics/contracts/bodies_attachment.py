"""Attachments to several bodies at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import cosim
from cosim.kit import Argument, Assembly, Attachment, Offer, Slot, attachment
from cosim_mechanics.contracts.body_attachment import BODY


class BodiesAttachment(Attachment):
    """Bodies that follow each other in a model: their offers are in one view, body after body.

    A component is attached to the first of them. Their number is a length of parameters, so it is known when
    the component is created.
    """

    name = "bodies"
    offers: ClassVar[Mapping[str, Offer]] = {
        name: replace(offer, shape=(0,), meaning=f"{offer.meaning}; of one body after the other")
        for name, offer in BODY.offers.items()
    }

    def slot_of(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot_of`."""
        first, moving = assembly.attached_name(part, argument.of), BODY.attachable(assembly)
        count = part.values.declarations[argument.of].size
        if first not in moving:
            raise cosim.ModelError.of("", f"{argument.of} is '{first}', which is not a body with a mass")
        names = moving[moving.index(first) :][:count]
        if len(names) < count:
            raise cosim.ModelError.of(
                "",
                f"{argument.of} are {count}, but from '{first}' on the model has {len(names)} bodies: add "
                "them one after the other",
            )
        slots = [assembly.provided(argument, name) for name in names]
        size = slots[0].size
        for i, slot in enumerate(slots):
            if slot != slots[0].part(i * size, size):
                raise cosim.ModelError.of(
                    "",
                    f"'{names[i]}' is of another kind than '{first}': {argument.of} need bodies of one kind",
                )
        return slots[0].part(0, count * size)


BODIES = BodiesAttachment()


def bodies(length: str, description: str = "", kind: BodiesAttachment = BODIES) -> Any:
    """An attachment to bodies that follow each other in the model: ``X_GB`` has 12 reals for each of them.

    Parameters
    ----------
    length : str
        The name of their number, as in the shape of parameters with an element for each body.
    kind : BodiesAttachment, optional
        A subclass that checks the bodies.
    """
    return replace(attachment(kind, description=description), shape=(0,), free_length=(length,))
