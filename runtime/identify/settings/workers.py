"""Parallel maps over processes or a Dask cluster, with results in the order of the tasks, identical to a serial run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeAlias

from diffpbd.runtime.base.errors import IN_PYTHON, DiffpbdError, InputError, SolverError, arg

__all__ = ["Map", "one_by_one", "workers"]

Map: TypeAlias = "Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]"
"""Applies a function of a module to every task."""
PATIENCE = 10.0  # s; timeout of a scheduler
WORKERLESS = 60.0  # s that a scheduler may be without any worker: queues of a cluster start them late
ASKED = 1.0  # s between two checks of the workers


@dataclass(frozen=True)
class _Called:
    """A function whose messages on a worker use the caller's vocabulary (command line or Python)."""

    function: Callable[[Any], Any]
    in_python: bool

    def __call__(self, task: Any) -> Any:
        outside = IN_PYTHON.set(self.in_python)
        try:
            return self.function(task)
        finally:
            IN_PYTHON.reset(outside)


def one_by_one(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
    """In this process."""
    return [function(task) for task in tasks]


@contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[Map]:
    """A map over `jobs` processes, or over the workers of the Dask `scheduler` at this address."""
    if scheduler is not None:
        with _cluster(scheduler) as spread:
            yield spread
    elif jobs > 1:
        with _processes(jobs) as spread:
            yield spread
    else:
        yield one_by_one


@contextmanager
def _processes(jobs: int) -> Iterator[Map]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # new processes and not forks: this one may have threads and compiled libraries open
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:

        def spread(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
            try:
                return list(pool.map(_Called(function, IN_PYTHON.get()), tasks))
            except BrokenProcessPool:
                raise SolverError(f"A worker process died, perhaps for lack of memory; try fewer {arg.jobs}.") from None

        yield spread


@contextmanager
def _cluster(scheduler: str) -> Iterator[Map]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"{arg.scheduler} {scheduler}: no Dask scheduler answers there: {error}.") from None
    with client:

        def spread(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
            try:
                futures = client.map(_Called(function, IN_PYTHON.get()), tasks, pure=False)
                _await(client, scheduler, futures)
                return list(client.gather(futures))
            except DiffpbdError:
                raise
            except Exception as error:  # a task on the cluster may raise anything, which is reported
                raise SolverError(
                    f"{arg.scheduler} {scheduler}: a task failed: {type(error).__name__}: {error}."
                ) from None

        yield spread


def _await(client: Any, scheduler: str, futures: Sequence[Any]) -> None:
    """Until all are done; a cluster that has had no worker for `WORKERLESS` is given up."""
    from distributed import wait

    alone = None
    while True:
        try:
            wait(futures, timeout=ASKED)
            return
        except TimeoutError:
            pass
        if client.nthreads():
            alone = None
            continue
        alone = monotonic() if alone is None else alone
        if monotonic() - alone >= WORKERLESS:
            client.cancel(futures)
            raise SolverError(
                f"{arg.scheduler} {scheduler}: it has had no worker for {WORKERLESS:g} s, so nothing is computed; start one "
                f"(dask worker {scheduler}), or leave out {arg.scheduler} and use {arg.jobs}."
            )
