"""A handler or a method that remembers something outside the State is refused where its class is made."""

import pytest

import cosim

counted = 0


def assigned(self, state):
    self.n = 1


def added(self, state):
    self.n += 1


def hidden(self, state):
    setattr(self, "n", 1)  # noqa: B010


def one_of_two(self, state):
    _, self._n = 1, 2


def of_class(self, state):
    type(self).n = 1


def of_its_class(self, state):
    self.__class__.n += 1


def of_element(self, state, next_state):
    self.n[0] += 1


def of_module(self, state, next_state):
    global counted
    counted += 1


def appended(self, state, next_state):
    self.log.append(state.time)
    next_state["p.n"] = len(self.log)


def taken(self, state, next_state):
    next_state["p.n"] = self.table.pop()


@pytest.mark.parametrize("does", ["publish", "discrete"])
@pytest.mark.parametrize("function", [assigned, added, hidden, one_of_two, of_class, of_its_class])
def test_an_attribute_that_a_handler_assigns(function, does):
    text = r"hidden_state\.py:\d+: .*self\..?n.? is not part of the State.*declare n = cosim\.discrete\(\)"
    with pytest.raises(cosim.ContractError, match=text):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does=does)(function)})


def test_an_element_of_an_attribute_that_a_handler_changes():
    with pytest.raises(cosim.ContractError, match="self.n.*State"):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does="discrete")(of_element)})


def test_a_class_that_says_that_it_is_not_saved_may_remember():
    handler = cosim.every(1, does="discrete")(added)
    type("Device", (cosim.Component,), {"not_saved": "a device", "tick": handler})


def test_an_attribute_that_a_law_assigns():
    with pytest.raises(cosim.ContractError, match="self.n.*State"):

        class Law(cosim.Component):
            """A law."""

            x = cosim.auxiliary_state()

            def derivatives(self, x, x_dot):
                self.n = x
                x_dot[0] = -x


@pytest.mark.parametrize(
    ("function", "name"), [(of_module, "counted"), (appended, "self.log"), (taken, "self.table")]
)
def test_a_module_variable_or_container_that_a_handler_changes(function, name):
    with pytest.raises(
        cosim.ContractError, match=rf"{name} is not part of the State, so the next run goes on"
    ):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does="discrete")(function)})


@pytest.mark.parametrize("does", ["publish", "discrete"])
def test_a_log_that_a_handler_only_appends_to_is_allowed(does):
    class Watching(cosim.Component):
        """Shows something."""

        log: list

        def __init__(self, **values):
            super().__init__(**values)
            self.log = []

        @cosim.every(0.5, does=does)
        def show(self, state):
            self.log.append(state.time)

    model = cosim.Model("m")
    part = model.add(Watching, "p")
    model.simulate(until=0.6)
    assert part.log == [0.0, 0.5]


def test_an_attribute_that_a_helper_assigns_in_a_run():
    def remember(part):
        part.n = 1

    class Helped(cosim.Component):
        """A function outside assigns the attribute."""

        @cosim.every(0.1, does="discrete")
        def tick(self, state, next_state):
            remember(self)

    model = cosim.Model("m")
    model.add(Helped, "p")
    with pytest.raises(cosim.SimulationError, match="has no attribute 'n'"):
        model.simulate(until=1.2)
