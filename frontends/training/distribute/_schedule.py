"""In which order the stages of a pipeline do what, so that none waits for what another could have sent before."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeAlias


@dataclass(frozen=True)
class Task:
    """What a stage computes of a microbatch; the last stage goes forward and back at once."""

    stage: int
    microbatch: int
    backward: bool

    @property
    def name(self) -> str:
        """What a trace calls it."""
        return f"{'backward' if self.backward else 'forward'} {self.microbatch} of stage {self.stage}"


@dataclass(frozen=True)
class Move:
    """What a task made goes to the stage that needs it next."""

    made_by: Task


Event: TypeAlias = "Task | Move"


def tasks_of(stage: int, stages: int, microbatches: int) -> list[Task]:
    """
    One forward, one backward: a stage goes ahead by as many microbatches as there are stages after it, and no further.

    So it holds the inputs of `stages - stage` microbatches at most. (PipeDream-Flush; Narayanan et al., 2021.)

    >>> [("B" if task.backward else "F") + str(task.microbatch) for task in tasks_of(0, 3, 4)]
    ['F0', 'F1', 'F2', 'B0', 'F3', 'B1', 'B2', 'B3']
    >>> [("B" if task.backward else "F") + str(task.microbatch) for task in tasks_of(2, 3, 4)]
    ['B0', 'B1', 'B2', 'B3']
    """
    ahead = stages - 1 - stage
    forward = [Task(stage, number, False) for number in range(microbatches if ahead else 0)]
    found, rest = forward[:ahead], forward[ahead:]
    for number in range(microbatches):
        found += rest[number : number + 1]
        found.append(Task(stage, number, True))
    return found


def events(stages: int, microbatches: int) -> list[Event]:
    """
    What all stages do, one after the other, as every process goes through it: each has its own tasks in their order.

    What a task made goes to the next stage before its own stage does anything else, and after all that the next one
    does before it needs it: so who sends is never late, and who waits has nothing else to do.
    """
    lines = [tasks_of(stage, stages, microbatches) for stage in range(stages)]
    after = {task: line[place + 1] for line in lines for place, task in enumerate(line[:-1])}
    before = {later: task for task, later in after.items()}
    order = TopologicalSorter[Event]()
    for line in lines:
        for task in line:
            order.add(task, *([before[task]] if task in before else []))
            taker = _taker(task, stages)
            if taker is None:
                continue
            move = Move(task)
            order.add(move, task, *([before[taker]] if taker in before else []))
            order.add(taker, move)
            if task in after:
                order.add(after[task], move)
    return list(order.static_order())


def _taker(task: Task, stages: int) -> Task | None:
    """Who needs what a task made."""
    if task.backward:
        return Task(task.stage - 1, task.microbatch, True) if task.stage else None
    following = task.stage + 1
    return Task(following, task.microbatch, following == stages - 1)
