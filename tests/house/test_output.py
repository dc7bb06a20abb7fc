"""The supervisor must go on when nobody reads what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from config.up.output import Output


@pytest.fixture
def pipe() -> Iterator[tuple[Output, int]]:
    read, write = os.pipe()
    yield Output(write), read
    os.close(write)
    os.close(read)


def test_a_full_pipe_does_not_block_and_ready_is_not_lost(pipe: tuple[Output, int]) -> None:
    output, read = pipe
    for number in range(60_000):
        output.line("web", f"line {number} of a reader that sleeps")
    output.bare("READY {}")
    for number in range(60_000):
        output.line("web", f"line {number} after that")
    os.set_blocking(read, False)
    said = b""
    for _ in range(2000):
        output.flush()
        try:
            said += os.read(read, 65536)
        except BlockingIOError:
            break
    lines = said.decode().splitlines()
    assert "READY {}" in lines
    assert any("log lines were dropped" in line for line in lines)
    assert len(said) < 2_000_000


def test_lines_carry_their_program(pipe: tuple[Output, int]) -> None:
    output, read = pipe
    output.line("web", "hello")
    output.line("coordinator", "hello")
    assert os.read(read, 4096).decode() == "web        | hello\ncoordinator| hello\n"


def test_a_closed_terminal_is_survived() -> None:
    read, write = os.pipe()
    output = Output(write)
    os.close(read)
    output.line("web", "nobody hears this")
    output.line("web", "nor this")
    os.close(write)


@pytest.mark.parametrize(("name", "coloured"), [("NO_COLOR", False), ("FORCE_COLOR", True)])
def test_colours_follow_the_environment(monkeypatch: pytest.MonkeyPatch, name: str, coloured: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv(name, "1")
    read, write = os.pipe()
    Output(write).line("web", "hello")
    assert (b"\x1b[" in os.read(read, 4096)) is coloured
    os.close(read)
    os.close(write)
