"""The same fault in an input, a state, a discrete variable and a parameter: it shows where that is not 0."""

import cosim


def resting(x, x_dot):
    """A law for the state: it decays to 0, where it starts."""
    x_dot[0] = -x


def gates():
    """What a class declares under the name ``x``, for each kind."""
    return {
        "InInput": {"x": cosim.input(unit="1")},
        "InState": {"x": cosim.auxiliary_state(unit="1"), "resting": cosim.kernel(resting)},
        "InDiscrete": {"x": cosim.discrete(unit="1")},
        "InParameter": {"x": cosim.parameter(unit="1", default=0.0)},
    }


def gated_cases(cls, contract, module, **values):
    """Contracts of four classes with the fault of `cls`, whose functions ask for ``x``; by the kind of ``x``.

    Classes and contracts become names of the module, where other processes and FMUs find them.
    """
    cases = {}
    for kind, declarations in gates().items():
        name = cls.__name__ + kind
        names = {"__module__": module["__name__"], "__qualname__": name, "__doc__": cls.__doc__}
        # a class with a law of its own declares its axes itself
        axes = {"axes": cls.axes} if "axes" in vars(cls) else {}
        toy = module[name] = type(name, (cls,), {**declarations, **names, **axes})
        body = {
            "make": staticmethod(lambda toy=toy: toy(**values)),
            "__module__": module["__name__"],
            "__qualname__": f"{name}Case",
        }
        cases[kind] = module[f"{name}Case"] = type(f"{name}Case", (contract,), body)
    return cases
