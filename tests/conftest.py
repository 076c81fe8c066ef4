"""For every test: JAX's host devices, no memory of proofs, the order of tests, a heap that is not searched again."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from sampling import SHARE

MOST_SMOKE_TESTS = 20

# JAX, where a test uses it, reads this when it first looks for devices.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# What is proved in a test is proved in this test, and no test writes to the user's folders.
os.environ["SHARDWRIGHT_CACHE"] = ""

# How fast this machine is decides no test.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(SHARE, settings.get_profile("any machine"), max_examples=25)
settings.load_profile("any machine")

# What runs in the background of a shell ignores it, and so would whatever a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """By default a property is tried on a share of its examples."""
    if "not more" in config.getoption("markexpr"):
        settings.load_profile(SHARE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of tests that are all left out are not read: to import JAX, Keras and TensorFlow takes seconds."""
    left_out = collection_path.name.endswith("_peers.py") and "not peers" in config.getoption("markexpr")
    return left_out or None


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Smoke tests run first, so that a broken tree says so in seconds; there are few of them.

    Of a test that is marked `every(3)` each third case runs by default, and the others are marked `more`, unless tests
    are asked for by name.
    """
    named = config.getoption("keyword") or any("::" in argument for argument in config.args)
    cases = Counter[str]()
    for item in items:
        every = item.get_closest_marker("every")
        if every is not None and not named:
            kind = item.nodeid.partition("[")[0]
            if cases[kind] % every.args[0]:
                item.add_marker("more")
            cases[kind] += 1
    smoke = [item for item in items if item.get_closest_marker("smoke")]
    assert len(smoke) <= MOST_SMOKE_TESTS
    items.sort(key=lambda item: item.get_closest_marker("smoke") is None)


def pytest_collection_finish() -> None:
    """What is there before the first test stays: the garbage collector shall not count it to what a test measures."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """So does what a file of tests left behind: rules, plans and answers that are remembered."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """
    A worker reports setup and teardown of a test only where they did not pass, or where all times are asked for.

    Most tests take less time than two more reports.
    """
    option = item.config.getoption
    if not hasattr(item.config, "workerinput") or option("xmlpath", None) or option("durations", None) is not None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Names of markers and folders, which nobody reads, are a third of what a report costs between processes."""
    report = yield
    report.keywords = {}
    return report
