import io
import logging

from cosim_workbench.progress import NOTICE, compile_notice, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_without_a_terminal() -> None:
    stream = io.StringIO()
    with compile_notice(stream), progress_bar(2.0, stream=stream) as advance:
        assert advance is None
        logging.getLogger("cosim.native").info("compiling")
    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    with progress_bar(2.0, stream=stream) as advance:
        assert advance is not None
        assert advance(1.0) is None
        advance(2.0)
    assert "100 %" in stream.getvalue()
    assert "2.000 s" in stream.getvalue()


def test_compiling_is_said_once_and_the_logger_is_left_as_it_was() -> None:
    log = logging.getLogger("cosim.native")
    before = (log.level, list(log.handlers))
    stream = Terminal()
    with compile_notice(stream):
        log.debug("compiling")
        log.warning("damaged kernel is compiled again")
        assert stream.getvalue() == ""
        log.info("compiling")
        log.info("compiled force")
    assert stream.getvalue() == NOTICE + "\n"
    assert (log.level, log.handlers) == before
