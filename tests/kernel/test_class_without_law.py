"""A class whose law nothing would call is refused, with what to write."""

import functools

import pytest

import cosim
from cosim.misspelled_functions import edits, is_misspelled
from cosim_integrators.kit import ExplicitRungeKutta
from cosim_mechanics import Constraint, Force, ForceElement, Joint, Multibody, coordinate


def logged(function):
    """A decorator as people write them."""

    @functools.wraps(function)
    def wrapper(*positional, **given):
        return function(*positional, **given)

    return wrapper


def pull(q, k, tau):
    tau[0] -= k * q


def pull_self(self, q, tau):
    tau[0] -= self.k * q


def of_force(law, name="force", base=Force):
    """A class of forces with one function in its body."""
    body = {"__doc__": "A force.", "k": cosim.parameter(default=2.0), name: law}
    if base is Force:
        body["coordinate"] = coordinate()
    return type("Pull", (base,), body)


def hide(decorator):
    return lambda: of_force(decorator(cosim.kernel(pull)))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            hide(staticmethod),
            "staticmethod hides this kernel function, and nothing calls it: let @cosim.kernel stand",
        ),
        (hide(classmethod), "classmethod hides this kernel function"),
        (hide(property), "property hides this kernel function"),
        (hide(functools.cached_property), "cached_property hides this kernel function"),
        (hide(functools.partial), "partial hides this kernel function"),
        (hide(functools.lru_cache), "functools's _lru_cache_wrapper hides this kernel function"),
        (hide(logged), "a decorator hides this kernel function"),
        (lambda: of_force(cosim.kernel(logged(pull))), "a decorator is below the decorator of cosim"),
        (
            lambda: of_force(cosim.kernel(staticmethod(pull))),
            "staticmethod is below the decorator of cosim",
        ),
        (lambda: of_force(cosim.kernel(functools.partial(pull))), "partial is below"),
        (
            lambda: of_force(cosim.kernel(print)),
            "the decorator is applied to the function print, needs a plain function",
        ),
        (
            lambda: of_force(staticmethod(pull)),
            "staticmethod keeps force from being called: write @cosim.kernel in",
        ),
        (lambda: of_force(functools.lru_cache(pull)), "_lru_cache_wrapper keeps force from being called"),
        (lambda: of_force(pull_self, "forces"), "nothing calls forces: Force calls force; name it so"),
        (lambda: of_force(pull_self, "froce"), "nothing calls froce: Force calls force"),
        (
            lambda: of_force(pull_self, "apply"),
            "nothing calls apply: Pull calls energy, force; name it one of these",
        ),
        (lambda: of_force(pull, "apply"), "nothing calls apply: write @cosim.kernel above it"),
        (lambda: of_force(pull, "forces"), "nothing calls forces"),
    ],
)
def test_a_force_whose_function_is_hidden_or_misnamed_is_refused_where_its_class_is_made(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()


class Dispatcher:
    """As numba's: what it compiled lies in `py_func`."""

    def __init__(self, function):
        self.py_func = function

    def __call__(self, *arguments):
        return self.py_func(*arguments)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: of_force(Dispatcher(pull)), "Dispatcher keeps force from being called"),
        (lambda: of_force(Dispatcher(pull), "pulls"), "nothing calls pulls: write @cosim.kernel above it"),
        (
            lambda: of_force(cosim.kernel(Dispatcher(pull))),
            "Dispatcher is below the decorator of cosim",
        ),
    ],
)
def test_another_compilers_decorator(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: of_force(lambda self, state: None, "apply"),
            r"Pull exerts no force: give it a kernel function force",
        ),
        (lambda: of_force(lambda self, state: None, "apply", ForceElement), r"Pull exerts no force"),
        (
            lambda: type("Held", (Constraint,), {"coordinate1": coordinate()}),
            "no create_constraint_equations",
        ),
        (lambda: type("Hinge", (Joint,), {}), r"joint Hinge has no kernel function across\(q, X_FM, H_FM\)"),
        (
            lambda: type("Twice", (cosim.Measure,), {"source": cosim.source()}),
            r"Twice has no value: give it a kernel function value\(…\) that writes value\[0\]",
        ),
    ],
)
def test_a_class_without_any_law_makes_no_part_and_is_not_registered(make, text):
    cls = make()  # a base of other classes may be like this
    cls.__doc__ = "What it is."
    with pytest.raises(cosim.ContractError, match=text):
        cls()
    with pytest.raises(cosim.ContractError, match=text):
        cosim.Model("m").add(cls, "part")
    from cosim.registration.registrations import Registrations

    registrations = Registrations(
        "acme", "acme", "1", lambda reason: cosim.PluginError("acme", "acme", "1", reason)
    )
    with pytest.raises(cosim.PluginError, match=text):
        registrations.register("acme.it", cls)


