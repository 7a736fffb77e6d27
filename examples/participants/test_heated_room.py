"""The tests of both: the contract kit."""

from heated_room import HeatedRoom
from relaxed_jacobi import RelaxedJacobi

from cosim_fmu.testing import MasterAlgorithmContract, ParticipantContract


class TestHeatedRoom(ParticipantContract):
    """The participant keeps the contract."""

    make = staticmethod(HeatedRoom)
    step = 60.0
    changes = {"power": 1500.0}


class TestRelaxedJacobi(MasterAlgorithmContract):
    """The algorithm keeps the contract."""

    make = staticmethod(RelaxedJacobi)
    order = 1.8
