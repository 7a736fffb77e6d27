"""A class with a law that nothing would call is refused, with what to write."""

import functools

import pytest

import cosim
from cosim.registration.registrations import Registrations
from cosim_mechanics import Constraint, Force, ForceElement, Joint, Multibody, coordinate


def wrapped(function):
    """A decorator of an author, in the common form."""

    @functools.wraps(function)
    def wrapper(*arguments, **options):
        return function(*arguments, **options)

    return wrapper


def pull(q, k, tau):
    tau[0] -= k * q


def pull_self(self, q, tau):
    tau[0] -= self.k * q


def force_class(law, name="force", base=Force):
    """A class of forces with one function in its body."""
    body = {"__doc__": "A force.", "k": cosim.parameter(default=2.0), name: law}
    if base is Force:
        body["coordinate"] = coordinate()
    return type("Pull", (base,), body)


def with_hidden_law(decorator):
    return lambda: force_class(decorator(cosim.kernel(pull)))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            with_hidden_law(staticmethod),
            "staticmethod hides this kernel function, and nothing calls it: let @cosim.kernel stand",
        ),
        (with_hidden_law(classmethod), "classmethod hides this kernel function"),
        (with_hidden_law(property), "property hides this kernel function"),
        (with_hidden_law(functools.cached_property), "cached_property hides this kernel function"),
        (with_hidden_law(functools.partial), "partial hides this kernel function"),
        (with_hidden_law(functools.lru_cache), "functools's _lru_cache_wrapper hides this kernel function"),
        (with_hidden_law(wrapped), "a decorator hides this kernel function"),
        (lambda: force_class(cosim.kernel(wrapped(pull))), "a decorator is below the decorator of cosim"),
        (
            lambda: force_class(cosim.kernel(staticmethod(pull))),
            "staticmethod is below the decorator of cosim",
        ),
        (lambda: force_class(cosim.kernel(functools.partial(pull))), "partial is below"),
        (
            lambda: force_class(cosim.kernel(print)),
            "the decorator is applied to the function print, needs a plain function",
        ),
        (
            lambda: force_class(staticmethod(pull)),
            "staticmethod keeps force from being called: write @cosim.kernel in",
        ),
        (lambda: force_class(functools.lru_cache(pull)), "_lru_cache_wrapper keeps force from being called"),
        (lambda: force_class(pull_self, "forces"), "nothing calls forces: Force calls force; name it so"),
        (lambda: force_class(pull_self, "froce"), "nothing calls froce: Force calls force"),
        (
            lambda: force_class(pull_self, "apply"),
            "nothing calls apply: Pull calls energy, force; name it one of these",
        ),
        (lambda: force_class(pull, "apply"), "nothing calls apply: write @cosim.kernel above it"),
        (lambda: force_class(pull, "forces"), "nothing calls forces"),
    ],
)
def test_a_force_whose_function_is_hidden_or_misnamed_is_refused_at_class_creation(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()


class Dispatcher:
    """Like the dispatcher of numba: the author's function is at `py_func`."""

    def __init__(self, function):
        self.py_func = function

    def __call__(self, *arguments):
        return self.py_func(*arguments)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: force_class(Dispatcher(pull)), "Dispatcher keeps force from being called"),
        (lambda: force_class(Dispatcher(pull), "pulls"), "nothing calls pulls: write @cosim.kernel above it"),
        (
            lambda: force_class(cosim.kernel(Dispatcher(pull))),
            "Dispatcher is below the decorator of cosim",
        ),
    ],
)
def test_a_law_under_another_compilers_decorator_is_refused(make, text):
    with pytest.raises(cosim.ContractError, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: force_class(lambda self, state: None, "apply"),
            r"Pull exerts no force: give it a kernel function force",
        ),
        (lambda: force_class(lambda self, state: None, "apply", ForceElement), r"Pull exerts no force"),
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
def test_a_class_without_a_law_cannot_be_made_into_a_part_or_registered(make, text):
    cls = make()  # as a base of other classes it is allowed
    cls.__doc__ = "What it is."
    with pytest.raises(cosim.ContractError, match=text):
        cls()
    with pytest.raises(cosim.ContractError, match=text):
        cosim.Model("m").add(cls, "part")
    registrations = Registrations(
        "acme", "acme", "1", lambda reason: cosim.PluginError("acme", "acme", "1", reason)
    )
    with pytest.raises(cosim.PluginError, match=text):
        registrations.register("acme.it", cls)


