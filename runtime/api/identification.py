"""Parameters of a robot from recordings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffpbd.runtime.api.keywords import keywords
from diffpbd.runtime.api.picture import Picture, drawn
from diffpbd.runtime.api.recordings import Logged, of_record, reading_of, recording_of
from diffpbd.runtime.api.words import expect_options, in_python
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.base.fitting import number
from diffpbd.runtime.functions.parameters import ParameterValues
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from diffpbd.runtime.api.keyword_types import IdentifyHow
    from diffpbd.runtime.identify import Identification as Result

__all__ = ["Identification", "identify"]


@in_python
def identify(
    robot: Robot,
    logs: Logged | Sequence[Logged],
    fit: str | Sequence[str],
    *,
    validate: Logged | Sequence[Logged] = (),
    split: float | None = None,
    fixed: Mapping[str, float] | None = None,
    start: ParameterValues = None,
    **how: Unpack[IdentifyHow],
) -> Identification:
    """Parameters of `robot` from `logs`: files, recordings of `read_log`, or runs of `simulate`; one or several.

    `fit` names what is fitted, "friction,spring" or a list: friction (Coulomb and viscous friction and torque offset of every
    joint), spring, lever_spring, inertials, contact (friction of contacts, heights of planes), loop (lengths of closed
    loops, by the encoders), or entries of alpha or prefixes of them such as "rotor_inertia" or "payload.mass".
    `validate` are other recordings to test on, `split` the share of each log that is fitted while the rest is tested on;
    `fixed` are values that stay, `start` values of the others and where the search begins.

    Reading: as in `read_log`, and `accept`, kinds of findings to go on with. Filter: `cutoff` (5 Hz, for contacts and loops
    none; None: none), `trim` and `bridge` [s], `still=True`. Fit, as docs/identification.md says: `form` "torque",
    "shooting", "simultaneous" or "didim" (with `reference` and `gains`), `prior`, `loss`, `starts`, `cross_validate`,
    `standstill`, `friction_model`, `instruments` [Hz], `total_mass` and `total_mass_sigma` [kg],
    `symmetric` ("forearm:xz"), `essential`, `residual`, `continuity`, `torques` (joints with unknown torque, "all"). `jobs`
    processes; `progress` is called with progress messages, `print` for example.

    Needs the extra `solve`. InputError for recordings or names that do not fit, SolverError for a failed solve.
    """
    from diffpbd.runtime.identify import Settings, select, starting_point, unknown_torques, with_inertials
    from diffpbd.runtime.identify import identify as fit_logs
    from diffpbd.runtime.identify.settings.workers import workers

    expect_options("identify", how, keywords("IdentifyHow"))
    names = fit.split(",") if isinstance(fit, str) else list(fit)
    for name in ("starts", "jobs"):
        number(name, how.get(name, 1), 1)
    torques = how.get("torques")
    held = dict(fixed or {})
    with workers(how.get("jobs", 1)) as spread:
        given: Mapping[str, Any] = how
        if isinstance(torques, str):
            torques = unknown_torques(robot, torques, None)
        settings = Settings(**{**of_record(Settings, given), "torques": torques, "spread": spread})
        fitted = with_inertials(robot, names, settings.form)
        select(fitted, names, held)  # refuse before reading hours of logs
        wanted = _wanted(how, robot, names, split, settings)
        base = starting_point(robot, fitted, names, start, held)
        train, rest = _samples(robot, logs, wanted, spread)
        tested = rest + _samples(robot, validate, replace(wanted, split=None), spread)[0]
        result = fit_logs(
            fitted, train, names, fixed=held, validate=tested, start=fitted.alpha.by_name(base), settings=settings,
            progress=how.get("progress"),
        )  # fmt: skip
    return Identification(robot, result)


def _wanted(how: Mapping[str, Any], robot: Robot, names: Sequence[str], split: float | None, settings: Any) -> Any:
    """How recordings are read: unfiltered if only positions are compared, and without torques if allowed."""
    from diffpbd.runtime.identify import Wanted, in_contact, of_lengths

    by_positions = in_contact(names) or of_lengths(robot, names)
    processing = _processing({"cutoff": None, **how} if by_positions else how)
    return Wanted(reading_of(how), processing, split, by_positions or settings.torques is not None)


def _processing(how: Mapping[str, Any]) -> Any:
    from diffpbd.runtime.logs.processing import Processing

    return Processing(**of_record(Processing, how))


def _samples(robot: Robot, logs: Any, wanted: Any, spread: Any) -> tuple[list[Any], list[Any]]:
    """Samples of files, and of recordings in memory, in their order."""
    from diffpbd.runtime.identify import read_recordings, samples_of

    several = list(logs) if isinstance(logs, (list, tuple)) else [logs]
    if all(isinstance(log, (str, Path)) for log in several):
        return read_recordings(robot, [str(log) for log in several], wanted, spread)
    first: list[Any] = []
    second: list[Any] = []
    for k, log in enumerate(several):
        if isinstance(log, (str, Path)):
            early, late = read_recordings(robot, [str(log)], wanted, spread)
        else:
            early, late = samples_of(robot, [recording_of(robot, log, f"recording {k + 1}")], wanted)
        first += early
        second += late
    return first, second


@dataclass(frozen=True, repr=False)
class Identification:
    """Result of an identification: a table in a notebook and by `print`; `result` holds all of it.

    `generated` is the robot of the recordings, unchanged.
    """

    generated: Robot
    result: Result

    @cached_property
    def params(self) -> dict[str, float]:
        """Values of alpha by name: what was fitted, and what was given."""
        return {e.name: e.value for e in self.result.estimates if not e.name.startswith("sensor.")}

    @cached_property
    def rmse(self) -> dict[str, float]:
        """By joint: between measured and predicted torque [N·m or N], where contacts were fitted position [rad or m], of the
        recordings to test on, or else of the fit."""
        return dict((self.result.validate or self.result.train).rmse)

    @property
    def robot(self) -> Robot:
        """The robot with the parameters as its defaults. InputError with what to generate where its code lacks some of them."""
        if self.result.generate is None:
            return self.generated.with_parameters(self.params)
        raise InputError(
            f"The code of {self.generated.name} has not all of what was fitted as parameters. Generate it once more, "
            f"{_in_python(self.result.generate)}, and take .with_parameters(…params) of that robot."
        )

    @in_python
    def plot(self, path: str | Path | None = None) -> Picture:
        """Measured and predicted torques, or positions, of the first recording to test on or else of the fit, to `path` too."""
        from diffpbd.runtime.report.torque_plots import plot_curves

        trace = (self.result.validate or self.result.train).traces[0]
        curves = {"measured": (trace.time, trace.measured), "predicted": (trace.time, trace.predicted)}
        use = "not used for the fit" if self.result.validate else "of the fit"
        compared, robot = self.result.compared, self.generated
        title, what = (
            f"{robot.name}: {compared}s of {trace.name}, {use}",
            "angle" if compared == "position" else "torque",
        )
        return drawn(lambda file: plot_curves(file, robot, range(robot.n), curves, title, what), path)

    @in_python
    def save(self, path: str | Path) -> None:
        """params.json, which commands take as --params and functions as `alpha`, `start` or `params`."""
        write_atomic(path, self.result.to_json())

    @in_python
    def report(self, path: str | Path) -> None:
        """One self-contained page with tables and figures."""
        from diffpbd.runtime.report.identification import page

        write_atomic(path, page(self.result))

    def __repr__(self) -> str:
        worst = max(self.rmse, key=lambda joint: self.rmse[joint])
        unit = dict(zip(self.result.joints, self.result.efforts, strict=True))[worst]
        return (
            f"<Identification of {self.generated.name}: {len(self.params)} parameters, {self.result.status}; largest RMSE "
            f"{self.rmse[worst]:.3g} {unit} at {worst}>"
        )

    @in_python
    def __str__(self) -> str:
        from diffpbd.runtime.report.identification_text import summary

        return summary(self.result).strip()

    @in_python
    def _repr_html_(self) -> str:
        from diffpbd.runtime.report.identification import tables

        return tables(self.result)


def _in_python(command: str) -> str:
    """`diffpbd generate NAME --option words` as a call."""
    words = shlex.split(command)[2:]
    options: dict[str, list[str]] = {}
    for option, value in zip(words[1::2], words[2::2], strict=True):
        options.setdefault(option.removeprefix("--").replace("-", "_"), []).append(value)
    names = {"lever_spring": "lever_springs"}
    said = "".join(f", {names.get(name, name)}={','.join(values)!r}" for name, values in options.items())
    return f"diffpbd.generate({words[0]!r}{said})"
