"""The elements that each element of a result is computed from, for sparse derivatives.

A kernel function is run with a set of elements in place of each real number: those that the number is
computed from (`flow_values`). Integers keep their values, so loops run as in the function itself, and ``x[i -
1]`` is one element in each turn.

If a condition depends on real numbers, both branches are followed, and their results are joined. The
condition counts as no source, since a derivative does not see it. An integer that depends on real numbers is
not known; as an index it stands for all elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.expression_flows import ExpressionFollower
from cosim_compiler.language.flow_values import (
    BREAK,
    CONTINUE,
    NORMAL,
    RESULT,
    RETURN,
    FlowState,
    Outcomes,
    Sources,
    UnclearError,
    joined,
)
from cosim_compiler.language.typed_form import Function, Statement

MOST_TURNS = 100
"""Turns in which a loop with an unknown number of turns has to stop changing anything."""


def element_flows(
    function: Function, sizes: Mapping[str, int], sources: Sequence[str]
) -> dict[tuple[str, int], Sources]:
    """The sources of each element that a function writes: its argument and its offset there.

    Parameters
    ----------
    function : Function
        In typed form.
    sizes : mapping of str to int
        The length of each parameter that is a view; of a table that of all rows together.
    sources : sequence of str
        The parameters whose elements count as sources. They have the bits 0, 1 … in this order.

    Raises
    ------
    UnclearError
        It cannot be followed: it calls what is compiled elsewhere, or takes too long.
    """
    first_bits, bit = {}, 0
    for name in sources:
        first_bits[name] = bit
        bit += sizes.get(name, 1)
    follower = StatementFollower(first_bits)
    names: dict[str, Any] = {}
    for name, kind in function.parameters:
        names[name] = follower.argument(name, kind, sizes)
    outcomes = follower.block(function.body, FlowState(function, names, {}))
    ends = [state for kind, state in outcomes.items() if kind in (NORMAL, RETURN)]
    if not ends:
        raise UnclearError("it always raises")
    written = follower.join_all(ends).written
    return {place: flows for place, flows in written.items() if place[0] in sizes}  # type: ignore[misc]


class StatementFollower(ExpressionFollower):
    """Follows one function and all that it calls."""

    def join(self, left: FlowState, right: FlowState) -> FlowState:
        """The state where two paths meet."""
        names = dict(right.names)
        for name, value in left.names.items():
            kind = left.kind(name)
            if name not in names:
                names[name] = value
            elif kind is not None:
                names[name] = joined(value, names[name], kind)
        written = dict(right.written)
        for place, sources in left.written.items():
            written[place] = sources | (written[place] if place in written else self.before(place))
        for place in right.written.keys() - left.written.keys():
            written[place] |= self.before(place)
        self._nodes += len(written) // 16  # joining many elements costs as much as evaluating expressions
        return FlowState(left.function, names, written)

    def join_all(self, states: Sequence[FlowState]) -> FlowState:
        """The state where several paths meet."""
        joined_state = states[0]
        for state in states[1:]:
            joined_state = self.join(joined_state, state)
        return joined_state

    def add(self, outcomes: Outcomes, kind: str, state: FlowState) -> None:
        """Add the state of a path that ends in the way `kind`."""
        outcomes[kind] = self.join(outcomes[kind], state) if kind in outcomes else state

    def block(self, statements: Sequence[Statement], state: FlowState) -> Outcomes:
        """Follow statements one after the other, until no path goes on to the next one."""
        outcomes: Outcomes = {}
        for statement in statements:
            states = self.statement(statement, state)
            following = states.pop(NORMAL, None)
            for kind, end in states.items():
                self.add(outcomes, kind, end)
            if following is None:
                return outcomes
            state = following
        self.add(outcomes, NORMAL, state)
        return outcomes

    def statement(self, node: Statement, state: Any) -> Outcomes:
        """Follow one statement."""
        if isinstance(node, form.Assign):
            state.names[node.name] = self.value(node.value, state)
            return {NORMAL: state}
        if isinstance(node, form.Store):
            self.store(node, state)
            return {NORMAL: state}
        if isinstance(node, form.Evaluate):
            self.value(node.value, state)
            return {NORMAL: state}
        if isinstance(node, form.If):
            return self.follow_if(node, state)
        if isinstance(node, form.For):
            return self.follow_for(node, state)
        if isinstance(node, form.While):
            return self.follow_while(node, state)
        if isinstance(node, form.Once):
            return self.follow_once(node, state)
        if isinstance(node, form.Return):
            state.names[RESULT] = None if node.value is None else self.value(node.value, state)
            return {RETURN: state}
        if isinstance(node, form.Break):
            return {BREAK: state}
        if isinstance(node, form.Continue):
            return {CONTINUE: state}
        if isinstance(node, form.Raise):
            return {}  # this path has no derivative
        raise UnclearError(f"a statement: {type(node).__name__}")

    def store(self, node: form.Store, state: FlowState) -> None:
        """Follow a write; if the element is not known, it may be any element of the view."""
        sources = self.value(node.value, state)
        place = node.place
        if not isinstance(place, form.Element):
            raise UnclearError("a field of a record is written")
        view, index = self.element(place, state)
        offsets = view.offsets(index)
        if view.has_integers:
            return  # integers in arrays are not followed
        if len(offsets) == 1:
            state.written[view.array, offsets[0]] = sources
            return
        for offset in offsets:
            key = view.array, offset
            state.written[key] = sources | (state.written[key] if key in state.written else self.before(key))

    def follow_if(self, node: form.If, state: FlowState) -> Outcomes:
        """Follow the branch that is taken; both branches if the condition is not known."""
        condition = self.value(node.condition, state)
        if condition is not None:
            return self.block(node.body if condition else node.orelse, state)
        outcomes = self.block(node.body, state.fork())
        for kind, end in self.block(node.orelse, state).items():
            self.add(outcomes, kind, end)
        return outcomes

    def follow_for(self, node: form.For, state: FlowState) -> Outcomes:
        """Follow each turn of a loop over a range."""
        first, last, step = (self.value(x, state) for x in (node.first, node.last, node.step))
        if first is None or last is None or not step:
            return self.follow_unknown_turns(node, state)
        outcomes: Outcomes = {}
        current: FlowState | None = state
        for i in range(first, last, step):
            current.names[node.name] = i  # type: ignore[union-attr]
            current = self.turn(node.body, current, outcomes)
            if current is None:
                break
        return self.end_loop(node.orelse, current, outcomes)

    def follow_while(self, node: form.While, state: FlowState) -> Outcomes:
        """Follow a loop as long as its condition is known to hold."""
        outcomes: Outcomes = {}
        current: FlowState | None = state
        while current is not None:
            condition = self.value(node.condition, current)
            if condition is None:
                return self.follow_unknown_turns(node, current, outcomes)
            if not condition:
                break
            current = self.turn(node.body, current, outcomes)
        return self.end_loop(node.orelse, current, outcomes)

    def follow_unknown_turns(
        self, node: form.For | form.While, state: FlowState, outcomes: Outcomes | None = None
    ) -> Outcomes:
        """Follow a loop with an unknown number of turns: until one more turn changes nothing."""
        outcomes = {} if outcomes is None else outcomes
        for _ in range(MOST_TURNS):
            before = state.fork()
            if isinstance(node, form.For):
                state.names[node.name] = None
            else:
                self.value(node.condition, state)
            after_turn = self.turn(node.body, state, outcomes)
            state = before if after_turn is None else self.join(after_turn, before.fork())
            if (state.names, state.written) == (before.names, before.written):
                return self.end_loop(node.orelse, state, outcomes)
        raise UnclearError("a loop does not settle")

    def turn(self, body: Sequence[Statement], state: Any, outcomes: Outcomes) -> FlowState | None:
        """Follow one turn of a loop; the state in which the next turn begins, None if there is none."""
        states = self.block(body, state)
        next_states = [states[kind] for kind in (NORMAL, CONTINUE) if kind in states]
        for kind in (BREAK, RETURN):
            if kind in states:
                self.add(outcomes, kind, states[kind].fork())
        return self.join_all(next_states) if next_states else None

    def end_loop(self, orelse: Sequence[Statement], state: FlowState | None, outcomes: Outcomes) -> Outcomes:
        """The outcomes of a loop: its `else` runs in `state`, in which it ends without a `break`."""
        after_break = outcomes.pop(BREAK, None)
        if state is not None:
            for kind, end in self.block(orelse, state).items():
                self.add(outcomes, kind, end)
        if after_break is not None:
            self.add(outcomes, NORMAL, after_break)
        return outcomes

    def follow_once(self, node: form.Once, state: FlowState) -> Outcomes:
        """Follow the turns of a loop that was written out."""
        outcomes: Outcomes = {}
        current: FlowState | None = state
        for body in node.turns:
            current = self.turn(body, current, outcomes)
            if current is None:
                break
        return self.end_loop(node.orelse, current, outcomes)

    def follow_call(self, function: Function, names: dict[str, Any], state: FlowState) -> Any:
        """Follow a helper and return its result; `state` gets what it has written."""
        outcomes = self.block(function.body, FlowState(function, names, state.written))
        ends = [end for kind, end in outcomes.items() if kind in (NORMAL, RETURN)]
        if not ends:
            raise UnclearError("a helper that always raises")
        end = self.join_all(ends)
        state.written = end.written
        return end.names.get(RESULT)
