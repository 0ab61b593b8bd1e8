"""What the rules see of Spark's state: byte strings by name, those of one shard."""

from __future__ import annotations

from typing import Protocol


class State(Protocol):
    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, data: bytes) -> None: ...


class InMemory(dict[str, bytes]):
    """The same in a dictionary, where there is no Spark."""

    def put(self, name: str, data: bytes) -> None:
        self[name] = data
