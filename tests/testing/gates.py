"""The same fault in an input, a state, a discrete variable and a parameter, all 0 unless they are moved."""

import cosim


def resting(x, x_dot):
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
    """Contracts of four classes with the fault of `cls`, whose functions ask for ``x``; by the kind of it.

    Classes and contracts become names of the module, where other processes and FMUs find them.
    """
    found = {}
    for kind, declared in gates().items():
        name = cls.__name__ + kind
        about = {"__module__": module["__name__"], "__doc__": cls.__doc__, "__qualname__": name}
        kept = (
            {"axes": cls.axes} if "axes" in vars(cls) else {}
        )  # which a class with a law of its own says anew
        made = module[name] = type(name, (cls,), {**declared, **about, **kept})
        case = {"make": staticmethod(lambda made=made: made(**values)), "__module__": module["__name__"]}
        found[kind] = module[f"{name}Case"] = type(
            f"{name}Case", (contract,), {**case, "__qualname__": f"{name}Case"}
        )
    return found
