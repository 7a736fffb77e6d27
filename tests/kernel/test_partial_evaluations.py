"""Behind an event only what it reaches is computed again, to the same bits."""

from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st

import cosim
from cosim import Stage

WRITTEN = ("v", "x", "z", "shift", "count", "gain", "nothing")
"""What the handler of a `Node` may write."""
NOTHING = WRITTEN.index("nothing")


class Node(cosim.Component):
    """An oscillator that another one drives; its handler writes the variable with the number `what`."""

    x = cosim.position(start=1.0)
    v = cosim.speed()
    z = cosim.auxiliary_state(start=0.5)
    gain = cosim.parameter(default=1.0)
    shift = cosim.discrete(start=0.1)
    count = cosim.discrete(dtype=int)
    drive = cosim.input()
    out = cosim.output()
    load = cosim.cache_slot(accumulates=True)
    period = cosim.parameter(default=0.1)
    phase = cosim.parameter(default=0.05)
    what = cosim.parameter(default=0.0)

    @cosim.kernel
    def pull(x, gain, load):
        load[0] += -gain * x

    @cosim.kernel
    def push(drive, count, load):
        load[0] += 0.3 * drive + 0.01 * count

    @cosim.kernel
    def derivatives(v, z, shift, load, x_dot, v_dot, z_dot):
        x_dot[0] = v
        v_dot[0] = load - 0.1 * v
        z_dot[0] = shift - z

    @cosim.kernel
    def output(x, z, t, out):
        out[0] = x + 0.2 * z * t

    @cosim.every("period", offset="phase", does="unrestricted")
    def hit(self, state, next_state):
        name = WRITTEN[int(state[f"{self.name}.what"])]
        if name != "nothing":
            path = f"{self.name}.{name}"
            next_state[path] = state[path] + 1 if name == "count" else 0.9 * state[path] + 0.01


class PlainNode(Node):
    """The same with a function in plain Python, which is called whatever has changed."""

    not_saved = "it counts its calls"
    calls = 0

    @cosim.kernel
    def output(self, x, z, t, out):
        type(self).calls += 1
        out[0] = x + 0.2 * z * t


def network(kinds, sources, actions, periods):
    """Nodes; each is driven by its source unless that is itself, and writes what its action says."""
    model = cosim.Model("network")
    for i, kind in enumerate(kinds):
        numbers = {"what": float(actions[i]), "period": periods[i], "phase": 0.5 * periods[i]}
        model.add(kind, f"n{i}", x=1.0 + 0.1 * i, **numbers)
    for i, source in enumerate(sources):
        if source != i:
            model.connect(f"n{source}.out", f"n{i}.drive")
    return model.build()


def shares_of_partial_evaluations(simulator, until):
    """Advance, compare each partial evaluation with a whole one, and return the shares that were computed."""
    shares, system = [], simulator.system
    while simulator.state.time < until:
        simulator.step(until)
        if not simulator.has_pending_updates:
            continue
        before = simulator.statistics
        simulator.advance_pending_events()
        after, state = simulator.statistics, simulator.state
        if after.partial_evaluations > before.partial_evaluations:
            shares.append(after.partial_share - before.partial_share)
        complete = state.copy().realize(Stage.ACCELERATION)
        for block in system.blocks[slice(*system.block_range(Stage.INSTANCE, Stage.ACCELERATION))]:
            for slot in (*block.writes, *block.adds):
                if slot.array == "c":
                    place = slice(slot.offset, slot.offset + slot.size)
                    values, expected = state._arrays["c"][place], complete._arrays["c"][place]
                    assert values.tobytes() == expected.tobytes(), block.label
    return shares


networks = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([Node, Node, PlainNode]), min_size=n, max_size=n),
        st.lists(st.integers(0, n - 1), min_size=n, max_size=n),
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.1, 0.15, 0.4]), min_size=n, max_size=n),
    )
)


def test_random_networks():
    all_shares = []

    @settings(max_examples=many(15), deadline=None)
    @given(networks)
    def run(arguments):
        simulator = cosim.Simulator(network(*arguments), integrator="integrators.heun", accuracy=1e-3)
        simulator.initialize()
        shares = shares_of_partial_evaluations(simulator, 1.0)
        assert simulator.statistics.partial_evaluations >= len(shares)
        all_shares.extend(shares)

    run()
    assert all_shares and min(all_shares) < 0.3


def test_only_the_rows_that_are_reached_are_called():
    """In a chain 0 → 1 → 2 … node 1 writes z; its output, and so only node 2, depends on that."""
    actions = [NOTHING, WRITTEN.index("z")] + [NOTHING] * 6
    system = network([Node] * 8, [0, 0, 1, 2, 3, 4, 5, 6], actions, [0.4] * 8)
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.initialize()
    shares = shares_of_partial_evaluations(simulator, 0.3)
    assert len(shares) == 1
    rows = sum(b.rows.shape[0] for b in system.blocks[slice(*system.derivative_range)])
    of_node_1 = 2  # derivatives and output
    of_node_2 = 4  # zeroing of its load, pull, push and derivatives
    assert round(shares[0] * rows) == of_node_1 + of_node_2


def test_plain_python_is_called_at_every_event():
    system = network([PlainNode, Node, Node], [0, 1, 2], [NOTHING, WRITTEN.index("v"), NOTHING], [0.4] * 3)
    simulator = cosim.Simulator(system, integrator="integrators.heun", fixed_step=0.2, accuracy=1e-3)
    simulator.initialize()
    simulator.advance_to(0.2)
    PlainNode.calls = 0
    simulator.advance_pending_events()  # node 1 writes; nothing is integrated
    assert simulator.statistics.partial_evaluations == 1 and PlainNode.calls == 1


class SetsAtStart(cosim.Component):
    """Its output depends on a level that is set at initialization."""

    level = cosim.discrete(unit="1")
    out = cosim.output(unit="1")

    @cosim.kernel
    def double(level, out):
        out[0] = 2.0 * level

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(level_next):
        level_next[0] = 3.0


def test_no_table_is_made_for_a_handler_that_runs_once():
    """A table of what each event reaches pays only if the event happens again."""
    model = cosim.Model("once")
    model.add(SetsAtStart, "once")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    assert simulator.state.realize()["once.out"] == 6.0
    assert simulator.statistics.partial_evaluations == 0
    periodic = cosim.Simulator(network([Node] * 2, [0, 0], [NOTHING] * 2, [0.4] * 2), accuracy=1e-6)
    assert len(simulator.compiled_step.arrays.nodes) == 0 < len(periodic.compiled_step.arrays.nodes)
