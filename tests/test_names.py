"""Names are data: what a description calls its parts reaches code, build files, pages and paths as text or not at all."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.export import urdf_text
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import default_recipe
from diffpbd.codegen.emit.text.environment import render
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.arms.viewer_page import literally
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import LONGEST, RESERVED
from diffpbd.runtime.folder.manifest import read_manifest
from diffpbd.runtime.report import identification

URDF = """<robot name="r"><link name="base"/><link name="{link}"><inertial><mass value="1"/><origin xyz="0 0 0.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{joint}" type="revolute">
<parent link="base"/><child link="{link}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
</joint></robot>"""

HOSTILE = {
    "a comment's end": "*/ __attribute__((constructor)) static void f(void) { system('id'); } /*",
    "a comment's start": "/*",
    "a macro": "a\n#include <x.h>",
    "a tag": "<img src=x onerror=alert(1)>",
    "an expression of a page": "{alert(1)}",
    "a link": "[x](javascript:alert(1))",
    "a shell's": "$(touch x)",
    "quotes": "\"; touch x; '",
    "a backtick": "`id`",
    "a backslash": "a\\",
    "a variable of make": "$$(shell id)",
    "a cell": "a|b",
    "a terminal's": "a\x9b31m",
    "turned around": "a\u202eb",
    "nothing to see": "a\u200bb",
    "two lines": "a\nb",
    "too long": "x" * (LONGEST + 1),
}
WARNINGS = "-pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Werror".split()

ODD = {"link": "a b/(c):+.-é", "joint": "/左/s0 (1)"}
"""Allowed, and as strange as it gets."""


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("part", ["link", "joint"])
def test_a_hostile_name_is_refused_by_name(part: str, what: str) -> None:
    written = {"link": "a", "joint": "j", part: escape(HOSTILE[what], {'"': "&quot;", "\n": "&#10;"})}
    report = check(URDF.format(**written).encode())
    assert any(fault.code in (f"{part}-name", "xacro") for fault in report.faults), report.faults
    assert report.text().replace("\n", "").isprintable()


def test_the_longest_name_is_accepted() -> None:
    assert not check(URDF.format(link="x" * LONGEST, joint="j").encode()).faults


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot called `k`, as kernels are, with odd parts, from a file with a hostile name."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "k.urdf").write_text(URDF.format(**ODD), encoding="utf-8")
    recipe = folder / "`x`\n*'$(x)<b>.toml"
    recipe.write_text(
        'name = "k"\nurdf = "k.urdf"\nvariants = ["variational_direct"]\nsymbolic = ["mass", "com", "origin"]\n'
        f'wrench = ["{ODD["link"]}"]\nlever_springs = ["{ODD["joint"]}"]\n',
        encoding="utf-8",
    )
    return generate(str(recipe), out=folder / "generated").folder


@pytest.mark.thorough
def test_a_robot_called_k_with_odd_names_compiles(odd: Path) -> None:
    for source in [*(odd / "src").glob("*.c"), odd / "main.c"]:
        subprocess.run(
            ["cc", "-std=c99", "-fsyntax-only", *WARNINGS, f"-I{odd}", str(source)], check=True,
        )  # fmt: skip
    assert load(odd).joints == (ODD["joint"],)
    readme = (odd / "README.md").read_text(encoding="utf-8")
    assert "diffpbd generate '" in readme and "<b>" not in readme and "$(" not in readme
    assert {path.relative_to(odd).parts[0] for path in odd.rglob("*") if path.is_file()} == {
        "CMakeLists.txt", "Makefile", "README.md", "casadi", "k.h", "libk.so", "libk.so.sha256", "main.c",
        "manifest.json", "src",
    }  # fmt: skip


HIDDEN = ("_unjudged", "_portable", "_v3", "_v4", "_lanes4", "_lanes8", "_kernel")
"""Ends a name that files of one library share and nobody else sees."""


def test_no_robot_s_public_names_can_meet_private_ones(odd: Path) -> None:
    """A public name is a robot's and one of few endings. No private name ends so: no robot's name makes them meet."""
    header = (odd / "k.h").read_text(encoding="utf-8")
    endings = set(re.findall(r"\bk(_\w+)\(", header)) | {"_function"} | set(re.findall(r"#define K(_\w+)", header))
    endings |= set(re.findall(r"\bK(_(?:ALPHA|STATUS|FRAME|REFERENCE)_\w+) = ", header))
    endings |= {"_parameter", "_status", "_frame", "_reference"}
    assert {"_gravity", "_map", "_hash", "_ALPHA", "_H", "_rollout_work_size"} <= endings
    private = set()
    for source in (odd / "src").glob("*.[ch]"):
        text = re.sub(r'/\*.*?\*/|#include[^\n]*|"[^"\n]*"', "", source.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(
            r"#define (ROBOT|INNER|ON_PATH|STEP|ENTRY\w*)[^\n]*", "", re.sub(r"MANY\((\w+)\)", r"\1_lanes4", text)
        )
        text = re.sub(
            r"\b(ROBOT|INNER|ON_PATH|CHOSEN|DECLARED|STEP|STEP_SIZE|ENTRY|ENTRY_SIZE)\(\w+[,)]|\bSIZED(_BY_STEPS)?\(\w+",
            "",
            text,
        )  # a public name, or one with an end of HIDDEN
        text = re.sub(r"\b_\(\w+", "", text)  # an entry of a list, which macros paste to ends of HIDDEN
        found = set(re.findall(r"\b[A-Za-z]\w*", text))
        private |= {word for word in found if not re.match(r"[kK]_", word)}
        own = {word for word in found if word.startswith(("k_", "K_"))}
        assert all(word[1:] in endings or word.endswith(HIDDEN) for word in own), own
    met = {word for word in private for ending in endings if word.endswith(ending) and word != ending}
    assert not met and not any(ending.endswith(HIDDEN) for ending in endings)


def test_odd_names_go_through_a_description_and_back(odd: Path) -> None:
    robot = read_urdf(odd.parent / "k.urdf")
    again = read_urdf(urdf_text(robot).encode())
    assert (again.joints[0].name, again.links[0].name) == (ODD["joint"], ODD["link"])


@pytest.mark.parametrize("word", [*sorted(RESERVED)[:3], "Math", "test", "1a", "a-b", ""])
def test_a_robot_is_not_called_so(word: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(f'name = "{word}"\n')
    with pytest.raises(InputError, match="name = "):
        load_recipe(tmp_path / "r.toml")
    if word:
        default_recipe(tmp_path / f"{word}.urdf")  # a file may be called so


def test_cmake_takes_a_robot_called_m(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no CMake")
    (tmp_path / "CMakeLists.txt").write_text(render("CMakeLists.txt", robot="m", sources=["m.c"]))
    (tmp_path / "m.c").write_text("#include <math.h>\ndouble m_x(double x);\ndouble m_x(double x) { return cos(x); }\n")
    (tmp_path / "main.c").write_text(
        "double m_x(double x);\nint main(int c, char **v) { (void)v; return m_x(c) > 2; }\n"
    )
    for words in (["-S", ".", "-B", "b"], ["--build", "b"]):
        subprocess.run(["cmake", *words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("edit", [
    lambda data: data["robot"]["joints"][0].update(name="<script>"),
    lambda data: data["alpha"][0].update(name="a\x1b[31m"),
    lambda data: data["robot"].update(tips=["*/"]),
    lambda data: data["robot"]["links"][1].update(merged=["{x}"]),
    lambda data: data.update(name="../x"),
    lambda data: data.update(library="/tmp/libtwin.so"),
    lambda data: data.update(library="../libtwin.so"),
    lambda data: data["functions"][0].update(symbol="system; x"),
    lambda data: data["functions"][0].update(casadi="../../x.casadi"),
    lambda data: data["files"].update({"../x.c": "0"}),
])  # fmt: skip
def test_a_manifest_with_hostile_names_is_refused(twin_folder: Path, tmp_path: Path, edit: object) -> None:
    data = json.loads((twin_folder / "manifest.json").read_text(encoding="utf-8"))
    edit(data)  # type: ignore[operator]
    (tmp_path / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="expected .* found"):
        read_manifest(tmp_path)


def test_the_untouched_manifest_is_read(twin: Robot, twin_folder: Path) -> None:
    assert read_manifest(twin_folder).name == twin.manifest.name


def test_pages_show_names_as_text() -> None:
    """The pages escape whatever comes, whether or not the doors let it in."""
    for name in ("<script>alert(1)</script>", "{alert(1)}", "[x](javascript:y)", "a\nimport x", "**b**", "a&lt;"):
        shown = literally(name)
        assert re.fullmatch(r"(\w| |&#\d+;)*", shown)
        assert re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), shown) == name
    assert "<script>" not in identification._table(["<script>"], [["<script>"]])
