from typing import Any


def svg(facts: dict[str, Any]) -> str:
    return ""
