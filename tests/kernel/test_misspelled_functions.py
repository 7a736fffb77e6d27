"""A function whose name is nearly that of one that the base class calls is refused with the right name."""

import pytest

import cosim
from cosim.misspelled_functions import edits, is_misspelled
from cosim_integrators.kit import ExplicitRungeKutta


@pytest.mark.parametrize(
    ("name", "meant", "expected"),
    [
        ("force", "force", False),
        ("forces", "force", True),
        ("fore", "force", True),
        ("froce", "force", True),
        ("farces", "force", False),
        ("farces", "forces", True),
        ("get", "set", False),
        ("derivatives_in", "derivatives", False),
        ("initialse", "initialize", True),
        ("", "step", False),
    ],
)
def test_a_name_is_misspelled_if_it_is_one_edit_away_from_a_long_name(name, meant, expected):
    assert is_misspelled(name, meant) is expected


@pytest.mark.parametrize(
    ("word", "other_word", "count"),
    [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("abc", "abc", 0), ("kitten", "sitting", 3)],
)
def test_edits_between_two_words(word, other_word, count):
    assert edits(word, other_word) == edits(other_word, word) == count


@pytest.mark.parametrize(
    ("base", "name", "text"),
    [
        (ExplicitRungeKutta, "interpolat", "CompiledIntegrator calls interpolate"),
        (cosim.Integrator, "tolerence", "Integrator calls tolerances"),
        (cosim.MasterAlgorithm, "stepp", "MasterAlgorithm calls step"),
        (cosim.MasterAlgorithm, "initialise", "MasterAlgorithm calls initialize"),
        (cosim.Participant, "intialize", "Participant calls initialize"),
        (cosim.Participant, "serialise", "Participant calls serialize"),
        (cosim.Exporter, "exprot", "Exporter calls export"),
        (cosim.ResultSink, "wriet", "ResultSink calls write"),
        (cosim.ModelReader, "raed", "ModelReader calls read"),
        (cosim.ModelTable, "add_parts", "ModelTable calls add_part"),
        (cosim.Command, "configrue", "Command calls configure"),
    ],
)
def test_a_misspelled_function_of_any_kind_of_plugin_is_refused(base, name, text):
    with pytest.raises(cosim.ContractError, match=f"nothing calls {name}: {text}; name it so"):
        type("Author", (base,), {"__doc__": "It.", name: lambda self: None})


def test_a_function_that_the_class_itself_calls_may_have_a_similar_name():
    class Author(cosim.MasterAlgorithm):
        """A helper with a name that is nearly another's."""

        def step(self, exchange, time, size):
            self.steps(exchange)

        def steps(self, exchange):
            """One after the other."""

    assert Author().order == 1


@pytest.mark.parametrize("name", ["Force", "for_ce", "FORCE"])
def test_a_law_with_nearly_the_name_of_an_inherited_one_is_refused(name):
    """Both would be called, also the one that it was meant to replace."""

    class Base(cosim.Component):
        """A law."""

        x = cosim.auxiliary_state(start=1.0)

        @cosim.kernel
        def force(x, x_dot):
            x_dot[0] = -x

    @cosim.kernel
    def law(x, x_dot):
        x_dot[0] = -2.0 * x

    with pytest.raises(cosim.ContractError, match=rf"{name} would be called beside force, not in its place"):
        type("Sub", (Base,), {name: law, "__module__": __name__, "__doc__": "Another law."})

    class Right(Base):
        """Replaces it."""

        @cosim.kernel
        def force(x, x_dot):
            x_dot[0] = -2.0 * x

    model = cosim.Model("model")
    model.add(Right, "part")
    assert model.simulate(until=1.0)["part.x"][-1] == pytest.approx(0.1353352832, rel=1e-5)