def test_bases_and_what_is_right_are_made():
    class Base(Force):
        """Parameters that several forces share."""

        coordinate = coordinate()
        k = cosim.parameter(default=2.0)

        def stiffness_at(self, q):
            return self.k * q

    class Right(Base):
        """A plain method, behind a decorator that is called too."""

        @logged
        def force(self, q, tau):
            self.add(q, tau)

        def add(self, q, tau):
            tau[0] -= self.stiffness_at(q)

    class Other(Base):
        """Any name does for a kernel function."""

        @cosim.kernel
        def forces(q, k, tau):
            tau[0] -= k * q

    assert Right().k == Other().k == 2.0


def test_the_same_for_joints_constraints_measures_and_blocks():
    with pytest.raises(cosim.ContractError, match="nothing calls across.*@cosim.kernel"):

        class Slide(Joint):
            """A joint."""

            q = cosim.position(shape=1)
            u = cosim.speed(shape=1)

            def across(q, X_FM, H_FM):
                X_FM[0] = 1.0

    with pytest.raises(cosim.ContractError, match="Constraint calls create_constraint_equations"):

        class Held(Constraint):
            """A constraint."""

            coordinate1 = coordinate()

            def create_constraint_equation(self, s):
                return []

    with pytest.raises(cosim.ContractError, match="nothing calls values"):

        class Twice(cosim.Measure):
            """A measure."""

            source = cosim.source()

            def values(self, source, value):
                value[0] = 2.0 * source

    with pytest.raises(cosim.ContractError, match="Component calls derivatives"):

        class Decay(cosim.Component):
            """A block."""

            x = cosim.auxiliary_state()

            def derivative(self, x, x_dot):
                x_dot[0] = -x


PART = """
class Part(cosim.Component):
    'A part.'
    height = cosim.auxiliary_state()
    n = cosim.discrete()
    upper, lower = cosim.parameter(default=1.0), cosim.parameter(default=0.0)
    {}
    def floor({}):
        {}
"""


def part_with(asked, does="return 1.0", decorator="pass"):
    """A class with a function in its body that has these arguments."""
    return cosim.kit.run_source(PART.format(decorator, asked, does), {"cosim": cosim})["Part"]


@pytest.mark.parametrize(
    ("asked", "above"),
    [
        ("height", "@cosim.witness"),
        ("t, height", "@cosim.witness"),
        ("upper, height", "@cosim.witness"),
        ("upper, lower", r"@cosim\.kernel\(refuses=\[…\]\)"),
        ("upper", r"@cosim\.kernel\(refuses=\[…\]\)"),
    ],
)
def test_a_witness_or_a_check_without_its_decorator(asked, above):
    with pytest.raises(cosim.ContractError, match=f"nothing calls floor: write {above} above it, or @static"):
        part_with(asked)
    assert part_with(asked, decorator="@staticmethod").floor(*asked.split(", ")) == 1.0


@pytest.mark.parametrize("asked", ["self, height", "height, factor"])
def test_a_method_and_a_function_of_other_names_are_no_laws(asked):
    assert part_with(asked).floor(1.0, 2.0) == 1.0


def test_an_auto_update_without_its_decorator():
    with pytest.raises(cosim.ContractError, match="nothing calls floor"):
        part_with("side, height, n_next", "n_next[0] = height + side")


def count(n, n_next):
    n_next[0] = n + 1


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (
            staticmethod(cosim.every(0.1, does="discrete")(count)),
            "staticmethod hides this handler.*cosim.every or",
        ),
        (logged(cosim.every(0.1, does="discrete")(count)), "a decorator hides this handler"),
        (count, r"nothing calls tick: write @cosim.on\(…\) or @cosim.every\(…\) above it"),
        (lambda self, state, next_state: None, "nothing calls tick: write what it is for above it"),
    ],
)
def test_handlers(law, text):
    with pytest.raises(cosim.ContractError, match=text):
        type("Counter", (cosim.Component,), {"n": cosim.discrete(), "tick": law})


def first(height):
    return height


