"""An isolated participant needs one message for each step, and has the values of a message for each call."""

import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from in_a_process import Echo

import cosim
from cosim_fmu import ProcessParticipant
from cosim_master.processes.calls import Call, calls_of_numbers
from cosim_master.processes.channel import Channel, MessageError, Numbers
from cosim_master.processes.session import Ticket

pytestmark = pytest.mark.skipif(os.name == "nt", reason="exit codes of POSIX")


@pytest.fixture
def part() -> Iterator[ProcessParticipant]:
    participant = ProcessParticipant(Echo)
    participant.initialize(0.0, None, {})
    yield participant
    participant.close()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls in each message that this process sends."""
    sent: list[str] = []
    send, send_numbers = Channel.send, Channel.send_numbers

    def send_and_note(channel: Channel, calls: list[Call]) -> None:
        sent.append(" ".join(call.name for call in calls))
        send(channel, calls)

    def send_numbers_and_note(channel: Channel, numbers: Numbers) -> None:
        sent.append(" ".join(call.name + " in numbers" for call in calls_of_numbers(numbers)))
        send_numbers(channel, numbers)

    monkeypatch.setattr(Channel, "send", send_and_note)
    monkeypatch.setattr(Channel, "send_numbers", send_numbers_and_note)
    return sent


def exchange(part: ProcessParticipant, i: int) -> list[float]:
    """Set the input to `i`, take step `i` of 0.1 s, and read the outputs."""
    part.set(["u"], [float(i)])
    part.step(0.1 * i, 0.1)
    return [*part.get(["y"]), *part.get(["t", "u"])]


def test_a_step_is_one_message_once_its_calls_are_known(
    part: ProcessParticipant, messages: list[str]
) -> None:
    for i in range(5):
        assert exchange(part, i) == pytest.approx([i, 0.1 * i + 0.1, i])
    assert messages == ["set", "step in numbers", "get", "get", *["step in numbers"] * 4]


def test_values_that_came_with_a_step_are_read_without_a_message_until_another_call(
    part: ProcessParticipant, messages: list[str]
) -> None:
    for i in range(3):
        exchange(part, i)
    assert part.get(["y"]) == [2.0] and messages[-1] == "step in numbers"
    part.get(["y"])[0] = 7.0  # changes a copy
    assert part.get(["y"]) == [2.0]
    part.set(["u"], [5.0])
    assert part.get(["y"]) == [5.0] and messages[-1] == "get"
    state = part.save()
    part.set(["u"], [6.0])
    part.step(0.3, 0.1)
    assert part.get(["y"]) == [6.0] and part.get(["t", "u"]) == [pytest.approx(0.4), 6.0]
    part.restore(state)
    assert part.get(["y"]) == [5.0] and part.get(["t", "u"]) == [pytest.approx(0.3), 5.0]


def test_after_a_step_without_reading_later_steps_bring_no_values(
    part: ProcessParticipant, messages: list[str]
) -> None:
    for i in range(2):
        exchange(part, i)
    part.step(0.2, 0.1)
    part.step(0.3, 0.1)
    assert part._values_with_steps.values == {}
    assert part.get(["t"]) == [pytest.approx(0.4)] and messages[-1] == "get"


def test_a_value_of_another_type_is_not_sent_in_numbers(
    part: ProcessParticipant, messages: list[str]
) -> None:
    exchange(part, 0)
    part.set(["u"], [2])
    part.step(0.1, 0.1)
    assert messages[-1] == "step"
    part.set(["u"], [np.float64(3.0)])
    part.step(0.2, 0.1)
    assert messages[-1] == "step" and part.get(["y"]) == [3.0]
    part.set(["u"], np.array([4.0]))
    part.step(0.3, 0.1)
    assert messages[-1] == "step in numbers" and part.get(["y"]) == [4.0]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("numbers", "call", "reason"),
    [
        (Numbers([0], [0.1]), "get", "numbers for a request that has another answer"),
        (Numbers([], []), "step", ""),
        (Numbers([0, 0], [0.1, 0.2]), "step", ""),
        (Numbers([0], []), "step", ""),
        (Numbers([0], [0.1, 0.2]), "step", "another number of values"),
        (Numbers([1], [0.1]), "step", "another number of values"),
    ],
    ids=["no step", "no answer", "two answers", "no time", "a value more", "a length less"],
)
def test_wrong_numbers_are_refused_as_an_answer(
    part: ProcessParticipant, numbers: Numbers, call: str, reason: str
) -> None:
    session = part._calls.session
    assert session is not None
    session._sent.append([Ticket(1, call)])
    with pytest.raises(MessageError, match=f"is not an answer: .*{reason}"):
        session._hand_out(numbers)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "send",
    [
        lambda channel: channel.send([["x"]]),
        lambda channel: channel.send_numbers(Numbers([1], [0.5])),
        lambda channel: channel.send_numbers(Numbers([1, 0, 0, 0], [0.5])),
        lambda channel: channel.send_numbers(Numbers([1, 0, 1, 0, 2, 0, 0], [0.0, 0.1])),
        lambda channel: channel.send_numbers(Numbers([1, 4, 0, 0], [0.0, 0.1])),
    ],
    ids=["no call", "an integer", "no size", "no such write", "no such action"],
)
def test_wrong_calls_end_the_process(part: ProcessParticipant, send: Callable[[Channel], None]) -> None:
    exchange(part, 0)
    assert part._calls.session is not None
    send(part._calls.session._channel)
    with pytest.raises(cosim.CosimError, match="process ended.*0"):
        part.get(["t"])


def test_a_refused_input_is_an_error_of_the_step_that_names_the_function(
    part: ProcessParticipant,
) -> None:
    for i in range(3):
        exchange(part, i)
    part.set(["u"], [13.0])
    with pytest.raises(cosim.FmuError, match=r"echo: fmi2SetReal: no 13"):
        part.step(0.3, 0.1)
    assert part.get(["t"]) == [pytest.approx(0.3)]  # the step was not taken
    part.set(["u"], [1.0])
    part.step(0.3, 0.1)
    assert part.get(["t", "y"]) == [pytest.approx(0.4), 1.0]


def test_an_output_that_cannot_be_read_is_an_error_of_reading_and_not_of_the_step(
    part: ProcessParticipant,
) -> None:
    for i in range(3):
        exchange(part, i)
    part.set(["u"], [-1.0])
    assert part.step(0.3, 0.1) == pytest.approx(0.4)
    with pytest.raises(cosim.FmuError, match="fmi2GetReal: nothing"):
        part.get(["y"])


@pytest.mark.parametrize(("value", "code", "call"), [(99.0, 9, "set"), (-99.0, 8, "get")])
def test_if_the_process_ends_the_message_names_the_call(
    value: float, code: int, call: str, part: ProcessParticipant
) -> None:
    for i in range(3):
        exchange(part, i)
    part.set(["u"], [value])
    with pytest.raises(cosim.CosimError, match=f"ended by itself with exit code {code} in {call}$"):
        part.step(0.3, 0.1)
