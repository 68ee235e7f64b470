"""Fixtures of the whole suite: the reference data, the long counts, and accepting changed golden files."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from support.twin.build import build

from diffpbd.runtime import Robot, load

ROOT = Path(__file__).resolve().parent.parent

# No time limit an example (the machine may be busy), no random seed and no database, so that two runs agree.
COMMON = hypothesis.settings(deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("reduced", COMMON, max_examples=25)
hypothesis.settings.register_profile("soak", COMMON, max_examples=500)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long counts, and the tests marked soak")
    parser.addoption("--update-golden", action="store_true", help="accept regenerated files as golden")


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("DIFFPBD_CACHE", str(ROOT / ".test-cache" / "programs"))
    gc.set_threshold(*SELDOM)
    hypothesis.settings.load_profile("soak" if config.getoption("--soak") else "reduced")
    os.environ["DIFFPBD_TESTS"] = "soak" if config.getoption("--soak") else "reduced"
    if not config.getoption("--soak"):
        os.environ.setdefault("DIFFPBD_CFLAGS", QUICKLY)


QUICKLY = "-O0 -DDIFFPBD_PORTABLE"
"""Compiling is most of the suite's time. Optimised code gives the same bits (tests/emit/test_folder.py); --soak tests that.
tests/emit/test_paths.py compiles what is left out here: the code for more than the least of instruction sets."""
os.environ.setdefault("DIFFPBD_PATH", "portable")
SELDOM = (100_000, 20, 100)
"""Derivations make millions of small objects that live: looking for cycles among them was an eighth of their time."""
GIVING_WAY = 15
REAL_TIME = (
    Path("tests", "baxter"),
    Path("tests", "franka", "test_processes.py"),
)  # these wait for clocks, one at a time
CLOCKS = (
    *REAL_TIME,
    Path("tests", "franka"),
    Path("tests", "ros1"),
    Path("tests", "loop", "test_punctual.py"),
    Path("tests", "runtime", "test_live.py"),
)  # these talk to threads and processes that answer within a time
LIGHT = tuple(
    Path("tests", folder) for folder in ("api", "control", "description", "laws", "logs", "loop", "program", "ros1")
)  # files of a few seconds
RERUNS = 4
"""A machine that stalls for longer than a timeout ends a run, as it must; such a test is run again."""


def turn(file: Path) -> int:
    """Whose turn it is: what waits for clocks first, beside which others compute; what is short last, so all end together."""
    return 0 if among(file, REAL_TIME) else 2 if among(file, LIGHT) else 1


def among(file: Path, places: tuple[Path, ...]) -> bool:
    return any(file.is_relative_to(place) for place in places)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what shares fixtures in one process of several, in the order of `turn`; without --soak, leave the marked tests out.

    pytest counts them as deselected in its closing line.
    """
    items.sort(key=lambda item: turn(item.path.relative_to(ROOT)))
    for item in items:
        file = item.path.relative_to(ROOT)
        item.add_marker(pytest.mark.xdist_group(str(REAL_TIME[0] if among(file, REAL_TIME) else file)))
        if among(file, CLOCKS):
            item.add_marker(pytest.mark.flaky(reruns=RERUNS, reruns_delay=1))
    if config.getoption("--soak"):
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("soak")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Of several processes, those with no clock to meet give way."""
    if "PYTEST_XDIST_WORKER" in os.environ and not among(item.path.relative_to(ROOT), REAL_TIME):
        give_way()


def give_way() -> None:
    """Compute where nothing else wants to: one that is only nice keeps a core for milliseconds that a clock cannot spare."""
    if os.nice(0) == 0:
        os.nice(GIVING_WAY)
        with contextlib.suppress(AttributeError, OSError):  # Linux has it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


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