@pytest.mark.parametrize(
    ("make", "is_now"),
    [
        (lambda: cosim.witness(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.witness(direction="falling")(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.kernel(cosim.witness(first)), "a witness"),
        (lambda: cosim.kernel(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.update(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.witness(first).rate(cosim.kernel(first)), "a kernel function"),
        (lambda: cosim.kernel(cosim.every(0.1, does="discrete")(first)), "a handler"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.every(0.1, does="discrete")(first)), "a handler"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.witness(first)), "a witness"),
        (lambda: cosim.every(0.2, does="discrete")(cosim.update(first)), "an auto-update"),
        (
            lambda: cosim.on(cosim.EventCause.INITIALIZATION, does="publish")(cosim.witness(first)),
            "a witness",
        ),
    ],
)
def test_two_decorators_of_ours_on_one_function(make, is_now):
    with pytest.raises(cosim.ContractError) as caught:
        make()
    text = str(caught.value)
    assert f"this is {is_now} (first) already: write one decorator of cosim above each function" in text
    assert "test_class_without_law.py:" in text
    assert "KernelFunction(" not in text


def test_a_bare_kernel_decorator_below_that_of_a_handler_says_nothing_more():
    inner = cosim.kernel(first)
    handler = cosim.every(0.1, does="discrete")(inner)
    assert (handler.function.role, inner.role) == ("handler", "kernel")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cosim.kernel(3), "the decorator is applied to 3, needs a plain function"),
        (lambda: cosim.kernel(Force), "to the class Force, needs a plain function"),
        (lambda: cosim.on(cosim.kernel(first), does="publish")(count), r"not a kernel function \(first\)"),
        (lambda: cosim.on(first, does="publish")(count), "not the function first"),
        (lambda: cosim.on(cosim.discrete(), does="publish")(count), r"not a declaration \(discrete\)"),
        (lambda: cosim.every(True, does="discrete"), "period is True, needs a time in s"),
        (lambda: cosim.every([1], does="discrete"), r"period is \[1\], needs a time in s"),
        (lambda: cosim.every(1, offset=None, does="discrete"), "offset is None, needs a time in s"),
        (lambda: cosim.at(True, does="discrete"), r"cosim\.at\(True\): needs a time or a list"),
        (lambda: cosim.at(first, does="discrete"), r"cosim\.at\(the function first\): needs a time"),
        (lambda: cosim.kernel(refuses=[]), "refuses is empty"),
        (lambda: cosim.kernel(refuses=[""]), r"refuses is .*, needs a list of sentences"),
        (lambda: cosim.witness(shortest_pulse="1 kg"), "shortest_pulse: is '1 kg', needs a time"),
    ],
)
def test_what_a_decorator_is_given_in_place_of_what_it_needs(make, text):
    with pytest.raises(cosim.ContractError, match=text) as caught:
        make()
    assert " at 0x" not in str(caught.value)


def test_options_beside_the_function_count_as_those_of_the_decorator():
    """`cosim.kernel(function, when="a")` is ``cosim.kernel(when="a")(function)``."""
    options = {"stage": cosim.Stage.REPORT, "when": "a", "unless": "b"}
    for plain, marked in (
        (cosim.kernel(first, **options), cosim.kernel(**options)(first)),
        (cosim.kernel(first, refuses=["no"]), cosim.kernel(refuses=["no"])(first)),
        (
            cosim.update(first, at="ahead", when="a", unless="b"),
            cosim.update(at="ahead", when="a", unless="b")(first),
        ),
    ):
        assert vars(plain) == vars(marked)
    assert cosim.update(first, at="ahead").at == "ahead"
    assert cosim.kernel(first, refuses=["no"]).role == "check"


def test_a_shortest_pulse_may_have_a_unit():
    assert cosim.witness(shortest_pulse="2 ms")(first).witness_options.shortest_pulse == 0.002


class Callable:
    """Called like a function."""

    def __call__(self, q, k, tau):
        tau[0] -= k * q


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (3, "Pull: force is 3, and nothing calls it: write a kernel function, def force"),
        (Callable(), "force is an object of class Callable, and nothing calls it"),
        (Callable, "force is the class Callable, and nothing calls it"),
        ([pull], "and nothing calls it"),
    ],
)
def test_a_law_that_is_no_function(law, text):
    with pytest.raises(cosim.ContractError, match=text):
        of_force(law)


