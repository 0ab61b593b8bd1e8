"""`lrb` as it is installed: one name in site-packages, and no other `driver` is ever imported instead of ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_editable, build_wheel

from tests.conftest import ROOT, lrb_options

# What pip writes into bin/lrb.
SCRIPT = "import sys\nfrom linear_road import run\nif __name__ == '__main__':\n    sys.exit(run())\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packages of our names that are not ours."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in ("driver", "polling_baseline"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise RuntimeError('this is another package')\n")
    return folder


def built(build, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that an installation puts into site-packages."""
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(folder / build(str(folder))) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def names_in(site: Path) -> list[str]:
    return sorted(path.name for path in site.iterdir() if path.suffix != ".dist-info")


def take_over_machine_code(folder: Path) -> None:
    """What the checkout has compiled counts for its copy, too, if the files are as old."""
    for package in ("driver", "polling_baseline"):
        for file in (folder / package).rglob("*.py"):
            shutil.copystat(ROOT / file.relative_to(folder), file)
        for cache in ROOT.glob(f"{package}/**/__pycache__"):
            shutil.copytree(cache, folder / cache.relative_to(ROOT), ignore=shutil.ignore_patterns("*.pyc"))


def run(command: list[object], hostile: Path, **variables: object) -> str:
    """What a command says with a hostile folder on PYTHONPATH; within it, where Python can look elsewhere first."""
    variables = {"PYTHONPATH": hostile, **variables, **({"cwd": hostile} if sys.version_info >= (3, 11) else {})}
    done = subprocess.run([sys.executable, *map(str, command)], **lrb_options(variables))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_beside_other_packages(tmp_path: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a data set to its verdict: this process, Spark's and Aurora's all import what the wheel brought."""
    site = built(build_wheel, tmp_path, monkeypatch)
    assert names_in(site) == ["linear_road"]
    page = Path("driver", "report", "watch", "page")
    assert names_in(site / "linear_road" / page) == names_in(ROOT / page)
    script = tmp_path / "lrb"
    script.write_text(SCRIPT)
    take_over_machine_code(site / "linear_road")

    def lrb(*words: object) -> str:
        return run([script, *words], hostile, PYTHONPATH=f"{hostile}{os.pathsep}{site}")

    assert lrb("--version").startswith("lrb ")
    road, out = tmp_path / "road", tmp_path / "run"
    lrb("generate", "--xways", "1.5", "--minutes", "1", "--history-days", "0", "--out", road, "--master", "local[2]")
    lrb("run", "--engine", "aurora", "--workers", "2", "--clock", "virtual", road, "--out", out)
    facts = json.loads((out / "run.json").read_text())
    # Two processes of its own; and no checkout that has a commit.
    assert (facts["config"]["workers"], facts["environment"]["commit"]) == (2, None)
    assert lrb("validate", road, out, "--master", "local[2]").startswith("PASS")


def test_the_editable_install_is_the_checkout(tmp_path: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = built(build_editable, tmp_path, monkeypatch)
    assert names_in(site) == ["_linear_road.pth", "linear_road"]
    assert (site / "_linear_road.pth").read_text() == str(ROOT)
    path = os.pathsep.join(map(str, (hostile, site, ROOT)))
    assert run(["-m", "linear_road", "--version"], hostile, PYTHONPATH=path).startswith("lrb ")
