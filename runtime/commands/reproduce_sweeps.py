"""`diffpbd reproduce sweeps` and `variables`."""

from __future__ import annotations

import click

from diffpbd.runtime.commands.locate import files_in, open_robot, robot_files
from diffpbd.runtime.commands.numbers import COUNT, SEED, Whole
from diffpbd.runtime.commands.outputs import picture_and_table, recorded_rate, table_beside
from diffpbd.runtime.commands.results import finish, json_option, note, tabled, tables

__all__ = ["sweeps", "variables"]

LOADED = 12
"""[1] Poses loaded like the paper's."""


@click.command("sweeps")
@click.argument("robot", default="baxter_bare")
@click.option("--data", metavar="DIR", help="Recordings to take the poses from (default: drawn inside the limits).")
@recorded_rate
@click.option("--poses", "count", type=Whole(1, 10000), default=8, show_default=True, help="How many.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Of drawn poses.")
@click.option("--sweeps", "counts", type=COUNT, multiple=True, help="How many, may be given again (default: 5 to 240).")
@click.option(
    "--settings/--no-settings",
    "by_setting",
    default=True,
    show_default=True,
    help="Also what else the step may have been.",
)
@json_option
@picture_and_table("sweeps.png", "The errors")
def sweeps(
    robot: str, data: str | None, rate: float, count: int, seed: int, counts: tuple[int, ...], by_setting: bool, out: str,
    table_path: str | None,
) -> None:  # fmt: skip
    """Error of the holding torque over the sweeps of the published step, and by its settings on these poses and on 12 that are
    loaded like the paper's. ROBOT is a name that is shipped and generated, or a description beside its generated folder of the
    same name.
    """
    from diffpbd.codegen.sweep_study import Setting, setting_graphs, settings, sweep_graphs
    from diffpbd.runtime.reproduce import sweeps as experiment
    from diffpbd.runtime.reproduce.gravity_compensation import PAPER, shown_joints
    from diffpbd.runtime.reproduce.poses import draw, draw_from, draw_loaded, find_logs

    def say(text: str) -> None:
        click.echo(text, err=True)

    numbers = table_beside(out, table_path, [*robot_files(robot), *files_in("--data", data)])
    loaded = open_robot(robot)
    poses = draw(loaded, count, seed) if data is None else draw_from(loaded, find_logs(data), count, rate)
    alpha = loaded.alpha.vector({"gravity.z": -9.8})
    block, jacobi = Setting("Gauss–Seidel", printed=()), Setting("Jacobi", "paper_jacobi", printed=())
    solvers = (
        block, jacobi, Setting("Jacobi, averaging", "paper_jacobi", printed=(), relaxation="averaging"),
        Setting("Gauss–Seidel as printed"), Setting("Jacobi as printed", "paper_jacobi"),
    )  # fmt: skip
    found = {}
    for solver in solvers:
        say(f"{solver.name}:")
        graphs = sweep_graphs(loaded.name, solver, sorted(set(counts)) or experiment.COUNTS)
        found[solver.name] = experiment.errors(loaded, poses, alpha, graphs, say)
    experiment.plot(out, loaded, found)
    experiment.write_table(numbers, loaded.joints, found)
    note(f"{count} poses; mean absolute error [N·m]")
    tabled(*experiment.summary(loaded, found))
    shown = shown_joints(loaded.joints)
    if by_setting and loaded.n > 2:
        as_paper = draw_loaded(loaded, LOADED, seed, alpha, shown, PAPER["min"], PAPER["max"])
        sets = {f"{count} poses": poses, f"{LOADED} poses loaded like the paper's": as_paper}
        ways = setting_graphs(loaded.name, settings(loaded.joints[shown[-1]]))
        note("\nWhat the step may have been, 30 sweeps unless said; mean absolute error [N·m]")
        tabled(*experiment.by_setting(loaded, sets, alpha, ways, say))
    finish(tables(), out, numbers)


@click.command("variables")
@click.argument("robot", default="baxter_bare")
@json_option
@picture_and_table("variables.png", "The vectors")
def variables(robot: str, out: str, table_path: str | None) -> None:
    """The paper's nomenclature with ROBOT's numbers, and its drawings: a link's variables, the flow of windows, the spring."""
    from diffpbd.codegen.link_variables import link_variables
    from diffpbd.runtime.base.rows import write_rows
    from diffpbd.runtime.reproduce.diagrams import nomenclature, plot

    numbers = table_beside(out, table_path, [("ROBOT", robot)])
    found = link_variables(robot)
    plot(out, found)
    head, rows = nomenclature(found)
    write_rows(numbers, head, rows)
    tabled(head, rows, left=2)
    finish(tables(), out, numbers)
