"""The command line and Python have the same words: what only one of them has is listed here, with its reason."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import click
import pytest

import diffpbd
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.runtime.api.keywords import TYPES, keywords, stub
from diffpbd.runtime.base.options import options_of
from diffpbd.runtime.cli import COMMANDS, cli
from diffpbd.runtime.commands.check import READ
from diffpbd.runtime.excite import Wishes
from diffpbd.runtime.identify.settings import settings as identify
from diffpbd.runtime.logs.mending import Mending
from diffpbd.runtime.model.inverse_kinematics import Sought
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.torques import settings as torques

SHOWN = {"robot", "robots", "config", "json", "as_json", "out", "plot", "report", "movie", "meshes", "view", "live"}
"""Files and pages, for which Python has results with methods."""
SAME = {
    "params": "alpha", "column_map": "columns", "fix": "fixed", "tip_goal": "tip", "stop_within": "within",
    "unknown_torque": "torques", "everything": "all",
}  # fmt: skip
"""Options that Python calls otherwise."""
MENDING = {field.name for field, _ in options_of(Mending)} | {"accept", "rate", "columns"}
"""Of a log: where Python takes a recording, `read_log` has been told."""


OF_GENERATE = set(keywords("GenerateOptions"))
"""Python takes any of them where a description is read, a command those that change what it does."""


class Job(NamedTuple):
    """A command, what Python calls, the dataclasses of the job; what only a command, and what only Python has."""

    command: str
    called: tuple[Any, ...]
    how: str
    records: tuple[Any, ...]
    shell: set[str] = set()
    python: set[str] = set()


JOBS = (
    Job(
        "generate", (diffpbd.generate,), "GenerateOptions", (Recipe,), {"order", "printed_order"},
        {"gravity", "h", "pairs", "progress", "springs", "table"},  # entries of a recipe file that no option sets
    ),
    Job("check", (diffpbd.check,), "GenerateOptions", (), {"files", "strict"}, OF_GENERATE - {*READ} | {"urdf"}),
    Job("export", (diffpbd.export_urdf,), "GenerateOptions", (), {"alpha"}, OF_GENERATE - {"base", "tip", "hold"} | {"params"}),
    Job(
        "log", (diffpbd.read_log,), "ReadHow", (Mending,), {"accept", "bridge", "cutoff", "joints", "rates", "trim"},
        {"derive", "path"},
    ),
    Job(
        "identify", (diffpbd.identify,), "IdentifyHow", (identify.Settings, Mending),
        {"alpha", "pose", "rates", "scheduler", "torque_sigma", "torques_out"}, {"derive", "progress", "start", "still"},
    ),
    Job(
        "estimate-torque", (diffpbd.estimate_torque,), "TorqueHow", (torques.Settings,),
        {*MENDING, "rates", "torque"}, {"forces"},
    ),
    Job("excite", (diffpbd.excite,), "ExciteHow", (Wishes,), python={"progress"}),
    Job(
        "mpc", (diffpbd.Mpc.__init__, diffpbd.Mpc.run_to, diffpbd.Plant), "MpcHow ApproachHow",
        (MpcOptions, Approach, diffpbd.Plant),
        {*MENDING, "bridge_jumps", "reference", "obstacle", "obstacles"},  # only a command follows a log; place_obstacles
        {"iterations", "price", "reuse", "transition"},
    ),
    Job(
        "simulate", (diffpbd.simulate,), "", (),
        {"columns", "integrator", "maximal", "rate", "solver", "torque"}, {"controller"},
    ),
    Job("ik", (diffpbd.ik,), "IkHow", (Sought,), {"obstacle"}, {"accept", "strict", "weights"}),
)  # fmt: skip
ALONE = {
    "export-acados": "writes Python", "info": "robot.manifest, and print(robot)", "eval": "robot.function(name)(...)",
    "run": "drives an arm until it is stopped", "sim": "a process until it is stopped", "sim-baxter": "as sim",
    "sim-fr3": "as sim", "net-torque-map": "writes C",
    "drive-gain": "diffpbd.runtime.identify.doors.drive_gains",
}  # fmt: skip
"""Commands without a call of `diffpbd` that has the same words, and why."""


def test_every_command_is_compared_or_stands_alone() -> None:
    assert sorted({*(job.command for job in JOBS), *ALONE}) == sorted(COMMANDS)
    assert not {job.command for job in JOBS} & set(ALONE)


def parameters(called: Callable[..., Any]) -> set[str]:
    if inspect.isclass(called) and issubclass(called, dict):
        return set(called.__annotations__)
    found = inspect.signature(called).parameters.values()
    return {p.name for p in found if p.kind is not p.VAR_KEYWORD and p.name != "self"}


def words_of(job: Job) -> set[str]:
    return set().union(*map(keywords, job.how.split()), *map(parameters, job.called))


def command_of(job: Job) -> click.Command:
    command = cli.get_command(click.Context(cli), job.command)
    assert command is not None
    return command


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.command)
def test_both_doors_have_the_same_words(job: Job) -> None:
    shell = {SAME.get(str(param.name), str(param.name)) for param in command_of(job).params} - SHOWN
    python = words_of(job) - SHOWN
    logs = {"log", "logs"}
    assert (shell - python - logs, python - shell - logs) == (job.shell, job.python)


@pytest.mark.parametrize("job", [job for job in JOBS if job.records], ids=lambda job: job.command)
def test_options_and_defaults_are_those_of_the_dataclass(job: Job) -> None:
    of_command = {param.name: param for param in command_of(job).params}
    python = words_of(job)
    for record in job.records:
        own = {field.name: option for field, option in options_of(record)}
        assert own and set(own) <= set(of_command) and set(own) <= python
        for name, option in own.items():
            param = of_command[name]
            assert isinstance(param, click.Option)
            assert option.word(name) in param.opts and param.help == option.help


def test_types_of_keywords_are_those_of_the_jobs() -> None:
    assert TYPES.read_text(encoding="utf-8") == stub(), "python -m diffpbd.runtime.api.keywords writes it anew"


def test_run_has_the_options_of_mpc_that_it_shares() -> None:
    from diffpbd.runtime.control.laws.mpc import OPTIONS

    command = importlib.import_module("diffpbd.runtime.commands.run").command
    shared = {*OPTIONS, "clearance", *(field.name for field, _ in options_of(Approach))}
    assert shared <= {param.name for param in command.params}
