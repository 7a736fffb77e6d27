"""Unit expressions, quantities as people write them, and the errors that name the right spelling."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosim import UnitError, parse_quantity
from cosim.kit import conversion, parse_unit
from cosim.units import Unit, exact_quantity, unit_of_quantity

# kg m s A K mol cd rad, factor to base units: NIST SP 811 (2008), tables 3 and 8, and appendix B.8
KNOWN = {
    "1": ((0, 0, 0, 0, 0, 0, 0, 0), 1.0),
    "": ((0, 0, 0, 0, 0, 0, 0, 0), 1.0),
    "kg": ((1, 0, 0, 0, 0, 0, 0, 0), 1.0),
    "N": ((1, 1, -2, 0, 0, 0, 0, 0), 1.0),
    "N.m/rad": ((1, 2, -2, 0, 0, 0, 0, -1), 1.0),
    "N.m.s/rad": ((1, 2, -1, 0, 0, 0, 0, -1), 1.0),
    "kg.m2": ((1, 2, 0, 0, 0, 0, 0, 0), 1.0),
    "m/s2": ((0, 1, -2, 0, 0, 0, 0, 0), 1.0),
    "N.s2/m2": ((1, -1, 0, 0, 0, 0, 0, 0), 1.0),
    "N.s/(m.rad)": ((1, 0, -1, 0, 0, 0, 0, -1), 1.0),
    "kg.m.s-2": ((1, 1, -2, 0, 0, 0, 0, 0), 1.0),
    "m+2": ((0, 2, 0, 0, 0, 0, 0, 0), 1.0),
    "(m/s)/s": ((0, 1, -2, 0, 0, 0, 0, 0), 1.0),
    "1/s": ((0, 0, -1, 0, 0, 0, 0, 0), 1.0),
    "mm": ((0, 1, 0, 0, 0, 0, 0, 0), 1e-3),
    "mm2": ((0, 2, 0, 0, 0, 0, 0, 0), 1e-6),
    "dag": ((1, 0, 0, 0, 0, 0, 0, 0), 1e-2),
    "min": ((0, 0, 1, 0, 0, 0, 0, 0), 60.0),
    "km/h": ((0, 1, -1, 0, 0, 0, 0, 0), 1000.0 / 3600.0),
    "µm": ((0, 1, 0, 0, 0, 0, 0, 0), 1e-6),
    "deg": ((0, 0, 0, 0, 0, 0, 0, 1), math.pi / 180.0),
    "rpm": ((0, 0, -1, 0, 0, 0, 0, 1), math.pi / 30.0),
    "Hz": ((0, 0, -1, 0, 0, 0, 0, 0), 1.0),
    "V": ((1, 2, -3, -1, 0, 0, 0, 0), 1.0),
    "Ohm": ((1, 2, -3, -2, 0, 0, 0, 0), 1.0),
    "F": ((-1, -2, 4, 2, 0, 0, 0, 0), 1.0),
    "W/(m2.K)": ((1, 0, -3, 0, -1, 0, 0, 0), 1.0),
    "mol/l": ((0, -3, 0, 0, 0, 1, 0, 0), 1e3),
    "lx": ((0, -2, 0, 0, 0, 0, 1, 2), 1.0),
    "mbar": ((1, -1, -2, 0, 0, 0, 0, 0), 100.0),
    "%": ((0, 0, 0, 0, 0, 0, 0, 0), 0.01),
}


@pytest.mark.parametrize("text", KNOWN)
def test_a_unit_has_the_published_exponents_and_factor(text: str) -> None:
    unit = parse_unit(text)
    exponents, factor = KNOWN[text]
    assert unit.exponents == exponents
    assert unit.factor == pytest.approx(factor, rel=1e-15)
    assert unit.offset == 0.0


@pytest.mark.parametrize(
    ("unit", "equal_unit"),
    [("J", "N.m"), ("W", "J/s"), ("V.A", "W"), ("Pa", "N/m2"), ("Wb", "V.s"), ("F", "C/V")],
)
def test_derived_units_of_the_si_are_equal(unit: str, equal_unit: str) -> None:
    assert parse_unit(unit) == parse_unit(equal_unit)


def test_a_temperature_scale_has_an_offset_only_by_itself() -> None:
    assert parse_unit("degC").offset == 273.15
    assert parse_unit("W/degC") == parse_unit("W/K")
    assert parse_quantity("20 degC", "K") == 293.15
    assert parse_quantity("212 degF", "degC") == pytest.approx(100.0, abs=1e-12)
    assert conversion("K", "degC") == (1.0, -273.15)


def test_a_decimal_power_within_parentheses_is_a_root() -> None:
    for unit in ("m3/(s.Pa^0.5)", "m3/(s.Pa0.5)", "m3/(s.sqrt(Pa))", "m3/(s.Pa^(0.5))"):
        assert parse_quantity(f"2 {unit}", "m3/(s.Pa^(1/2))") == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nm", "unknown part 'Nm'. A product is written with a dot: N.m."),
        ("N*m", "A product is written with a dot: N.m."),
        ("kg m", "A product is written with a dot: kg.m."),
        ("m3/(s.Pa0.5)", "A root is written with a fraction: m3/(s.Pa^(1/2))."),
        ("m^2", "A power is written without a sign: m2."),
        ("m/s²", "A power is written with plain digits: m/s2."),
        ("newton", "Nearest: N."),
        ("kN.m/sec", "unknown part 'sec'. Nearest: s."),
        ("Kg", "Nearest: kg."),
        ("°C", "degC"),
        ("m/s/s", "'/s' after a division is ambiguous: use parentheses"),
        ("N/m.s", "'.s' after a division"),
        ("(m", "a parenthesis is not closed"),
        ("m)", "cannot read the rest, ')'"),
        ("m.", "ends too early"),
        ("/s", "unknown part '/'"),
        ("N.quux", "unknown part 'quux'. Units are written like"),
        ("m--2", "cannot read the rest, '--2'"),
        ("km400", "at most 99"),
        ("Ym99", "out of range"),
    ],
)
def test_a_wrong_unit_is_answered_with_the_right_one(text: str, message: str) -> None:
    with pytest.raises(UnitError) as error:
        parse_unit(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("120 N/mm", "N/m", 1.2e5),
        ("-300 mm", "m", -0.3),
        ("5 ms", "s", 0.005),
        ("0.1 ms", "s", 1e-4),
        ("12 cm2", "m2", 12e-4),
        ("1e3mm", "m", 1.0),
        (".5 kN.m", "N.m/rad", 500.0),
        ("+7", "kg", 7.0),
        ("1 m", "mm", 1000.0),
        (3, "m", 3.0),
        (2.5, "m", 2.5),
        ("3000 rpm", "rad/s", 100.0 * math.pi),
    ],
)
def test_a_quantity_is_converted_to_a_unit(text: str | float, unit: str, number: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(number, rel=2e-16)


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("3 kg*m^2", "kg.m2", 3.0),
        ("3 kg·m²", "kg.m2", 3.0),
        ("3 kg m2", "kg.m2", 3.0),
        ("3 kg*m**2/(s^2*rad)", "N.m/rad", 3.0),
        ("9.81 m/s/s", "m/s2", 9.81),
        ("9.81 m s⁻²", "m/s2", 9.81),
        ("9.81 m*s^(-2)", "m/s2", 9.81),
        ("12 Nm", "N.m", 12.0),
        ("12 kNm/rad", "N.m/rad", 12e3),
        ("12 Nmm", "N.m", 12e-3),
        ("2 inches", "m", 0.0508),
        ("10 ft", "m", 3.048),
        ("0 ft", "m", 0.0),
        ("5 lbf/in", "N/m", 875.6341762323818),
        ("30 lbf ft", "N.m", 30 * 4.4482216152605 * 0.3048),
        ("30 ft-lbf", "N.m", 30 * 4.4482216152605 * 0.3048),
        ("100 psi", "Pa", 689475.7293168361),
        ("3 pounds", "kg", 1.36077711),
        ("60 mph", "m/s", 26.8224),
        ("1 hp", "W", 745.6998715822702),
        ("10 deg / s", "rad/s", math.pi / 18.0),
        ("90°", "rad", math.pi / 2.0),
        ("20 °C", "K", 293.15),
        ("2 meters per second", "m/s", 2.0),
        ("3 hours", "s", 10800.0),
        ("5 mm/sqrt(s)", "m/s^(1/2)", 5e-3),
        ("5 mm/s^0.5", "m.s^(-1/2)", 5e-3),
        ("4 m^1.5", "m^(3/2)", 4.0),
        ("4 sqrt(m2)", "m", 4.0),
        ("4 m/√(Hz)", "m/Hz^(1/2)", 4.0),
    ],
)
def test_a_quantity_with_a_unit_as_people_write_it(text: str, unit: str, number: float) -> None:
    assert parse_quantity(text, unit) == pytest.approx(number, rel=4e-16)
    assert float(exact_quantity(text, unit)) == pytest.approx(number, rel=1e-13)
    parse_unit(unit_of_quantity(text))


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("5 N/m*s", "N.s/m", "cannot read the rest, '*s'"),
        ("5 lb", "N", "A force is written '5 lbf'."),
        ("5 lbs/in", "N/m", "A force is written '5 lbf/in'."),
        ("5 Nms", "N.m.s", "unknown part 'Nms'"),
        ("5 Kg", "kg", "Nearest: kg."),
        ("5 mw", "W", "Nearest: MW, mW."),
        ("5 hz", "Hz", "Nearest: Hz."),
        ("5 m^(1/0)", "m", "exponent 1/0 is out of range"),
        ("5 m/sqrt(s)", "m/s", "m/s^(1/2) cannot be converted to m/s"),
    ],
)
def test_an_ambiguous_or_misspelt_quantity_is_an_error(text: str, unit: str, message: str) -> None:
    with pytest.raises(UnitError) as error:
        parse_quantity(text, unit)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kg*m^2", "A product is written with a dot: kg.m2."),
        ("m^0.5", "A root is written with a fraction: m^(1/2)."),
        ("sqrt(Hz)", "A root is written with a fraction: Hz^(1/2)."),
        ("inch", "Nearest: in."),
    ],
)
def test_a_unit_in_a_declaration_must_be_an_expression(text: str, message: str) -> None:
    with pytest.raises(UnitError) as error:
        parse_unit(text)
    assert message in str(error.value)


def test_roots_are_units() -> None:
    root = parse_unit("m/s^(1/2)")
    assert root == parse_unit("m.s^(-1/2)") and root.base == "m/s^(1/2)"
    assert parse_unit("(m2)^(1/2)") == parse_unit("m") and parse_unit("(mm2)^(1/2)").factor == 1e-3


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("120 N/mm", "N.m/rad", ["120 N/mm", "N/mm (kg/s2)", "N.m/rad (kg.m2/(s2.rad))"]),
        ("3 kg", "N", ["kg cannot be converted to N"]),
        ("3000 rpm", "Hz", ["differ by 2π"]),
        ("fast", "m/s", ["'fast' is not a quantity", "'12 m/s'"]),
        ("3 furlong", "m", ["'3 furlong': unit 'furlong'"]),
        ("nan", "m", ["not a quantity"]),
    ],
)
def test_the_error_of_an_incompatible_quantity_names_both_units(
    text: str, unit: str, message: list[str]
) -> None:
    with pytest.raises(UnitError) as error:
        parse_quantity(text, unit)
    assert [part for part in message if part not in str(error.value)] == []


@pytest.mark.parametrize(
    ("unit", "other_unit", "expected"),
    [
        ("N.m", "N.m/rad", True),
        ("rad", "1", True),
        ("Hz", "1/s", True),
        ("Hz", "rad/s", False),
        ("kHz", "Hz", True),
    ],
)
def test_angles_are_compatible_with_numbers_and_cycles_not_with_radians(
    unit: str, other_unit: str, expected: bool
) -> None:
    assert parse_unit(unit).is_compatible(parse_unit(other_unit)) is expected
    assert parse_unit(other_unit).is_compatible(parse_unit(unit)) is expected


SYMBOLS = st.sampled_from(
    ["kg", "m", "mm", "s", "ms", "A", "K", "mol", "cd", "rad", "deg", "N", "kN", "J", "V", "l", "min"]
)
FACTORS = st.builds(
    lambda name, power: name + ("" if power == 1 else str(power)), SYMBOLS, st.sampled_from([1, 2, 3, -1, -2])
)
PRODUCTS = st.lists(FACTORS, min_size=1, max_size=4).map(".".join)
UNITS = st.one_of(PRODUCTS, st.builds(lambda above, below: f"{above}/({below})", PRODUCTS, PRODUCTS))


@given(UNITS)
def test_the_base_form_reads_back_as_the_same_dimension(text: str) -> None:
    unit = parse_unit(text)
    base = parse_unit(unit.base)
    assert base.exponents == unit.exponents
    assert base.factor == 1.0
    assert base.base == unit.base


@given(PRODUCTS, PRODUCTS)
def test_division_undoes_multiplication(factor: str, divisor: str) -> None:
    product, quotient = parse_unit(f"{factor}.{divisor}"), parse_unit(f"({factor}.{divisor})/({divisor})")
    assert quotient.exponents == parse_unit(factor).exponents
    assert product.factor == pytest.approx(parse_unit(factor).factor * parse_unit(divisor).factor, rel=1e-12)


@given(UNITS, st.sampled_from(["%", "deg", "m/mm", "min/s"]), st.floats(-1e6, 1e6, allow_subnormal=False))
def test_a_conversion_and_its_inverse_return_the_number(text: str, scale: str, number: float) -> None:
    other = f"({text}).{scale}" if "/" not in scale else f"({text}).({scale})"
    assert parse_unit(other).is_compatible(parse_unit(text))
    factor, offset = conversion(text, other)
    back_factor, back_offset = conversion(other, text)
    assert (number * factor + offset) * back_factor + back_offset == pytest.approx(
        number, rel=1e-12, abs=1e-300
    )


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["m", "kg", "N.m/rad", "1"]))
def test_a_number_in_the_target_unit_is_not_changed(number: float, unit: str) -> None:
    assert parse_quantity(number, unit) == number
    assert parse_quantity(f"{number!r} {unit}", unit) == number


@given(st.text(max_size=12))
def test_any_text_is_a_unit_or_a_unit_error(text: str) -> None:
    try:
        assert isinstance(parse_unit(text), Unit)
    except UnitError as error:
        assert text.strip() in str(error)
