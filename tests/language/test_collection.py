"""No garbage is looked for while very many objects are made, and afterwards as before."""

import gc
from collections.abc import Iterator

import pytest

from cosim_compiler.collection import without_collection


class Node:
    """An object that refers to itself: only a search for garbage frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    """Python may have started with frozen objects."""
    were_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    yield
    (gc.freeze if were_frozen else gc.unfreeze)()


@pytest.mark.parametrize("enabled", [True, False])
def test_searches_are_as_before(enabled: bool) -> None:
    was_enabled, frozen = gc.isenabled(), gc.get_freeze_count()
    try:
        (gc.enable if enabled else gc.disable)()
        with without_collection():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled and gc.get_freeze_count() == frozen
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_what_the_user_has_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with without_collection():
        made = Node()
    assert gc.get_freeze_count() >= frozen > 0
    assert made.itself is made
