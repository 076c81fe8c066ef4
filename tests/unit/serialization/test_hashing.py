"""HighwayHash64 against the vectors of its authors, and its engines against each other."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from shardwright.serialization.hashing import HighwayHash64, highway, highwayhash64, pure
from shardwright.serialization.riegeli.chunks.blocks import block_headers

COUNTING_KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908, 0x1716151413121110, 0x1F1E1D1C1B1A1918)

# From google/highwayhash, c/highwayhash_test.c: the hashes of 00 01 02 ... of each length from 0 on.
VECTORS = """
907A56DE22C26E53 7EAB43AAC7CDDD78 B8D0569AB0B53D62 5C6BEFAB8A463D80 F205A46893007EDA 2B8A1668E4A94541 BD4CCC325BEFCA6F
4D02AE1738F59482 E1205108E55F3171 32D2644EC77A1584 F6E10ACDB103A90B C3BBF4615B415C15 243CC2040063FA9C A89A58CE65E641FF
24B031A348455A23 40793F86A449F33B CFAB3489F97EB832 19FE67D2C8C5C0E2 04DD90A69C565CC2 75D9518E2371C504 38AD9B1141D3DD16
0264432CCD8A70E0 A9DB5A6288683390 D7B05492003F028C 205F615AEA59E51E EEE0C89621052884 1BFC1A93A7284F4F 512175B5B70DA91D
F71F8976A0A2C639 AE093FEF1F84E3E7 22CA92B01161860F 9FC7007CCF035A68 A0C964D9ECD580FC 2C90F73CA03181FC 185CF84E5691EB9E
4FC1F5EF2752AA9B F5B7391A5E0A33EB B9B84B83B4E96C9C 5E42FE712A5CD9B4 A150F2F90C3F97DC 7FA522D75E2D637D 181AD0CC0DFFD32B
3889ED981E854028 FB4297E8C586EE2D 6D064A45BB28059C 90563609B3EC860C 7AA4FCE94097C666 1326BAC06B911E08 B926168D2B154F34
9919848945B1948D A2A98FC534825EBE E9809095213EF0B6 582E5483707BC0E9 086E9414A88A6AF5 EE86B98D20F6743D F89B7FF609B1C0A7
4C7D9CC19E22C3E8 9A97005024562A6F 5DD41CF423E6EBEF DF13609C0468E227 6E0DA4F64188155A B755BA4B50D7D4A1 887A3484647479BD
AB8EEBE9BF2139A0 75542C5D4CD2A6FF
""".split()


def built(folder: Path, *options: str) -> ModuleType:
    """The extension, compiled here."""
    compiler = shutil.which("cc")
    if compiler is None or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("there is no C compiler, or no header of Python")
    source, target = Path(highway.__file__).with_name("highway.c"), folder / "native.so"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", include, *options, source, "-o", target], check=True)
    loader = ExtensionFileLoader("native", str(target))
    spec = spec_from_loader("native", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The extension as it is installed."""
    return built(tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="module")
