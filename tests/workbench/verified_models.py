"""Second opinions about models of one part."""

import cosim


def verified(cls, values=None, **settings):
    """The second opinion about a model of one part, ``part``, with these values."""
    model = cosim.Model("model")
    model.add(cls, "part", **(values or {}))
    return model.verify(**settings)
