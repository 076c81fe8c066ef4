"""TensorFlow's own merger, which is in the library of its wheel though Python cannot call it: a program around it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

SOURCE = Path(__file__).with_name("tensorflow_judge.cc")


class Judge:
    """The program, compiled in `folder`, for the message types of some files of a descriptor pool."""

    def __init__(self, folder: Path, files: list[Any]) -> None:
        tensorflow = pytest.importorskip("tensorflow")
        compiler = shutil.which("g++")
        if compiler is None:
            pytest.skip("no C++ compiler")
        library = Path(tensorflow.__file__).parent
        self.folder, program = folder, folder / "judge"
        (folder / "types").write_bytes(_described(files))
        command = [compiler, "-std=c++17", "-w", *tensorflow.sysconfig.get_compile_flags(), "-o", program, SOURCE]
        command += [
            f"-L{library}",
            "-l:libtensorflow_cc.so.2",
            "-l:libtensorflow_framework.so.2",
            f"-Wl,-rpath,{library}",
        ]
        subprocess.run(command, check=True)
        self.program = subprocess.Popen(
            [program, folder / "types"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )

    def read(self, prefix: Path, message: Any) -> str:
        """Read a file into a message; 'ok', or how it went wrong."""
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        out = self.folder / "out"
        print(message.DESCRIPTOR.full_name, prefix, out, file=self.program.stdin, flush=True)
        said = self.program.stdout.readline().strip()
        if said == "ok":
            message.MergeFromString(out.read_bytes())
        return said

    def close(self) -> None:
        """End the program."""
        self.program.communicate(timeout=10)


def _described(files: list[Any]) -> bytes:
    """Files and what they import, the imported first."""
    described, seen = descriptor_pb2.FileDescriptorSet(), set[str]()

    def add(file: Any) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for each in file.dependencies:
                add(each)
            file.CopyToProto(described.file.add())

    for file in files:
        add(file)
    return described.SerializeToString()
