"""No garbage is looked for while very many objects are made, and afterwards as before."""

import gc

import pytest

from cosim_compiler.collection import without_collection


class Node:
    """An object that refers to itself: only a search for garbage frees it."""

    def __init__(self) -> None:
        self.itself = self


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
    kept = Node()
    gc.freeze()  # what is frozen is not in the list of objects that are searched
    with without_collection():
        made = Node()
    searched = {id(node) for node in gc.get_objects() if type(node) is Node}
    assert id(kept) not in searched and id(made) in searched


def test_searches_go_on_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), without_collection():
        assert not gc.isenabled()
        1 / 0  # noqa: B018
    assert gc.isenabled()