def scalar(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The extension as it is on a processor without AVX2."""
    return built(tmp_path_factory.mktemp("scalar"), "-DSCALAR_ONLY")


@pytest.fixture(params=["pure", "numba", "native", "scalar"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each engine in turn, whatever was hashed before."""
    compiled = request.getfixturevalue(request.param) if request.param in ("native", "scalar") else None
    monkeypatch.setattr(highway.ENGINE, "kernel", compiled)
    monkeypatch.setattr(highway.ENGINE, "has_native", False)
    monkeypatch.setattr(highway.ENGINE, "patience", -1 if request.param == "numba" else 1 << 40)
    if request.param == "scalar":
        assert compiled is not None
        assert compiled.instructions == "scalar"
    return request.param


@pytest.mark.every(4)
@pytest.mark.parametrize("size", range(len(VECTORS)))
def test_vectors_of_the_authors(engine: str, size: int) -> None:
    assert highwayhash64(bytes(range(size)), COUNTING_KEY) == int(VECTORS[size], 16)
    assert (highway.ENGINE.kernel is not None) == (engine != "pure")


def test_another_key(engine: str) -> None:
    assert highwayhash64(bytes(range(128, 161)), (1, 2, 3, 4)) == 0x53C516CCE478CAD7


def test_hashes_of_riegeli(engine: str) -> None:
    assert highwayhash64(b"") == 0x72C3B1E9C0139FE1
    # The first 64 bytes of every file: a block header and a chunk header, each with its hash in front.
    signature = bytes.fromhex(
        "83af70d10d884a3f0000000000000000400000000000000091bac23c9287e1a9"
        "0000000000000000e19f13c0e9b1c37273000000000000000000000000000000"
    )
    assert highwayhash64(signature[8:24]) == int.from_bytes(signature[:8], "little")
    assert highwayhash64(signature[32:]) == int.from_bytes(signature[24:32], "little")


def test_pieces_make_the_whole(engine: str) -> None:
    draw = random.Random(7)
    for _ in range(40):
        data = draw.randbytes(draw.randrange(400))
        hasher, place = HighwayHash64(), 0
        while place < len(data):
            step = draw.randrange(1, 90)
            hasher.update(memoryview(data)[place : place + step])
            place += step
        assert hasher.digest() == hasher.digest() == highwayhash64(data)


def test_engines_agree_and_change_over_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random.Random(3).randbytes(5000)
    state = pure.fresh_state(COUNTING_KEY)
    pure.absorb_all(state, memoryview(data)[:4992])
    expected = pure.finish(state, data[4992:])
    monkeypatch.setattr(highway.ENGINE, "kernel", None)
    monkeypatch.setattr(highway.ENGINE, "has_native", False)
    monkeypatch.setattr(highway.ENGINE, "patience", 2000)
    hasher = HighwayHash64(COUNTING_KEY)
    for place in range(0, len(data), 1000):
        hasher.update(data[place : place + 1000])
    assert highway.ENGINE.kernel is not None
    assert hasher.digest() == highwayhash64(data, COUNTING_KEY) == expected


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highway.ENGINE, "kernel", None)
    monkeypatch.setattr(highway.ENGINE, "patience", -1)
    monkeypatch.setattr(highway.ENGINE, "has_numba", False)
    monkeypatch.setattr(highway.ENGINE, "has_native", False)
    assert highwayhash64(bytes(range(64)), COUNTING_KEY) == int(VECTORS[64], 16)
    assert highway.ENGINE.kernel is None


def test_headers_of_blocks(engine: str) -> None:
    """Each is its hash, how far the chunk's begin is before it and how far the chunk's end behind it."""
    begin, end, count = 60000, 60000 + (5 << 16), 4
    expected = b""
    for block in range(1 << 16, (count + 1) << 16, 1 << 16):
        places = struct.pack("<QQ", block - begin, end - block)
        state = pure.fresh_state(highway.RIEGELI_KEY)
        expected += pure.finish(state, places).to_bytes(8, "little") + places
    assert block_headers(begin, end, 1 << 16, count) == expected


def test_wrong_arguments_of_the_extension(native: ModuleType) -> None:
    state = bytearray(128)
    for call in (
        lambda: native.absorb_all(state, bytes(33)),
        lambda: native.absorb_all(bytearray(127), bytes(32)),
        lambda: native.finish(state, bytes(32)),
        lambda: native.finish(bytes(3), b""),
        lambda: native.one_shot(b"", b""),
        lambda: native.block_headers(bytes(130), 0, 0, 0, 1),
    ):
        with pytest.raises(ValueError, match="bytes"):
            call()
    with pytest.raises(TypeError, match="read-write"):
        native.absorb_all(bytes(128), bytes(32))


def test_the_extension_is_taken_where_it_is_installed(native: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highway.ENGINE, "kernel", None)
    monkeypatch.setattr(highway.ENGINE, "has_native", True)
    monkeypatch.setitem(sys.modules, highway.NATIVE, native)
    assert highwayhash64(bytes(range(5)), COUNTING_KEY) == int(VECTORS[5], 16)
    assert highway.ENGINE.kernel is native


def test_other_buffers(engine: str) -> None:
    data = bytes(range(40))
    shorts = memoryview(bytearray(data)).cast("H")
    assert highwayhash64(bytearray(data)) == highwayhash64(shorts) == highwayhash64(data)
