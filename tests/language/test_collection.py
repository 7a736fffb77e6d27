"""`without_collection` stops searches for garbage in a block and restores the settings after it."""

import gc

import pytest

from cosim_compiler.collection import without_collection


class Node:
    """An object that refers to itself, so that only a search for garbage frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("enabled", [True, False])
def test_searches_are_enabled_after_the_block_if_they_were_before(enabled: bool) -> None:
    was_enabled, frozen = gc.isenabled(), gc.get_freeze_count()
    try:
        (gc.enable if enabled else gc.disable)()
        with without_collection():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled and gc.get_freeze_count() == frozen
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_objects_that_the_user_has_frozen_stay_frozen() -> None:
    frozen_node = Node()
    gc.freeze()  # what is frozen is not in the list of objects that are searched
    with without_collection():
        new_node = Node()
    searched = {id(node) for node in gc.get_objects() if type(node) is Node}
    assert id(frozen_node) not in searched and id(new_node) in searched


def test_searches_are_enabled_after_an_error_in_the_block() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), without_collection():
        assert not gc.isenabled()
        1 / 0  # noqa: B018
    assert gc.isenabled()
