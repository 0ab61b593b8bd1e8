"""What is said while something takes long."""

from __future__ import annotations

from driver import progress


def test_plain_lines_begin_with_the_first_step(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_PERIOD_S", 0.0)
    with progress.progress("generate", 8) as advance:
        for amount in (0, 0, 1, 0, 7):
            advance(amount)
    assert capsys.readouterr().err.splitlines() == ["generate: 12%", "generate: 12%", "generate: 100%"]
