"""`shardwright doctor` and `shardwright completion`: what they find, and what shells make of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from shardwright.tools.health import machine, trial
from shardwright.tools.health.packages import found_packages
from shardwright.tools.main import COMMANDS, main


def test_a_sound_installation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    states = {each["about"]: each["state"] for each in found["findings"]}
    assert {states[about] for about in ("packages", "python", "temporary files", "a program")} == {"ok"}


def test_what_is_wrong_ends_with_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.np, "array_equal", lambda *_: False)
    assert main(["doctor"]) == 1
    assert "!!  a program            a small product came out wrong\n" in capsys.readouterr().out


def test_packages_that_do_not_fit() -> None:
    named = [Requirement(line) for line in ("numpy>=2.0", "xdsl==0.74.*", "mpi4py>=4.1; extra == 'mpi'")]
    named += [Requirement("shardwright[mpi]; extra == 'ray'"), Requirement("ray>=2.50; extra == 'ray'")]
    found = found_packages(named, {"numpy": "2.1", "xdsl": "0.75.0", "mpi4py": "3.0+local"})
    assert [(each.about, each.state, each.seen) for each in found] == [
        ("packages", "wrong", "xdsl 0.75.0, but ==0.74.* is needed"),
        ("extra mpi", "wrong", "mpi4py 3.0+local, but >=4.1 is needed"),
        ("extra ray", "wrong", "mpi4py 3.0+local, but >=4.1 is needed"),
    ]
    absent = found_packages(named, {"numpy": "2.1", "xdsl": "0.74.1", "mpi4py": "4.1.2"})
    assert [each.state for each in absent] == ["ok", "ok", "absent"]
    assert absent[2].help == "for workers of a Ray cluster: pip install 'shardwright[ray]'"


def test_a_folder_into_which_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = machine.folder("cache", tmp_path / "file" / "proofs")
    assert (found.state, found.help) == ("wrong", f"make {tmp_path / 'file'} a writable folder")
    assert machine.folder("cache", tmp_path / "new" / "proofs").state == "ok"


def test_a_library_that_cannot_say_its_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.devices("some", "print('2 devices')").seen == "2 devices"
    assert machine.devices("some", "raise RuntimeError('no driver')").seen == "RuntimeError: no driver"
    assert machine.devices("some", "import os; os._exit(3)").seen == "exit code 3"
    monkeypatch.setattr(machine, "PATIENCE", 0.2)
    assert machine.devices("some", "import time; time.sleep(60)").seen == "no answer in 0.2 seconds"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("of", "words", "proposed"),
    [
        ("shardwright", "shardwright ", set(COMMANDS)),
        ("shardwright", "shardwright export --to s", {"sdy", "stablehlo"}),
        ("shardwright", "shardwright run --in", {"--inputs"}),
        ("shardwright", "shardwright explain-code SW010", {f"SW010{digit}" for digit in range(1, 10)}),
        ("shardwright", "shardwright run progr", {"program.mlir"}),
        ("opt", "shardwright-opt --print-ir-before prop", {"propagate-layouts"}),
        ("opt", "shardwright-opt progr", {"program.mlir"}),
    ],
)
def test_bash_completes(
    of: str, words: str, proposed: set[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "program.mlir").write_text("")
    assert main(["completion", "bash", "--of", of]) == 0
    script = capsys.readouterr().out
    typed = words.split(" ")
    name = {"shardwright": "_shtab_shardwright", "opt": "_shtab_shardwright_opt"}[of]
    script += f'COMP_WORDS=({words} "")\nCOMP_CWORD={len(typed) - 1}\n{name}\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert set(done.stdout.split()) == proposed


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_all_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert [name for name in COMMANDS if name not in script] == []
