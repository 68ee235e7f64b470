"""robot.gpu() from the first call to the last, on stand-ins for NVIDIA's driver and compiler: the .cu text runs on the host."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.robots import loaded
from support.standin import counter, standing_in

from diffpbd.runtime import DiffpbdError, InputError, Robot, SolverError
from diffpbd.runtime.base import dlpack
from diffpbd.runtime.gpu import compiler as gpu_compiler
from diffpbd.runtime.gpu.arrays import DeviceArray, View
from diffpbd.runtime.gpu.robot import Gpu

H = 0.01
ROWS = 40


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ctypes.CDLL, ctypes.CDLL]]:
    folder = tmp_path_factory.mktemp("standin")
    with pytest.MonkeyPatch.context() as patch, standing_in(folder) as found:
        patch.setenv("DIFFPBD_CACHE", str(folder / "cache"))
        yield found


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("double_pendulum")


@pytest.fixture(scope="module")
def gpu(libraries: Any, robot: Robot) -> Gpu:
    return robot.gpu("float64")


@pytest.fixture(scope="module")
def states(robot: Robot) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    p, pd, u = (rng.normal(size=(ROWS, robot.n)) for _ in range(3))
    alpha = np.tile(robot.alpha.defaults, (ROWS, 1))
    alpha[:, robot.alpha.index("payload.mass")] = rng.uniform(0.0, 1.0, ROWS)
    alpha[::2, robot.alpha.index("friction.coulomb.elbow")] = 0.3
    alpha[::3, robot.alpha.index("friction.viscous.shoulder")] = 0.2
    U = rng.normal(size=(ROWS, 6, robot.n))
    return {"p": p, "pd": pd, "u": u, "pdd": u, "alpha": alpha, "U": U}


def close(found: Any, expected: Any, bar: float) -> None:
    found, expected = (x if isinstance(x, tuple) else (x,) for x in (found, expected))
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one.numpy()) == np.shape(other)
        np.testing.assert_allclose(one.numpy(), other, rtol=0, atol=bar * (1.0 + np.abs(other).max()))


@pytest.mark.parametrize(
    "name", ["joint_step", "jac_joint_step", "inverse_dynamics", "forward_dynamics", "fk", "tip_jacobian"]
)
def test_functions_are_those_of_the_cpu(gpu: Gpu, robot: Robot, states: dict[str, np.ndarray], name: str) -> None:
    """A row of alpha for each state, frictions among them; then one state."""
    inputs = [a.name for a in robot.functions[name].facts.inputs if a.name != "h"]
    given = {k: states[k] for k in inputs}
    close(gpu.functions[name](**given), robot.functions[name](**given), 1e-11)
    if name in ("fk", "joint_step"):
        single = {k: v[0] for k, v in given.items()}
        close(gpu.functions[name](**single), robot.functions[name](**single), 1e-11)


@pytest.mark.thorough
@pytest.mark.parametrize("alpha", ["one", "rows"])
def test_rollouts_and_their_gradients(gpu: Gpu, robot: Robot, states: dict[str, np.ndarray], alpha: str) -> None:
    rng = np.random.default_rng(9)
    given = [states["p"], states["pd"], states["U"], H, {"payload.mass": 0.4} if alpha == "one" else states["alpha"]]
    P, PD = robot.rollout(*given)
    close(gpu.rollout(*given), (P, PD), 1e-9)
    P_bar, PD_bar = rng.normal(size=P.shape), rng.normal(size=P.shape)
    close(gpu.vjp_rollout(*given, P_bar, PD_bar), robot.vjp_rollout(*given, P_bar, PD_bar), 1e-9)
    close(gpu.vjp_rollout(*given, P_bar=P_bar), robot.vjp_rollout(*given, P_bar=P_bar), 1e-9)
    state = [*given[:2], states["u"], *given[3:], P_bar[:, 0], PD_bar[:, 0]]
    close(gpu.vjp_joint_step(*state), robot.vjp_joint_step(*state), 1e-9)
    short = gpu.vjp_rollout(*given, P_bar, PD_bar, parameters=False)
    assert short.alpha_bar is None and short.h_bar is None
    close((short.U_bar,), (robot.vjp_rollout(*given, P_bar, PD_bar).U_bar,), 1e-9)
    empty = gpu.vjp_rollout(*given[:2], np.zeros((ROWS, 0, robot.n)), *given[3:], P_bar[:, :1], PD_bar[:, :1])
    close((empty.p0_bar, empty.pd0_bar), (P_bar[:, 0], PD_bar[:, 0]), 0.0)
    assert not empty.alpha_bar.numpy().any()


def test_a_gradient_in_parts_is_that_of_the_whole(
    gpu: Gpu, robot: Robot, states: dict[str, np.ndarray], libraries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [
        states["p"],
        states["pd"],
        states["U"],
        H,
        states["alpha"],
        states["U"][:, [0] * 7],
        states["U"][:, [1] * 7],
    ]
    whole = gpu.vjp_rollout(*given)
    before = counter(libraries[0], "calls_launched")
    monkeypatch.setattr("diffpbd.runtime.gpu.function.WORKSPACE", 12_000)
    parts = gpu.vjp_rollout(*given)
    assert counter(libraries[0], "calls_launched") - before > 8
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_torques_of_a_recorded_motion(gpu: Gpu, robot: Robot, states: dict[str, np.ndarray]) -> None:
    rows, steps = 3, 6
    given = [states[k][:rows] for k in ("p", "pd", "U")]
    P, PD = robot.rollout(*given, H)
    window = [*given[:2], 0.0 * given[2], P[:, 1:], PD[:, 1:], given[2][:, 0], [1e6, 1e2, 1e-6], 0.0, H]
    found, expected = gpu.estimate_torque(*window), robot.estimate_torque(*window)
    assert found.U.shape == (rows, steps, robot.n)
    close(found[:4], expected[:4], 1e-9)
    np.testing.assert_allclose(found.U.numpy(), given[2], atol=5e-3)
    rubbing = {"friction.coulomb.elbow": 0.3, "friction.viscous.shoulder": 0.4}
    known = [*window[:7], 1.0, H, rubbing]
    close(gpu.estimate_torque(*known)[:4], robot.estimate_torque(*known)[:4], 1e-9)
    single = robot.gpu("float32").estimate_torque(*[w[0] if np.ndim(w) > 1 else w for w in window])
    np.testing.assert_allclose(single.U.numpy(), given[2][0], atol=1e-2)


def test_float32_is_close_and_refuses_the_other(robot: Robot, states: dict[str, np.ndarray], libraries: Any) -> None:
    gpu = robot.gpu()
    assert gpu.dtype == np.float32
    given = [states[k] for k in ("p", "pd", "u")]
    found = gpu.joint_step(*given)
    assert found.p_next.dtype == np.float32
    close(found, robot.joint_step(*given), 1e-5)
    with pytest.raises(InputError, match=r"'p': expected float32.*found float64.*robot.gpu\(dtype='float64'\)"):
        gpu.joint_step(robot.gpu("float64").array(given[0]), *given[1:])


def test_states_that_fail_are_named(gpu: Gpu, states: dict[str, np.ndarray]) -> None:
    p, pd, u = (states[k].copy() for k in ("p", "pd", "u"))
    U = states["U"].copy()
    u[[3, 7]], U[3, 2] = 1e7, 1e7
    with pytest.raises(SolverError, match=r"row 3 \(2 of 40 rows failed\).*the step is too long.*newtons"):
        gpu.joint_step(p, pd, u)
    found = gpu.joint_step(p, pd, u, check=False)
    failed = np.flatnonzero(~(found.left.numpy() <= gpu.residual))
    assert failed.tolist() == [3, 7]
    np.testing.assert_array_equal(found.p_next.numpy()[3], p[3])
    along = gpu.rollout(p, pd, U, check=False)
    P = along.P.numpy()
    assert (P[3, 2:] == P[3, 2]).all() and np.isfinite(P).all() and not (P[4, 2:] == P[4, 2]).all()
    thrown = np.zeros((1, 3, 2))
    thrown[0, 0] = 40.0
    lefts = [gpu.rollout(p[:1], pd[:1], thrown[:, :k], check=False).left.numpy()[0] for k in (1, 3)]
    assert gpu.residual > lefts[0] == lefts[1]  # the largest of all steps
    bars = gpu.vjp_rollout(p, pd, U, P_bar=np.ones_like(P), check=False)
    assert not any(b.numpy()[3].any() for b in bars[:-1]) and bars.U_bar.numpy()[4].any()
    blocks = gpu.jac_joint_step(p, pd, u, check=False)
    assert not blocks.dp_next_dp.numpy()[3].any() and blocks.dp_next_dp.numpy()[4].any()
    p[5] = 1e7
    with pytest.raises(SolverError, match=r"fk .* row 5 \(1 of 40 rows failed\): there is no result: .* out of range"):
        gpu.fk(p, pd)
    with pytest.raises(SolverError, match="joint_step of double_pendulum on the GPU failed: there is no result"):
        gpu.joint_step(gpu.array(p[5]), pd[5], u[5])


def test_more_iterations_settle_what_few_leave(robot: Robot, libraries: Any) -> None:
    p, pd, u = np.array([2.0, 1.0]), np.array([30.0, -20.0]), np.array([5.0, 5.0])
    found = {}
    for chords in (0, 1, 12):
        left = robot.gpu("float64", newtons=1, chords=chords).joint_step(p, pd, u, check=False).left
        found[chords] = float(left.numpy()[0])
    assert found[0] > 1e-4 > found[1] > 1e-9 > 1e-12 > found[12]
    close(robot.gpu("float64", newtons=2, chords=4).joint_step(p, pd, u), robot.joint_step(p, pd, u), 1e-11)
    for words in ({"newtons": 0}, {"chords": -1}, {"chords": 21}, {"newtons": 1.5}):
        with pytest.raises(InputError, match="expected a whole number"):
            robot.gpu(**words)


def test_arrays_of_others_are_taken_as_they_lie(
    gpu: Gpu, robot: Robot, states: dict[str, np.ndarray], libraries: Any
) -> None:
    """By DLPack and by CUDA's array interface, with any strides."""

    class Interface:
        def __init__(self, array: DeviceArray, **more: Any) -> None:
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **more}
            self.kept = array

    class Lent:
        def __init__(self, array: DeviceArray) -> None:
            self.array, self.streams = array, []

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

        def __dlpack__(self, *, stream: Any = None) -> Any:
            self.streams.append(stream)
            return self.array.__dlpack__(stream=stream)

    def by_rows(values: np.ndarray) -> DeviceArray:
        flat = gpu.array(values.ravel())
        flat.shape, flat.steps = values.shape, (values.shape[1], 1)
        return flat

    p, pd, u = (states[k] for k in ("p", "pd", "u"))
    expected = robot.joint_step(p, pd, u)
    turned = gpu.joint_step(p, pd, u).p_next
    assert turned.steps == (1, ROWS)
    sent = [gpu.array(x) for x in (p, pd, u)]
    assert sent[0].steps == (1, ROWS) and gpu.array(states["U"]).steps == (1, 2 * ROWS, ROWS)
    np.testing.assert_array_equal(gpu.array(states["U"]).numpy(), states["U"])
    lent = Lent(sent[0])
    before = len(dlpack._lent)
    close(gpu.joint_step(lent, Interface(by_rows(pd), strides=None), sent[2], stream=5), expected, 1e-11)
    assert lent.streams == [5]
    gc.collect()
    assert len(dlpack._lent) == before
    close(gpu.fk(Interface(turned, stream=9), gpu.joint_step(p, pd, u).pd_next), robot.fk(*expected), 1e-11)
    every_other = Interface(by_rows(p), shape=(ROWS // 2, robot.n), strides=(32, 8))
    half = robot.joint_step(p[::2], pd[::2], u[::2])
    close(gpu.joint_step(every_other, pd[::2], u[::2]), half, 1e-11)
    wide = by_rows(np.repeat(states["alpha"][:1], 2).reshape(1, -1))
    alpha = Interface(wide, shape=(len(robot.alpha),), strides=(16,))  # one for all, with gaps
    close(gpu.joint_step(p, pd, u, alpha=alpha), robot.joint_step(p, pd, u, alpha=states["alpha"][0]), 1e-11)
    with pytest.raises(InputError, match="lies on GPU 3, expected GPU 0"):
        far = Lent(sent[0])
        far.__dlpack_device__ = lambda: (2, 3)  # type: ignore[method-assign]
        gpu.joint_step(far, pd, u)


@pytest.mark.thorough
def test_what_is_handed_out_lives_until_it_is_given_back(
    gpu: Gpu, states: dict[str, np.ndarray], libraries: Any
) -> None:
    gc.collect()
    opened = counter(libraries[0], "calls_open")
    array = gpu.array(states["p"])
    capsule = array.__dlpack__(stream=1)
    address, shape = array.address, array.shape
    del array
    gc.collect()
    taken = dlpack.take(capsule)
    assert (taken.address, taken.shape, taken.strides, taken.dtype) == (address, shape, (1, ROWS), np.float64)
    with pytest.raises(InputError, match="nobody has taken"):
        dlpack.take(capsule)
    assert counter(libraries[0], "calls_open") == opened + 1
    del taken
    gc.collect()
    assert counter(libraries[0], "calls_open") == opened
    gpu.array(states["p"]).__dlpack__()  # taken by nobody
    gc.collect()
    assert counter(libraries[0], "calls_open") == opened
    whole = dlpack.export(View(address, (), ()), np.int32, 0)
    assert dlpack.take(whole).dtype == np.float32  # the name of 4 bytes: only floats are made here


def test_streams(gpu: Gpu, states: dict[str, np.ndarray], libraries: Any) -> None:
    cuda = libraries[0]
    p, pd, u = (states[k] for k in ("p", "pd", "u"))
    for stream, handle in (
        (None, None),
        (7, 7),
        (type("Torch", (), {"cuda_stream": 8})(), 8),
        (type("CuPy", (), {"ptr": 9})(), 9),
    ):
        result = gpu.joint_step(p, pd, u, stream=stream, check=False)
        assert ctypes.c_void_p.in_dll(cuda, "last_stream").value == handle
    before = counter(cuda, "calls_ordered")
    gpu.fk(result.p_next, result.pd_next, stream=9)
    assert counter(cuda, "calls_ordered") == before
    gpu.fk(result.p_next, result.pd_next, stream=4)
    assert counter(cuda, "calls_ordered") == before + 2
    result.p_next.__dlpack__(stream=1)
    assert counter(cuda, "calls_ordered") == before + 3
    with pytest.raises(InputError, match="expected a handle"):
        gpu.fk(p, pd, stream="fast")


def test_small_batches_use_all_multiprocessors(gpu: Gpu, states: dict[str, np.ndarray], libraries: Any) -> None:
    """The stand-in has 4 of them."""
    for rows, block in ((2, 32), (32 * 4, 32), (64 * 4 - 63, 64), (4096, 64)):
        p = np.resize(states["p"], (rows, 2))
        gpu.fk(p, p)
        assert (counter(libraries[0], "last_block"), counter(libraries[0], "last_grid")) == (block, -(-rows // block))


def test_compiled_once_and_kept(
    robot: Robot, states: dict[str, np.ndarray], libraries: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIFFPBD_CACHE", str(tmp_path / "kept"))
    compiled = lambda: counter(libraries[1], "calls_compiled")  # noqa: E731
    p = states["p"]
    before = compiled()
    for _ in range(2):
        robot.gpu("float64").tip_jacobian(p)
        robot.gpu("float64").tip_jacobian(p[:3])
    assert compiled() == before + 1
    (file,) = (tmp_path / "kept").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    robot.gpu("float64").tip_jacobian(p)
    assert compiled() == before + 2
    (tmp_path / "kept").chmod(0o777)  # others may write there
    robot.gpu("float64").tip_jacobian(p)
    assert compiled() == before + 3
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    assert gpu_compiler._cache() is None


def test_shapes_are_checked(gpu: Gpu, robot: Robot, states: dict[str, np.ndarray]) -> None:
    p, pd, u = (states[k] for k in ("p", "pd", "u"))
    for call, words in (
        (lambda: gpu.joint_step(p[:, :1], pd, u), r"'p': expected shape \(2,\), or \('rows', 2\) for a batch"),
        (lambda: gpu.joint_step(p, pd[:3], u), r"'pd': .* of 40 rows as in the arguments before it, found \(3, 2\)"),
        (lambda: gpu.rollout(p, pd, u[:, 0]), r"'U': expected shape \(steps, 2\)"),
        (lambda: gpu.joint_step(p, pd, u, alpha={"payload.mas": 1.0}), "payload.mass"),
        (lambda: gpu.joint_step(p * np.nan, pd, u), "finite"),
        (lambda: gpu.joint_step(p, pd, u, g=1), "has no argument 'g'"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    with pytest.raises(AttributeError, match="no 'gravity'"):
        _ = gpu.gravity
    assert "joint_step" in dir(gpu) and "Stand-in" in repr(gpu) and "on Stand-in" in repr(gpu.joint_step)
    empty = gpu.joint_step(p[:0], pd[:0], u[:0])
    assert empty.p_next.numpy().shape == (0, 2)


def test_failures_of_the_driver_are_told(
    gpu: Gpu, states: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN_MEMORY", "100")
    with pytest.raises(
        DiffpbdError, match=r"cuMemAllocAsync failed with CUDA_ERROR_OUT_OF_MEMORY \(2\): out of memory"
    ):
        gpu.array(states["p"])
    with pytest.raises(DiffpbdError, match="CUDA_ERROR"):
        gpu.driver.load(b"no module")


def test_without_what_it_needs_one_message(
    robot: Robot, libraries: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diffpbd.runtime.gpu import driver as gpu_driver
    from diffpbd.runtime.gpu.robot import open_gpu

    cpu = r"On the CPU, batches go through the robot's own functions"
    with pytest.raises(InputError, match="dtype: expected one of float32, float64, found 'half'"):
        robot.gpu("half")
    with pytest.raises(InputError, match="There is no GPU 1: the driver finds 1"):
        robot.gpu(device=1)
    manifest = SimpleNamespace(files={}, again=lambda more: f"diffpbd generate arm {more}")
    plain: Any = SimpleNamespace(name="arm", manifest=manifest)
    with pytest.raises(InputError, match="`diffpbd generate arm --cuda`"):
        open_gpu(plain, "float32", 0, None, None)
    monkeypatch.setenv("STANDIN_CUDA", "12040")
    gpu_driver.driver.cache_clear()
    with pytest.raises(InputError, match=r"NVRTC is of CUDA 13, the driver of CUDA 12.*nvidia-cuda-nvrtc-cu12"):
        robot.gpu().fk(np.zeros(2), np.zeros(2))
    for name, value in (("STANDIN_DEVICES", "0"), ("STANDIN_INIT", "100")):
        with monkeypatch.context() as inner:
            inner.setenv(name, value)
            gpu_driver.driver.cache_clear()
            with pytest.raises(InputError, match=f"finds no GPU. {cpu}"):
                robot.gpu()
    monkeypatch.setattr(gpu_driver, "LIBRARIES", ("libcuda-of-nobody.so.1",))
    gpu_driver.driver.cache_clear()
    with pytest.raises(InputError, match=f"no driver of NVIDIA's on this machine .* {cpu}"):
        robot.gpu()
    assert gpu_compiler.Compiler(13).version == gpu_compiler.Compiler().version == (13, 0)
    monkeypatch.setattr(gpu_compiler, "_wheels", lambda: iter([]))
    with pytest.raises(InputError, match=r"NVRTC.*is not installed: pip install 'diffpbd\[gpu\]'"):
        gpu_compiler.Compiler()
    gpu_driver.driver.cache_clear()


def test_a_source_that_does_not_compile_is_told(gpu: Gpu, robot: Robot, libraries: Any) -> None:
    broken = Gpu(robot, "int broken(", "float64", gpu.driver, [])
    with pytest.raises(DiffpbdError, match="NVRTC .* refused the source .*-DBLOCK=64.*\n(.|\n)*error"):
        broken.fk(np.zeros(2), np.zeros(2))
