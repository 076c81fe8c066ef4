"""In notebooks places are called as the notebook calls its cells, and cells are sources like files."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import shardwright as sw

CELLS = [
    """import numpy as np
import shardwright as sw
mesh = sw.Mesh(x=2)
a = sw.relayout(np.ones((4, 4), "float32"), sw.Layout([None, "x"], mesh))""",
    """def product(a):
    return sw.relayout(sw.tanh(a @ sw.matrix_transpose(a)), sw.Layout(["x"], mesh))""",
    """stage = sw.function(product).trace(a).partition()
print(stage.explain())
print(stage.explain().why("In[2]:2"))
print(stage.what_if(without=["In[2]:2"]))
stage.report(PAGE)""",
    "b = a @ sw.zeros((5, 4))",
]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What IPython prints for the cells, and the report that they write."""
    pytest.importorskip("IPython", reason="needs IPython")
    page = tmp_path_factory.mktemp("report") / "page.html"
    program = "from IPython.terminal.interactiveshell import TerminalInteractiveShell\n"
    program += f"shell = TerminalInteractiveShell.instance(colors='nocolor')\nshell.push({{'PAGE': {str(page)!r}}})\n"
    program += "".join(f"shell.run_cell({cell!r}, store_history=True)\n" for cell in CELLS)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout, page.read_text()


def test_explanations_name_the_cell(said: tuple[str, str]) -> None:
    printed, _ = said
    assert "asked by         stablehlo.tanh at In[2]:2" in printed
    assert "In[2]:2: stablehlo.tanh gives" in printed
    assert "without In[2]:2" in printed
    assert "ipython-input" not in printed


def test_mistakes_name_the_cell(said: tuple[str, str]) -> None:
    printed, _ = said
    assert "In[4]:1:5: error[SW0504]" in printed


def test_reports_have_the_cell_as_a_source(said: tuple[str, str]) -> None:
    _, page = said
    assert "<h3>In[2]</h3>" in page
    assert "return sw.relayout(sw.tanh(a @ sw.matrix_transpose(a))" in page


def test_notebooks_get_texts_as_texts() -> None:
    """Rich takes a kernel for a display of its own, line by line; explanations are texts, which are printed once."""
    pytest.importorskip("ipykernel", reason="needs the extra notebooks")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    texts = [*CELLS[:2], "sw.function(product).trace(a).partition()"]
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(Path(__file__).parent))
    (shown,) = cells[-1].outputs
    assert "reduce_scatter" in shown["data"]["text/html"]
    assert "In[2]:2" in shown["data"]["text/html"]


def test_a_picture_is_printed_where_no_kernel_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that has loaded ipykernel, as those that run notebooks do, is none; what runs in a kernel is."""
    layout = sw.Layout(["x"], sw.Mesh(x=2))
    for around, printed in ((None, True), (SimpleNamespace(), True), (SimpleNamespace(kernel=object()), False)):
        monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda around=around: around))
        output = StringIO()
        with redirect_stdout(output):
            sw.visualize(layout, (4,))
        assert bool(output.getvalue()) is printed
