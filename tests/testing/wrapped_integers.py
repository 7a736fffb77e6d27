"""An integer that leaves 64 bits: a compiled function has another one than plain Python."""


def wrapped_integer():
    """The last three digits of a number of 68 digits, or of what 64 bits have of it."""
    number = 1
    for _ in range(80):
        number = number * 7 + 1
    return number % 1000
