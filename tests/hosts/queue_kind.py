"""A capability kind of another host, and the service that acts under it: all of both is in this file.

A console lets plugins put jobs into its queues: `{"kind": "queue", "queues": ["night"], "most": 10}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

from yazcore import Brokered, Capability, Request, TargetFault


@attrs.frozen(kw_only=True)
class QueueRequest(Request):
    """Putting a job into a queue, or with `look` seeing how many are in it."""

    queue: str
    look: bool = False
    kinds: tuple[str, ...] = ("queue",)
    target: str = attrs.field(default=attrs.Factory(lambda self: self.queue, takes_self=True))


@attrs.frozen(kw_only=True)
class Queue(Capability):
    """Put jobs into the queues named, at most so many at a time."""

    kind: ClassVar[str] = "queue"
    service: ClassVar[str] = "queues"
    sensitive: ClassVar[bool] = True

    queues: tuple[str, ...]
    most: int = 1

    def targets(self) -> dict[str, Any]:
        return {"queues": sorted(set(self.queues)), "most": self.most}

    def faults(self) -> Iterator[TargetFault]:
        for index, queue in enumerate(self.queues):
            if not queue.isalpha():
                yield TargetFault(
                    "capability-queue", f"{queue!r} is not a queue", "name one, as in night", ("queues", index)
                )

    def covers(self, request: Request) -> bool:
        return isinstance(request, QueueRequest) and request.queue in self.queues

    def reads(self, request: Request) -> bool:
        return isinstance(request, QueueRequest) and request.look

    def within(self, other: Capability) -> bool:
        return isinstance(other, Queue) and set(self.queues) <= set(other.queues) and self.most <= other.most

    def sentence(self) -> str:
        return f"put at most {self.most} jobs into {', '.join(self.targets()['queues'])}"


class Queues:
    """The service: `context.queues.put("night", {...})`."""

    def __init__(self, brokered: Brokered) -> None:
        self._brokered = brokered
        self._jobs: dict[str, list[Any]] = {}

    def put(self, queue: str, job: Any) -> int:
        capability = self._brokered.require(QueueRequest(queue=queue))
        jobs = self._jobs.setdefault(queue, [])
        if len(jobs) >= capability.targets()["most"]:
            self._brokered.refuse(capability, queue, "it holds as many jobs of this plugin as it may")
        jobs.append(job)
        return len(jobs)

    def look(self, queue: str) -> int:
        self._brokered.require(QueueRequest(queue=queue, look=True))
        return len(self._jobs.get(queue, ()))
