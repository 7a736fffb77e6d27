"""The algebra of s-vals: they add and multiply like the numbers that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosim_dynamics import SpatialSVal, SVal, SValTriple

number = st.floats(-1e3, 1e3, allow_nan=False)
numbers = st.lists(number, min_size=4, max_size=4)
vector = st.lists(number, min_size=3, max_size=3).map(np.array)
UDOT = np.array([0.7, -1.3, 2.9])


def sval(values: list[float]) -> SVal:
    """Return an s-val with three coefficients and a bias."""
    return SVal(values[3], dict(enumerate(values[:3])))


def triple(values: list[float]) -> SValTriple:
    """Return a vector s-val with four numbers as coefficients and biases."""
    a0, a1, a2 = (SVal.acceleration(i) for i in range(3))
    return SValTriple(values[0] * a0 + values[1], values[2] * a1 - a2, a0 - values[3])


def spatial() -> SpatialSVal:
    """Return a spatial s-val with two accelerations and a bias."""
    a0, a1 = SVal.acceleration(0), SVal.acceleration(1)
    return SpatialSVal((a0, 2.0 * a1 + 1.0, 0.0), (a1 - a0, 4.0, 0.5 * a0))


@given(numbers, numbers, number)
def test_operations_agree_with_those_of_numbers(a, b, k):
    s, r = sval(a), sval(b)
    x, y = s.evaluate(UDOT), r.evaluate(UDOT)
    for result, expected in [
        (s + r, x + y),
        (s - r, x - y),
        (s + k, x + k),
        (k - s, k - x),
        (k * s, k * x),
        (np.float64(k) * s, k * x),
        (s * SVal(k), x * k),
        (-s, -x),
        (s / (abs(k) + 1.0), x / (abs(k) + 1.0)),
    ]:
        assert result.evaluate(UDOT) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@given(numbers, vector, number)
def test_operations_of_triples_agree_with_those_of_vectors(a, b, k):
    s = triple(a)
    x = s.evaluate(UDOT)
    matrix = np.array([[1.0, 2.0, -3.0], [0.0, 4.0, k], [5.0, -6.0, 7.0]])
    for result, expected in [
        (s + b, x + b),
        (b + s, b + x),
        (b - s, b - x),
        (s * k, x * k),
        (k * s, k * x),
        (s / 2.0, x / 2.0),
        (matrix @ s, matrix @ x),
        (s.cross(b), np.cross(x, b)),
        (s.crossed_by(b), np.cross(b, x)),
        (s - s, np.zeros(3)),
    ]:
        assert result.evaluate(UDOT) == pytest.approx(expected, rel=1e-12, abs=1e-6)
    assert s.dot(b).evaluate(UDOT) == pytest.approx(x @ b, rel=1e-9, abs=1e-5)
    assert (s @ b).evaluate(UDOT) == s.dot(b).evaluate(UDOT)


def test_a_torque_is_its_row_of_the_mass_matrix_and_its_velocity_terms():
    torque = 2.0 * SVal.acceleration(1) + 0.5
    assert torque.row(3).tolist() == [0.0, 2.0, 0.0]
    assert torque.coefficient(1) == 2.0
    assert torque.coefficient(0) == 0.0
    assert torque.bias == 0.5
    with pytest.raises(IndexError, match="do not fit into a row of 1"):
        torque.row(1)


def test_an_array_times_a_scalar_s_val_is_a_triple():
    along = np.array([0.0, 0.0, 2.0]) * SVal.acceleration(0)
    assert isinstance(along, SValTriple)
    assert along.row(1).tolist() == [[0.0], [0.0], [2.0]]


def test_coefficients_that_cancel_are_removed():
    a0 = SVal.acceleration(0)
    assert not (a0 - a0).carries_accelerations
    assert ((a0 - a0 + 3.0) * a0).coefficient(0) == 3.0


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a * b,
        lambda a, b: a**2,
        lambda a, b: SValTriple(a, 0.0, 0.0) * SValTriple(b, 0.0, 0.0),
        lambda a, b: SValTriple(a, 0.0, 0.0).dot(SValTriple(b, 0.0, 0.0)),
        lambda a, b: SValTriple(a, 0.0, 0.0).cross(SValTriple(0.0, b, 0.0)),
        lambda a, b: SValTriple(a, 0.0, 0.0) * b,
        lambda a, b: b * SValTriple(a, 0.0, 0.0),
    ],
)
def test_products_of_accelerations_are_refused(product):
    with pytest.raises(
        TypeError,
        match="^product of two s-vals that both carry accelerations: the equations of motion are linear",
    ) as caught:
        product(SVal.acceleration(0), SVal.acceleration(1))
    assert "one factor must be free of them" in str(caught.value)


def test_division_by_an_s_val_and_its_truth_value_are_refused():
    with pytest.raises(TypeError, match="s-val.*carries accelerations"):
        1.0 / SVal.acceleration(0)
    with pytest.raises(TypeError, match="s-val.*value"):
        bool(SVal.acceleration(0))


@pytest.mark.parametrize("operand", ["text", None, {}, [1.0, 2.0]])
def test_operands_that_are_no_numbers_are_refused(operand):
    with pytest.raises(TypeError):
        SVal.acceleration(0) + operand
    with pytest.raises((TypeError, ValueError)):
        SValTriple(SVal.acceleration(0), 0.0, 0.0) + operand


def test_operations_of_spatial_s_vals_agree_with_those_of_arrays():
    s = spatial()
    x, b, arm = s.evaluate(UDOT), np.arange(1.0, 7.0), np.array([0.3, -0.2, 0.7])
    matrix = np.arange(36.0).reshape(6, 6)
    for result, expected in [
        (s + b, x + b),
        (b - s, b - x),
        (s - s, np.zeros(6)),
        (2.0 * s / 4.0, x / 2.0),
        (np.float64(3.0) * s, 3.0 * x),
        (matrix @ s, matrix @ x),
        (s.dot(b), x @ b),
        (b @ s, x @ b),
        (s.force_at(arm), np.concatenate([x[:3] - np.cross(arm, x[3:]), x[3:]])),
        (s.acceleration_at(arm), np.concatenate([x[:3], x[3:] + np.cross(x[:3], arm)])),
    ]:
        assert result.evaluate(UDOT) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert s.coefficient(1).tolist() == [0.0, 2.0, 0.0, 1.0, 0.0, 0.0]
    assert s.bias.tolist() == [0.0, 1.0, 0.0, 0.0, 4.0, 0.0]
    assert (s.dofs, len(s), s[3].bias) == ({0, 1}, 6, 0.0)


def test_arrays_may_be_on_either_side():
    s = triple([1.0, 2.0, 3.0, 4.0])
    b = np.array([1.0, -2.0, 0.5])
    x = s.evaluate(UDOT)
    for result, expected in [
        (b @ s, b @ x),
        (s @ b, b @ x),
        (np.dot(b, s), b @ x),
        (np.cross(b, s), np.cross(b, x)),
        (np.cross(s, b), np.cross(x, b)),
        (b * SVal.acceleration(1), b * UDOT[1]),
        (SVal.acceleration(1) * b, b * UDOT[1]),
    ]:
        assert isinstance(result, (SVal, SValTriple))
        assert result.evaluate(UDOT) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(TypeError, match="numpy.sum does not take s-vals"):
        np.sum(s)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), needs \(3, 3\)"):
        np.eye(2) @ s


@pytest.mark.parametrize(
    "operation",
    [
        lambda s: s @ s,
        lambda s: s.cross(s),
        lambda s: s * SVal.acceleration(0),
        lambda s: s * s,
        lambda s: spatial() * s,
        lambda s: spatial().dot(spatial()),
        lambda s: SVal.acceleration(0) ** 2,
    ],
)
def test_vector_products_of_accelerations_are_refused(operation):
    with pytest.raises(TypeError, match="s-vals.*both carry accelerations"):
        operation(triple([1.0, 2.0, 3.0, 4.0]))


@pytest.mark.parametrize(
    "question",
    [bool, float, abs, lambda s: s > 0.0, lambda s: s == 0.0, lambda s: s != s, lambda s: max(s, 1.0)],
)
def test_the_value_of_an_s_val_is_refused(question):
    with pytest.raises(TypeError, match="s-val.*value"):
        question(SVal.acceleration(0) + 1.0)


VECTOR, MATRIX = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 5.0], [0.0, 0.0, 1.0]])
REFUSED = {
    "scalar + vector": (lambda s, t, p: s + VECTOR, "a scalar s-val and a vector have no sum"),
    "vector + scalar": (lambda s, t, p: VECTOR + s, "a scalar s-val and a vector have no sum"),
    "scalar - vector": (lambda s, t, p: s - VECTOR, "a scalar s-val and a vector have no sum"),
    "vector - scalar": (lambda s, t, p: VECTOR - s, "a scalar s-val and a vector have no sum"),
    "triple * vector": (lambda s, t, p: t * VECTOR, r"write s\.dot\(b\) or s\.cross\(b\)"),
    "vector * triple": (lambda s, t, p: VECTOR * t, r"write s\.dot\(b\) or s\.cross\(b\)"),
    "matrix * triple": (lambda s, t, p: MATRIX * t, r"write s\.dot\(b\) or s\.cross\(b\)"),
    "triple / vector": (lambda s, t, p: t / VECTOR, "is divided by a number"),
    "triple / scalar": (lambda s, t, p: t / s, "division by an s-val that carries accelerations"),
    "spatial * vector": (lambda s, t, p: p * np.ones(6), "product of a vector s-val and a vector"),
    "power": (lambda s, t, p: t**2, "power of an s-val"),
    "as exponent": (lambda s, t, p: 2.0**s, "power of an s-val"),
    "triple == triple": (lambda s, t, p: t == t, "an s-val has no value"),
    "if triple": (lambda s, t, p: bool(t), "an s-val has no value"),
    "abs of a spatial": (lambda s, t, p: abs(p), "an s-val has no value"),
    "cross of two": (lambda s, t, p: np.cross(t, t), "product of two s-vals that both carry accelerations"),
    "scalar * triple": (lambda s, t, p: s * t, "product of two s-vals that both carry accelerations"),
    "triple * scalar": (lambda s, t, p: t * s, "product of two s-vals that both carry accelerations"),
    "power of spatials": (lambda s, t, p: p.dot(p), "product of two s-vals that both carry accelerations"),
}


@pytest.mark.parametrize(("operation", "reason"), REFUSED.values(), ids=REFUSED)
def test_undefined_operations_are_refused_with_the_reason(operation, reason):
    s, t = SVal.acceleration(0), triple([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(TypeError, match=reason):
        operation(s, t, SpatialSVal(t, t))


def test_every_operation_takes_arrays_on_either_side():
    s, t = SVal.acceleration(0) + 1.0, triple([1.0, 2.0, 3.0, 4.0])
    p, x, y = SpatialSVal(t, 2.0 * t), s.evaluate(UDOT), t.evaluate(UDOT)
    z, six, six_by_six = np.concatenate([y, 2.0 * y]), np.arange(6.0), np.arange(36.0).reshape(6, 6)
    for result, expected in [
        (np.array(2.0) * s, 2.0 * x),
        (s * np.array(2.0), 2.0 * x),
        (s / np.float64(4.0), x / 4.0),
        (VECTOR * s, VECTOR * x),
        (s * VECTOR, VECTOR * x),
        (VECTOR + t, VECTOR + y),
        (VECTOR - t, VECTOR - y),
        (MATRIX @ t, MATRIX @ y),
        (t @ MATRIX, y @ MATRIX),
        (VECTOR @ t, VECTOR @ y),
        (t @ VECTOR, y @ VECTOR),
        (np.dot(MATRIX, t), MATRIX @ y),
        (np.cross(VECTOR, t), np.cross(VECTOR, y)),
        (np.cross(t, VECTOR), np.cross(y, VECTOR)),
        (six_by_six @ p, six_by_six @ z),
        (six @ p, six @ z),
        (six - p, six - z),
        (+t, y),
        (+p, z),
    ]:
        np.testing.assert_allclose(np.array(result.evaluate(UDOT), dtype=float), expected, atol=1e-12)
