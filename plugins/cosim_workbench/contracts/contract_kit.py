"""ContractKit: names the contract kit of a kind of plugins whose base class does not name it."""

from __future__ import annotations

from typing import ClassVar

from cosim import plugin_kind
from cosim.kit import AbstractClosedAttributes


@plugin_kind("contract_kit")
class ContractKit(AbstractClosedAttributes):
    """Names the contract kit of a kind that another package declares.

    The base class of a kind says its own kit (`contract_kit`). Where checks need what that package does not
    have (participants are checked in a co-simulation), the plugin that has it registers such a class; it is
    not instantiated. A template for ``cosim new`` lies beside the kit: ``templates/<kind>.txt``.

    Attributes
    ----------
    kind : str
        Such as "participant".
    kit : str
        ``module:Class``.

    Examples
    --------
    >>> class RoadKit(ContractKit):
    ...     '''The checks of roads.'''
    ...     kind, kit = "road", "my_roads.testing.road_contract:RoadContract"
    """

    kind: ClassVar[str]
    kit: ClassVar[str]
