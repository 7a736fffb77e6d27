"""Values of runs are checked before the first run."""

import numpy as np
import pytest
from ensemble_models import ball_model
from ensemble_parts import Bounded

import cosim


def test_faults_of_values_are_reported_together():
    ensemble = cosim.Ensemble(ball_model().build(), 1.0)
    with pytest.raises(cosim.ModelError) as caught:
        ensemble.run({"ball.restitution": [0.5, 1.5], "ball.hight": [1, 2], "ball.height": ["1 m", "2 kg"]})
    message = str(caught.value)
    for fault in ("run 1", "at most 1", "Nearest: ball.height", "kg"):
        assert fault in message
    with pytest.raises(cosim.ModelError, match="others have 3"):
        ensemble.run({"ball.restitution": [0.5, 0.6], "ball.height": [1, 2, 3]})
    with pytest.raises(cosim.ModelError, match="value for each run"):
        ensemble.run({"ball.restitution": 0.5})
    result = ensemble.run({"ball.height": ["10 cm", "1 m"]})
    assert result["ball.height"][:, 0].tolist() == [0.1, 1.0]


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("positive", np.array([1.0, 0.0]), "run 1: .*more than 0"),
        ("count", np.array([1.0, 1.5]), "run 1: .*integer"),
        ("table", np.zeros((2, 3, 2)), "shape"),
        ("table", np.zeros((2, 4)), "shape"),
        ("table[4]", np.zeros((2, 2)), "shape"),
    ],
)
def test_arrays_are_checked_as_single_values_are(path, values, message):
    model = cosim.Model("bounded")
    model.add(Bounded, "b")
    with pytest.raises(cosim.ModelError, match=message):
        model.simulate_many({f"b.{path}": values}, until=0.01)


def test_arrays_may_be_flat():
    model = cosim.Model("bounded")
    model.add(Bounded, "b")
    tables = np.arange(12.0).reshape(2, 2, 3)
    for values in (tables, tables.reshape(2, 6)):
        result = model.simulate_many({"b.table": values}, until=1.0, reduce={"end": "last(b.level)"})
        assert result["b.table"].shape == (2, 2, 3)
        np.testing.assert_allclose(result["end"], tables[:, 1, 2], rtol=1e-9)
