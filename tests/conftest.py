"""Fixtures of the whole suite: the reference data, the long counts, and accepting changed golden files."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from support.slower import Slower
from support.twin.build import build

from diffpbd.runtime import Robot, load

ROOT = Path(__file__).resolve().parent.parent

# No time limit an example (the machine may be busy), no random seed and no database, so that two runs agree.
COMMON = hypothesis.settings(deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("reduced", COMMON, max_examples=25)
hypothesis.settings.register_profile("soak", COMMON, max_examples=500)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long counts, and the tests marked soak")
    parser.addoption("--thorough", action="store_true", help="the tests marked thorough, too; --soak has them")
    parser.addoption("--update-golden", action="store_true", help="accept regenerated files as golden")


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault(
        "DIFFPBD_BACKGROUND", "off"
    )  # no compiler outlives a test; tests/folder/test_finish.py has its own
    os.environ.setdefault("DIFFPBD_CACHE", str(ROOT / ".test-cache" / "programs"))
    gc.set_threshold(*SELDOM)
    config.pluginmanager.register(Slower(hangs_on_time))
    hypothesis.settings.load_profile("soak" if config.getoption("--soak") else "reduced")
    os.environ["DIFFPBD_TESTS"] = "soak" if config.getoption("--soak") else "reduced"
    if not config.getoption("--soak"):
        os.environ.setdefault("DIFFPBD_CFLAGS", QUICKLY)


QUICKLY = "-O0 -DDIFFPBD_PORTABLE"
"""Compiling is most of the suite's time. Optimised code gives the same bits (tests/emit/text/test_folder.py); --soak tests
that. tests/emit/text/test_paths.py compiles what is left out here: the code for more than the least of instruction sets."""
os.environ.setdefault("DIFFPBD_PATH", "portable")
SELDOM = (100_000, 20, 100)
"""Derivations make millions of small objects that live: looking for cycles among them was an eighth of their time."""
REAL_TIME = (
    *(
        Path("tests", "baxter", f"test_{name}.py")
        for name in (
            "commands", "endurance", "faults", "log", "model_laws", "program", "simulated", "transport", "viewer",
        )
    ),
    Path("tests", "franka", "test_processes.py"),
    Path("tests", "ros1", "test_strangers.py"),
    Path("tests", "ros2", "test_processes.py"),
    Path("tests", "base", "test_live.py"),
)  # fmt: skip
"""What needs real time: `make test` runs it alone on the machine, after everything else, by the mark `real_time`."""
ANSWERING = (Path("tests", "franka"),)
"""In lock-step, but with a driver that gives a robot up after a second: beside others."""
LIGHT = tuple(
    Path("tests", folder) for folder in ("api", "control", "description", "laws", "logs", "loop", "program", "ros1")
)  # files of a few seconds


def hangs_on_time(item: pytest.Item) -> bool:
    """Whether a busy machine may fail it: such a test is run again with a slow clock."""
    return among(item.path.relative_to(ROOT), (*REAL_TIME, *ANSWERING))


def turn(file: Path) -> int:
    """Whose turn it is: what waits for clocks last; before it what is short, so that all processes end together."""
    return 2 if among(file, REAL_TIME) else 1 if among(file, LIGHT) else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Knows tests in real time by their file: with `-m real_time` alone no other file is read, which takes half a minute."""
    if config.getoption("markexpr") != "real_time" or not collection_path.name.startswith("test_"):
        return None
    return True if not among(collection_path.relative_to(ROOT), REAL_TIME) else None


def among(file: Path, places: tuple[Path, ...]) -> bool:
    return any(file.is_relative_to(place) for place in places)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what shares fixtures in one process of several, in the order of `turn`; leave out what is marked soak or thorough,
    unless it is asked for.

    pytest counts them as deselected in its closing line.
    """
    items.sort(key=lambda item: turn(item.path.relative_to(ROOT)))
    for item in items:
        file = item.path.relative_to(ROOT)
        item.add_marker(pytest.mark.xdist_group("real time" if among(file, REAL_TIME) else str(file)))
        if among(file, REAL_TIME):
            item.add_marker(pytest.mark.real_time)
    soak, thorough = (config.getoption(name) for name in ("--soak", "--thorough"))
    unasked = () if soak else ("soak",) if thorough else ("soak", "thorough")
    left = [item for item in items if any(is_marked(item, name) for name in unasked)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not any(is_marked(item, name) for name in unasked)]


def is_marked(item: pytest.Item, name: str) -> bool:
    """Whether the test has the mark; one with words is of those parameters alone whose id holds one of them. Of shipped robots
    those alike to another are thorough."""
    if name == "thorough" and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        if ALIKE.intersection(item.callspec.id.split("-")):
            return True
    mark = item.get_closest_marker(name)
    return mark is not None and (not mark.args or any(word in item.name for word in mark.args))


ALIKE = {"baxter", "baxter_right", "baxter_dual"}
"""`baxter_bare` with the link of a hand, the other arm, and both arms."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference cases and recordings: DIFFPBD_SHARED, or `shared` beside the checkout."""
    folder = Path(os.environ.get("DIFFPBD_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"the reference data is not here: {folder} (set DIFFPBD_SHARED to its folder)")
    return folder


@pytest.fixture(scope="session")
def count(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """`count(reduced, long)`: how many random states to try in this run."""
    soak = request.config.getoption("--soak")
    return lambda reduced, long: long if soak else reduced


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be replaced instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def build_twin() -> Callable[..., Path]:
    """The builder of a new folder of the hand-written robot `twin`."""
    return build


@pytest.fixture(scope="session")
def twin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled folder of `twin` that tests only read."""
    return build(tmp_path_factory.mktemp("generated") / "twin", graphs=True)


@pytest.fixture(scope="session")
def twin(twin_folder: Path) -> Robot:
    """The hand-written robot."""
    return load(twin_folder)


@pytest.fixture(scope="session")
def pendulum() -> Robot:
    """The shipped double pendulum."""
    from support.robots import loaded  # it asks at once whether the long counts are wanted

    return loaded("double_pendulum")
