"""Features that pictures share: lines that print tells apart, marks of goals and limits."""

from __future__ import annotations

from diffpbd.runtime.report.figures import legend_below, marks, new_figure, stroke


def test_neighbouring_curves_differ_in_colour_and_line() -> None:
    found = [(s["color"], s["linestyle"]) for s in map(stroke, range(36))]
    assert len(set(found)) == len(found)
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in zip(found[:-1], found[1:], strict=True))
    assert "C7" not in {colour for colour, _ in found}  # the grey of what was measured


def test_marks_stand_at_every_value_under_one_name() -> None:
    figure = new_figure(2.0, 2.0)
    axes = figure.subplots()
    marks(axes, (-50.0, 50.0), "limits")
    assert [line.get_ydata()[0] for line in axes.get_lines()] == [-50.0, 50.0]
    legend_below(figure, axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["limits"]