def mixed(function, name="force", first=True):
    """A class of forces whose law stands in a class that is not a component."""
    mixin = type("Mixin", (), {name: function})
    body = {"coordinate": coordinate(), "k": cosim.parameter(default=2.0)}
    return type("Pull", (mixin, Force) if first else (Force, mixin), body)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("law", [cosim.kernel(pull), pull_self])
def test_a_law_from_a_class_that_is_no_component_is_called(law, first):
    model = Multibody("m", gravity=(0, 0, 0))
    joint = model.joint("slider", child=model.body("b", mass=1.0, inertia=(1, 1, 1)), q=1.0)
    model.add(mixed(law, first=first), "pull", coordinate=joint)
    state = model.build().default_state().realize()
    assert state.y_dot[1] == -2.0


@pytest.mark.parametrize(
    ("law", "name", "text"),
    [
        (staticmethod(pull), "force", "staticmethod keeps force from being called"),
        (pull_self, "forec", "nothing calls forec: Pull calls energy, force; name it force"),
        (pull, "force_of", "nothing calls force_of: write @cosim.kernel above it"),
        (3, "force", "force is 3, and nothing calls it"),
    ],
)
def test_a_law_that_nothing_calls_in_a_class_that_is_no_component(law, name, text):
    with pytest.raises(cosim.ContractError, match=text):
        mixed(law, name)


@pytest.mark.parametrize(
    ("declare", "text"),
    [
        (lambda: cosim.discrete(dtype=str), "dtype is str, needs float, int or bool"),
        (lambda: cosim.discrete(invalidates=3), "invalidates is 3, needs a Stage"),
        (lambda: cosim.discrete(invalidates="zz"), "it invalidates 'zz', but it has no option of that name"),
        (lambda: cosim.parameter(shape=-1), "shape is -1, needs numbers of elements, or names"),
        (lambda: cosim.parameter(shape=2.0), "shape is 2.0, needs"),
        (lambda: cosim.parameter(shape=True), "shape is True, needs"),
        (lambda: cosim.parameter(minimum=float("nan")), "minimum is nan, needs a number"),
        (lambda: cosim.parameter(maximum="1 N"), "maximum is '1 N', needs a number in the declared unit"),
        (lambda: cosim.parameter(minimum=0.0, above=0.0), "give minimum or above, not both"),
        (lambda: cosim.option([1, 2]), r"option\(\[1, 2\]\): needs True or False"),
        (lambda: cosim.input(unit=3), "unit is 3, needs text"),
        (
            lambda: cosim.history(of="nothing", keep="n"),
            "the history 'it' is of 'nothing', but it has no quantity of that name",
        ),
        (lambda: cosim.history(of="n", keep="nothing"), "the history 'it' is kept for 'nothing'"),
    ],
)
def test_a_declaration_that_declares_nothing(declare, text):
    with pytest.raises(cosim.ContractError, match=text):
        type("Odd", (cosim.Component,), {"n": cosim.discrete(), "it": declare()})


def test_decorators_below_a_handler_and_a_witness():
    with pytest.raises(cosim.ContractError, match="decorator is below"):
        cosim.every(0.1, does="discrete")(logged(count))
    with pytest.raises(cosim.ContractError, match="staticmethod is below"):
        cosim.witness(direction="falling")(staticmethod(lambda height: height))


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
def test_integrators_algorithms_and_participants(base, name, text):
    with pytest.raises(cosim.ContractError, match=f"nothing calls {name}: {text}; name it so"):
        type("Mine", (base,), {"__doc__": "It.", name: lambda self: None})


def test_who_names_the_function_calls_it():
    class Mine(cosim.MasterAlgorithm):
        """A helper with a name that is nearly another's."""

        def step(self, exchange, time, size):
            self.steps(exchange)

        def steps(self, exchange):
            """One after the other."""

    assert Mine().order == 1


@pytest.mark.parametrize(
    ("name", "meant", "is_one"),
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
def test_what_is_a_misspelt_name(name, meant, is_one):
    assert is_misspelled(name, meant) is is_one


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("abc", "abc", 0), ("kitten", "sitting", 3)],
)
def test_edits(one, other, count):
    assert edits(one, other) == edits(other, one) == count


@pytest.mark.parametrize("name", ["Force", "for_ce", "FORCE"])
def test_a_law_beside_one_that_is_spelt_almost_so_is_refused(name):
    """Both would be called: the one that was meant to be replaced as well."""

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
