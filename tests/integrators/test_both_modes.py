"""Every explicit method ends a run with the same bytes compiled and in plain Python."""

import hashlib

import cosim
from cosim.testing.known_solution import known_system
from cosim.testing.other_mode import results_in_other_mode

ADAPTIVE = ["heun", "bogacki_shampine", "runge_kutta_merson", "tsitouras", "dormand_prince_853"]
FIXED = ["explicit_euler", "runge_kutta_4", "semi_implicit_euler", "velocity_verlet", "yoshida_4"]


class Digests:
    """Digests of states at the ends of runs and in the middle of their last steps."""

    @classmethod
    def ends(cls) -> list[str]:
        """Return the name of each method and a digest."""
        digests = []
        for name in [*ADAPTIVE, *FIXED]:
            options = {"accuracy": 1e-3} if name in ADAPTIVE else {"fixed_step": 0.05}
            system = known_system()
            simulator = cosim.Simulator(system, integrator=f"integrators.{name}", **options)
            simulator.advance_to(0.1)
            simulator.step(0.15)
            middle = simulator.state.y.copy()
            integrator = simulator.integrator
            integrator.interpolate(0.5 * (integrator.previous_time + simulator.state.time), middle)
            data = simulator.state.to_bytes() + middle.tobytes()
            digests.append(f"{name} {hashlib.sha256(data).hexdigest()}")
        return digests


def test_compiled_is_plain_python() -> None:
    assert results_in_other_mode(Digests, "ends") == Digests.ends()
