"""The bundles that the documents hand on: each is whole, enters a board, and has the digest of its data set."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from driver.cli import main
from driver.publish.archive import unpacked
from driver.publish.checked import check_folder
from driver.publish.results import results_in
from tests.conftest import ROOT

BUNDLES = sorted((ROOT / "docs" / "bundles").glob("*"))
DIGESTS = ROOT / "docs" / "digests"


def test_there_are_bundles_and_nothing_else() -> None:
    assert BUNDLES and {path.suffix for path in BUNDLES} == {".zip"}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_a_bundle_can_be_checked(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(bundle)]) == 0
    told = capsys.readouterr().out
    assert "its records agree with each other" in told
    # The page shows what the command prints.
    if bundle.name in (page := (ROOT / "docs" / "publishing.md").read_text()):
        assert all(f"    {line}\n" in page for line in told.splitlines())
    results, left_out = results_in([bundle])
    assert results and not left_out


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_its_answers_are_those_of_a_known_data_set(bundle: Path) -> None:
    """Where there is a digest of the same data, whole: seed, L and minutes."""
    with unpacked(bundle) as (folder, manifest):
        runs = check_folder(folder, manifest["kind"]).runs
    for run in runs.values():
        label, config = run.json["dataset"], run.json["config"]
        name = f"seed-{label.get('seed')}-L{label['xways']:g}-{config['to_minute']}min.csv"
        is_whole = config["from_minute"] == 1 and not config.get("ignore") and "distinct" not in label
        if is_whole and (DIGESTS / name).is_file():
            with zipfile.ZipFile(bundle) as file:
                digests = [file.read(one).decode() for one in file.namelist() if one.endswith("digest.csv")]
            assert digests and set(digests) == {(DIGESTS / name).read_text()}
