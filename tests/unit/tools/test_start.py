"""Where commands begin: Ctrl-C while they load ends them as it does later."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from shardwright.tools import start
from shardwright.tools.terminal.guard import INTERRUPTED

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", [start.main, start.opt])
def test_ctrl_c_while_a_command_loads(command: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupted(name: str) -> ModuleType:
        raise KeyboardInterrupt

    monkeypatch.setattr(start, "import_module", interrupted)
    assert callable(command)
    assert command() == INTERRUPTED == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_nothing_loads_before_it_begins() -> None:
    code = "import sys, shardwright.tools.start; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = {name for name in ran.stdout.split() if name.partition(".")[0] == "shardwright"}
    assert "shardwright.tools.start" in own
    assert not own & {"shardwright.tools.main", "shardwright.tools.terminal", "shardwright.diagnostics"}
