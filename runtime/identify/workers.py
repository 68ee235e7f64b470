"""Work spread over processes or a Dask cluster: results in the order of the tasks, the same as one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from diffpbd.runtime.errors import DiffpbdError, InputError, SolverError

__all__ = ["Map", "one_by_one", "workers"]

Map: TypeAlias = "Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]"
"""Applies a function of a module to every task."""
PATIENCE = 10.0  # s until a scheduler that does not answer is given up


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
                return list(pool.map(function, tasks))
            except BrokenProcessPool:
                raise SolverError("A worker process died, perhaps for lack of memory; try fewer --jobs.") from None

        yield spread


@contextmanager
def _cluster(scheduler: str) -> Iterator[Map]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler {scheduler}: no Dask scheduler answers there: {error}.") from None
    with client:

        def spread(function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
            try:
                return list(client.gather(client.map(function, tasks, pure=False)))
            except DiffpbdError:
                raise
            except Exception as error:  # a task raises on the cluster whatever it likes; said, not hidden
                raise SolverError(f"--scheduler {scheduler}: a task failed: {type(error).__name__}: {error}.") from None

        yield spread
