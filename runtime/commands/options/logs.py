"""How logs are read and filtered: options that `log` and `identify` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from diffpbd.runtime.base.options import option
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.mending import ReadWords

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Processing
    from diffpbd.runtime.logs.recording import Reading

__all__ = ["LogWords", "log_options"]

STILL = "still"


@dataclass(frozen=True)
class LogWords(ReadWords):
    """The options as given."""

    cutoff: float = option("Cut-off of the low-pass filter (5); 0: none.", 5.0, metavar="HZ")
    trim: float | str = option(
        "Cut off at both ends after filtering: seconds, or `still`: the parts at rest.", "0", metavar="S",
        parse=lambda text: _trim(text),
    )  # fmt: skip
    bridge: float = option("Close gaps up to this long instead of splitting there.", 0.0, metavar="S")
    torque: str | None = option("The signal that is the joint torque, such as actual_effort.", None, metavar="FIELD")
    topic: str | None = option("The topic of a bag, if several name the joints.", None, metavar="NAME")
    rates: str = option(
        "The log's dq columns (default), or the derivative of the filtered positions.", "recorded",
        choices=("recorded", "positions"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses what is no filter and no unit."""
        super().__post_init__()
        self.processing()

    def reading_of(self, logs: Sequence[str]) -> Reading:
        """How files are read; --cut names some of the `logs`."""
        from diffpbd.runtime.logs.cutting import expect_files

        if self.cut:
            expect_files(self.cut, logs)
        return replace(self.reading(derive=self.rates == "positions"), torque=self.torque, topic=self.topic)

    def processing(self) -> Processing:
        """How they become samples."""
        from diffpbd.runtime.logs.processing import Processing

        still = self.trim == STILL
        return Processing(self.cutoff or None, trim=0.0 if still else float(self.trim), bridge=self.bridge, still=still)


def _trim(text: str) -> float | str:
    """Seconds, or the word."""
    try:
        return text if text == STILL else float(text)
    except ValueError:
        raise ValueError(f"{text} is neither a number of seconds nor `{STILL}`.") from None


log_options = job("words", LogWords)
"""Hands a command `words`."""
