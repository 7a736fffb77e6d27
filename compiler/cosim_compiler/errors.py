"""The errors that stand lowest: `cosim` raises them as its own."""


class CosimError(Exception):
    """Base of every error that cosim raises on purpose."""


class ContractError(CosimError, TypeError):
    """A class or a function does not fulfil the contract that it claims (found when the class is made)."""
