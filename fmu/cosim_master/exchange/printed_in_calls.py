"""What FMUs of this process print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import cosim
from cosim_fmi.binding.printed import printed_beside
from cosim_master.abilities import TakesPrinted


@contextmanager
def printed_in_calls(participants: Mapping[str, cosim.Participant]) -> Iterator[Callable[[], None]]:
    """Take what is printed inside; the function that this gives hands it over to the logs.

    Participants themselves see to what is printed while they begin and end. Nothing is done about it step
    by step, since a step takes less than a look would: where several FMUs are stepped in this process,
    what is printed goes to the log of each, with the names of all.

    Parameters
    ----------
    participants : mapping of str to Participant
    """
    able = {name: p for name, p in participants.items() if isinstance(p, TakesPrinted)}
    if not able:
        yield lambda: None
        return
    by = tuple(able) if len(able) > 1 else ()

    def add(text: str) -> None:
        for participant in able.values():
            participant.take_printed(text, by)

    with printed_beside(add) as take:
        yield take
