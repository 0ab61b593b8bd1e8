"""State folders for embedded servers of a test's own, and a browser."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess

import pytest

from polling_baseline.database.embedded.server import ensure_running, stop
from tests.conftest import state_folder
from tests.support.browser import Browser, find_browser


@pytest.fixture
def folder(monkeypatch):
    """A state folder with no server in it yet, for the commands and for us."""
    with state_folder() as folder:
        monkeypatch.setenv("LRB_STATE", str(folder))
        yield folder
        stop()


@pytest.fixture(scope="session")
def pristine():
    """A state folder as the first start leaves it."""
    with state_folder() as folder:
        # Only for a moment: other tests of this session have a server of their own there.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LRB_STATE", str(folder))
            ensure_running()
            stop()
        yield folder


@pytest.fixture
def installed(pristine, folder):
    """A state folder whose server has run before."""
    subprocess.run(["cp", "-Rp", pristine / "postgresql", folder], check=True)
    return folder


@pytest.fixture
def free_port():
    """Below those that the system gives away by itself: nobody else takes it between now and its use."""
    while True:
        port = random.randrange(15_000, 32_768)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture(scope="session")
def browser():
    browser = Browser(find_browser())
    yield browser
    browser.close()
