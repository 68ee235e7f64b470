"""A controller that is the user's own program, in any language: fixed-layout frames over its pipes.

The program computes law and gravity; link, guard and stop stay here. A tick is refused if the reply is late,
belongs to another state, or reports a status.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import struct
import subprocess
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import ArgumentError, InputError, SolverError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.control.law import Given, Law, Setup, Words
from diffpbd.runtime.interface.controller import Mode

__all__ = ["Program", "ProgramController"]

REPLY_SHARE = 0.5
"""Share of a period that a program may take for its reply."""

HELLO, STATE, REPLY = b"DPBA", b"DPBS", b"DPBR"
_HELLO = struct.Struct("<4sI")
_STATE = struct.Struct("<4sId")
_REPLY = struct.Struct("<4sIii")
START_TIMEOUT = 2.0  # s for the program's first answer
END_TIMEOUT = 1.0  # s between the request to end and the kill
START_TIME = -1.0  # s; tells the program to start anew at the measured pose


class ProgramController:
    """Torque mode; see docs/examples/baxter_c for the frames. Leave it with `close`."""

    name = "program"
    mode = Mode.TORQUE

    def __init__(self, command: Sequence[str], alpha: FloatArray, joints: int, *, timeout: float) -> None:
        """`timeout` [s] for each reply; less than a tick's period."""
        self._command = list(command)
        self._alpha = np.asarray(alpha, dtype="<f8")
        self._n = joints
        self._timeout = timeout
        self._sequence = 0
        self._buffer = b""
        self._last: tuple[bytes, FloatArray] | None = None
        self.late = 0
        """Number of late replies."""
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise InputError(f"The controller program {command[0]} cannot be run: {error.strerror}.") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        try:
            self._send(_HELLO.pack(HELLO, len(self._alpha)) + self._alpha.tobytes())
            self._receive(START_TIMEOUT)
        except SolverError as error:
            self.close()
            raise InputError(f"The controller program {command[0]} does not answer: {error}") from None

    def start(self, q: FloatArray) -> None:
        """Start the program's law at the measured pose."""
        self._exchange(START_TIME, q, np.zeros(self._n), START_TIMEOUT)

    def output(self, time: float, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The program's law [N·m]."""
        return self._exchange(time, q, dq, self._timeout)

    def gravity(self, q: FloatArray) -> FloatArray:
        """The program's gravity [N·m] at q, from the reply to the state with this q."""
        if self._last is None or self._last[0] != q.tobytes():
            self._exchange(START_TIME, q, np.zeros(self._n), START_TIMEOUT)
        assert self._last is not None
        return self._last[1]

    def _exchange(self, time: float, q: FloatArray, dq: FloatArray, timeout: float) -> FloatArray:
        self._sequence = (self._sequence + 1) % (1 << 32) or 1  # 0: the answer to the greeting
        numbers = np.concatenate([q, dq]).astype("<f8").tobytes()
        self._send(_STATE.pack(STATE, self._sequence, time) + numbers)
        law, gravity = self._receive(timeout)
        self._last = (q.tobytes(), gravity)
        return law

    def _send(self, frame: bytes) -> None:
        try:
            if os.write(self._to, frame) != len(frame):
                raise SolverError("the program does not read its input.")
        except (BlockingIOError, BrokenPipeError):
            raise SolverError("the program does not read its input or has ended.") from None

    def _receive(self, timeout: float) -> tuple[FloatArray, FloatArray]:
        """The reply to the last state; late replies to older ones are dropped."""
        size = _REPLY.size + 16 * self._n
        end = clock.monotonic() + timeout
        while True:
            while len(self._buffer) >= size:
                frame, self._buffer = self._buffer[:size], self._buffer[size:]
                magic, sequence, status, _ = _REPLY.unpack_from(frame)
                if magic != REPLY:
                    raise SolverError("the program's reply is not one.")
                if sequence != self._sequence:
                    continue
                if status != 0:
                    raise SolverError(f"the program reports status {status}.")
                numbers = np.frombuffer(frame, "<f8", 2 * self._n, _REPLY.size).astype(np.float64)
                return numbers[: self._n], numbers[self._n :]
            left = end - clock.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                self.late += 1
                raise SolverError(f"the program did not reply within {1e3 * timeout:g} ms.")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise SolverError("the program has ended.")
            self._buffer += part

    def close(self) -> None:
        """End the program: by request, else by killing it and its children."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.terminate()
        try:
            self._process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@dataclass(frozen=True)
class _Words(Words):
    program: str | None = option("With --controller program: your program, such as ./spring.", None, metavar="COMMAND")


@dataclass(frozen=True, kw_only=True, eq=False)
class Program(Law):
    """The words of a `command`, and the `timeout` [s] of its replies."""

    name: ClassVar[str] = "program"
    words: ClassVar[type[_Words]] = _Words
    command: Sequence[str]
    timeout: float

    @classmethod
    def told(cls, words: _Words, given: Given) -> Program:
        """The command line's words."""
        if not words.program:
            raise ArgumentError("--controller program needs --program COMMAND.")
        return cls(command=shlex.split(words.program), timeout=REPLY_SHARE / given.rate)

    def make(self, setup: Setup) -> ProgramController:
        """The controller, whose program runs."""
        return ProgramController(self.command, setup.alpha, setup.robot.n, timeout=self.timeout)
