"""The common part of the blocks of one kernel function, for all parts of a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter

from cosim.component.argument import Argument
from cosim.component.argument_types import types_of
from cosim.component.component import Component
from cosim.component.history import RING
from cosim.component.kernel_function import KernelFunction
from cosim.stage import Stage
from cosim.system import adapter
from cosim.system.blocks import TIME, Block, Flows, Slot
from cosim.system.vector_flows import VectorFlows
from cosim_compiler.language.flow_elements import RETURNED, Element
from cosim_compiler.language.kept_flows import kept_flows

OWN_ROLES = ("own", "ring", "switch", "derivative")
"""Of arguments whose slots a part has under their names when the layout is made."""
DERIVED_AT = {"position": Stage.VELOCITY, "speed": Stage.ACCELERATION, "auxiliary": Stage.DYNAMICS}


class RowPlan:
    """Made once for a kernel function of a class; parts bring only their slots.

    Parameters
    ----------
    cls : type of Component
    name : str
        Of the kernel function.
    kernel : KernelFunction

    Attributes
    ----------
    name : str
    arguments, placed, collected, next : list of Argument
        All; those whose slot is found elsewhere or made; those that a row for each provider is made for; next
        values.
    own : list of str
        Those whose slots the part has already.
    own_names : frozenset of str
        The same.
    has_own_alone : bool
        Whether there are no others.
    repeated : dict of str to str
        Attachments to everything of a kind, with the kind.
    reads, writes, adds : list of str
        Arguments by effect, of those that have a slot.
    slots_read, slots_written, slots_added : callable
        Take the slots of these arguments out of those of all.
    has_result : bool
        Whether the function returns a number.
    stage : Stage
        The earliest, from the arguments alone.
    """

    def __init__(self, cls: type[Component], name: str, kernel: KernelFunction) -> None:
        self._cls, self.name, self._kernel = cls, name, kernel
        self.arguments: list[Argument] = cls.arguments[name]
        self.has_result = not kernel.is_python and adapter.has_result(kernel)
        columns = adapter.columns(self.arguments)
        self.own = [a.name for a in columns if a.role in OWN_ROLES]
        self.placed = [a for a in columns if a.role not in ("collected", *OWN_ROLES)]
        self.collected = [a for a in self.arguments if a.role == "collected"]
        self.next = [a for a in self.arguments if a.role == "next"]
        offered = {a.of: cls.declarations[a.of].options for a in self.arguments if a.role == "offered"}
        self.repeated = {of: options["attachment"] for of, options in offered.items() if options.get("each")}
        self.own_names = frozenset(self.own)
        self.has_own_alone = not (self.placed or self.collected or self.repeated)
        self.reads, self.writes, self.adds = (
            [a.name for a in columns if a.effect == effect] for effect in ("read", "write", "add")
        )
        self.slots_read, self.slots_written, self.slots_added = map(
            slots_of, (self.reads, self.writes, self.adds)
        )
        self._columns = [(a.name, RING if a.role == "ring" else 0, a.size == 1) for a in columns]
        self._names = [a.name for a in columns]
        self._slots = slots_of(self._names)
        self._lengths = [a.name for a in adapter.lengths(self.arguments)]
        self._reads_time = any(a.role == "time" for a in self.arguments)
        argument_types = types_of(self.arguments, cls.declarations)
        self._flows = None if kernel.is_python else kept_flows(kernel.function, argument_types)
        self.find_flows, self.find_element_flows = self.flows, self.element_flows  # bound once for all blocks
        self._follow = None if self.has_result else VectorFlows(cls, kernel, self.arguments)
        self.stage = max([Stage.EMPTY, *(_least_stage(cls, a) for a in self.arguments)])

    @cached_property
    def function(self) -> Callable[..., None]:
        """The function that a block calls, if the kernel function is compiled."""
        return adapter.block_function(self._cls, self.name, self._kernel, self.arguments)

    def flows(self, block: Block) -> Flows:
        """The slots from which a block of this plan computes each result."""
        written = dict(zip((*self.writes, RETURNED), block.writes, strict=False))
        written |= dict(zip(self.adds, block.adds, strict=True))
        slots = dict(zip(self.reads, block.reads, strict=True)) | written
        always = [slots[a.name] for a in self.arguments if a.role == "switch"]
        if self._flows is None:  # a Python method, or what is refused when it is compiled
            everything = (*block.reads, *((TIME,) if self._reads_time else ()))
            return tuple((slot, everything) for slot in written.values())
        results = []
        sources_of: dict[frozenset[Element], tuple[Slot, ...]] = {}  # many results come from the same
        for name, slot in written.items():
            entries = {index: read for (result, index), read in self._flows.items() if result == name}
            if not entries:  # not seen where it is written
                return ()
            for index, read in entries.items():
                if read not in sources_of:
                    sources = dict.fromkeys(always)
                    for source, at in read:
                        if source == "t" and self._reads_time:
                            sources[TIME] = None
                        elif source in slots:
                            sources[_element(slots[source], at)] = None
                    sources_of[read] = tuple(sources)
                results.append((_element(slot, index), sources_of[read]))
        return tuple(results)

    def element_flows(self, block: Block) -> Flows:
        """The flows of a block, element by element of vectors; empty if unknown."""
        if self._follow is None:
            return ()
        slots = dict(zip((*self.reads, *self.writes), (*block.reads, *block.writes), strict=True))
        return self._follow.flows(
            slots | dict(zip(self.adds, block.adds, strict=True)), (*self.writes, *self.adds)
        )

    def rows(self, slots: Mapping[str, Slot], count: int) -> list[list[int]]:
        """The offsets of the slots, then the free lengths, a row for each element; elements share scalars."""
        lengths = [slots[name].size for name in self._lengths] if self._lengths else self._lengths
        if count == 1:
            return [[*[slot[1] for slot in self._slots(slots)], *lengths]]
        strides = []
        for name, ring, is_number in self._columns:
            slot = slots[name]
            strides.append((slot.offset, ring or int(is_number and slot.size == count)))
        return [[*(offset + i * stride for offset, stride in strides), *lengths] for i in range(count)]


def _element(slot: Slot, index: int) -> Slot:
    return slot.part(index) if 0 <= index < slot.size else slot


def slots_of(names: Sequence[str]) -> Callable[[Mapping[str, Slot]], tuple[Slot, ...]]:
    """A function that takes the slots of these arguments out of those of all."""
    if len(names) > 1:
        return itemgetter(*names)  # a third of the time of a loop
    if not names:
        return lambda slots: ()
    (only,) = names
    return lambda slots: (slots[only],)


def _least_stage(cls: type[Component], argument: Argument) -> Stage:
    """The earliest stage at which a function that has this argument can run."""
    if argument.role in ("time", "history"):
        return Stage.TIME
    if argument.role == "derivative":
        return DERIVED_AT[cls.declarations[argument.of].kind]
    if argument.role == "offered" and argument.effect == "add":
        offers = cls.declarations[argument.of].options["attachment"].offers.values()
        return max(offer.added_at for offer in offers if offer.slot == argument.slot)
    return Stage.EMPTY
