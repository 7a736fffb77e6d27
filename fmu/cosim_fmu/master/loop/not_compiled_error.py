"""A co-simulation whose loop is the one in Python."""


class NotCompiledError(Exception):
    """Why a co-simulation goes on in Python; no error."""