def test_bases_without_a_law_and_classes_with_one_are_made():
    class Base(Force):
        """Parameters that several forces share."""

        coordinate = coordinate()
        k = cosim.parameter(default=2.0)

        def stiffness_at(self, q):
            return self.k * q

    class Right(Base):
        """A plain method, behind a decorator that is called too."""

        @wrapped
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


def test_joints_constraints_measures_and_blocks_with_a_misnamed_law_are_refused():
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


def part_with(arguments, does="return 1.0", decorator="pass"):
    """A class with a function ``floor`` that has these arguments."""
    return cosim.kit.run_source(PART.format(decorator, arguments, does), {"cosim": cosim})["Part"]


@pytest.mark.parametrize(
    ("arguments", "decorator"),
    [
        ("height", "@cosim.witness"),
        ("t, height", "@cosim.witness"),
        ("upper, height", "@cosim.witness"),
        ("upper, lower", r"@cosim\.kernel\(refuses=\[…\]\)"),
        ("upper", r"@cosim\.kernel\(refuses=\[…\]\)"),
    ],
)
def test_a_witness_or_a_check_without_its_decorator_is_refused(arguments, decorator):
    with pytest.raises(
        cosim.ContractError, match=f"nothing calls floor: write {decorator} above it, or @static"
    ):
        part_with(arguments)
    assert part_with(arguments, decorator="@staticmethod").floor(*arguments.split(", ")) == 1.0


@pytest.mark.parametrize("arguments", ["self, height", "height, factor"])
def test_a_method_and_a_function_of_undeclared_names_are_allowed(arguments):
    assert part_with(arguments).floor(1.0, 2.0) == 1.0


def test_an_auto_update_without_its_decorator_is_refused():
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
        (wrapped(cosim.every(0.1, does="discrete")(count)), "a decorator hides this handler"),
        (count, r"nothing calls tick: write @cosim.on\(…\) or @cosim.every\(…\) above it"),
        (lambda self, state, next_state: None, "nothing calls tick: write what it is for above it"),
    ],
)
def test_a_hidden_or_unmarked_handler_is_refused(law, text):
    with pytest.raises(cosim.ContractError, match=text):
        type("Counter", (cosim.Component,), {"n": cosim.discrete(), "tick": law})


class CallableObject:
    """An object that can be called."""

    def __call__(self, q, k, tau):
        tau[0] -= k * q


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (3, "Pull: force is 3, and nothing calls it: write a kernel function, def force"),
        (CallableObject(), "force is an object of class CallableObject, and nothing calls it"),
        (CallableObject, "force is the class CallableObject, and nothing calls it"),
        ([pull], "and nothing calls it"),
    ],
)
def test_a_law_that_is_not_a_function_is_refused(law, text):
    with pytest.raises(cosim.ContractError, match=text):
        force_class(law)


def class_with_mixin(function, name="force", mixin_is_first=True):
    """A class of forces whose law is in a mixin, which is not a component."""
    mixin = type("Mixin", (), {name: function})
    body = {"coordinate": coordinate(), "k": cosim.parameter(default=2.0)}
    return type("Pull", (mixin, Force) if mixin_is_first else (Force, mixin), body)


@pytest.mark.parametrize("mixin_is_first", [True, False])
@pytest.mark.parametrize("law", [cosim.kernel(pull), pull_self])
def test_a_law_of_a_mixin_is_called(law, mixin_is_first):
    model = Multibody("m", gravity=(0, 0, 0))
    joint = model.joint("slider", child=model.body("b", mass=1.0, inertia=(1, 1, 1)), q=1.0)
    model.add(class_with_mixin(law, mixin_is_first=mixin_is_first), "pull", coordinate=joint)
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
def test_a_law_of_a_mixin_that_nothing_calls_is_refused(law, name, text):
    with pytest.raises(cosim.ContractError, match=text):
        class_with_mixin(law, name)
