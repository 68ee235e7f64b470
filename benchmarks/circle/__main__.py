"""`python -m benchmarks.circle ROBOT`: errors of a law on a circle, pushed and with other payloads."""

from __future__ import annotations

from benchmarks.circle.runs import Circle, plot, pushes, run, summary, write_tracks
from diffpbd.runtime.commands.results.results import note, tabled
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.model.robot import Robot
from experiments.command import Outputs, experiment


@experiment("circle", Circle, "baxter", "The runs")
def circle(robot: Robot, own: Circle, out: Outputs) -> None:
    """ROBOT's tip on a circle against MuJoCo's arm, by --law: undisturbed, pushed from six sides (30 N for 0.2 s, world axes),
    and with other payloads than it knows.

    position, speed and torque say how near to a limit the run came: 0 at a limit, 1 in the middle or at rest, below 0 beyond
    it. The second table says what a push does to the joints, and how near to a speed limit it brings them before any law that
    sees it in the measurements can act.
    """
    tracks = run(robot, find_description(own.description), own)
    observed = "observed" if own.disturbance else "not observed"
    title = f"circle of {own.diameter:g} m in {own.lap:g} s, {own.law} at 100 Hz, disturbances {observed}"
    plot(out.picture, title, tracks)
    write_tracks(out.table, tracks)
    tabled(*summary(robot, tracks))
    note("")
    tabled(*pushes(robot, tracks, own.push_at))


if __name__ == "__main__":
    circle.main(prog_name="python -m benchmarks.circle")
