"""What many tests need: settings of their own, and a small knowledge base with real stores, built once and copied."""

import fcntl
import gc
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import getproxies

import hypothesis
import pytest
from _pytest.tmpdir import tmppath_result_key
from shared_models import share_sessions
from tiny_base import TinyBase, close_base, make_tiny, open_base

from argot.corpus.ingestion.compaction import release_memory
from argot.service.observability.process_memory import bound_arenas
from argot.settings import Settings

LONGEST_FIRST = (
    "test_vllm.py",
    "test_chat_walk.py",
    "test_chat.py",
    "test_workbench_browser.py",
    "test_pages_browser.py",
    "test_sign_in.py",
    "test_embedding.py",
    "test_cli.py",
    "test_ratings_browser.py",
    "test_canaries.py",
    "test_moving.py",
    "test_answer_workers.py",
    "test_chainlit_guard.py",
    "test_soundness.py",
    "test_wings.py",
    "test_learn_commands.py",
    "test_documents_browser.py",
    "test_chat_interruptions.py",
    "test_underlines.py",
    "test_experiments.py",
    "test_api_truth.py",
    "test_tuning_commands.py",
    "test_embedder_training.py",
    "test_hostile_files.py",
    "test_derive.py",
    "test_erased_documents.py",
    "test_killed_derivation.py",
    "test_generator_run.py",
    "test_replicas.py",
    "test_service_running.py",
    "test_insight_browser.py",
    "test_embedding_browser.py",
    "test_provider_browser.py",
    "test_learning_data_browser.py",
    "test_proxy_examples.py",
    "test_no_network.py",
    "test_job_workers.py",
    "test_background_derivation.py",
    "test_pages_workbench.py",
    "test_model_adoption.py",
)
"""Files that take longest: begun at the end they would be waited for by one process while the others are done."""
RETRY_REASONS = {
    "browser": "drives Chromium, which loses its connection now and then on a busy machine",
    "vllm": "asks a real vLLM, which may take longer than its bounds on a busy machine",
}
"""Marks whose tests are tried once more when they fail, and why. Any other test that has to be says it by itself:
`@pytest.mark.retried("REASON")`. The report names each that was; what fails twice fails.
"""

# Examples are made on busy machines too. In continuous integration hypothesis has a profile of its own that says so.
if hypothesis.settings.get_current_profile_name() == "default":
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("argot", deadline=None, suppress_health_check=slow)
    hypothesis.settings.load_profile("argot")

# What somebody has set for a knowledge base of their own, or for colours, is none of these tests' business; and a proxy
# is for what leaves this machine.
KEPT = {"ARGOT_CACHE", "ARGOT_SCREENSHOTS", "ARGOT_THREADS"}
for name in [one for one in os.environ if one.startswith("ARGOT_")]:
    if name not in KEPT:
        del os.environ[name]
os.environ.pop("FORCE_COLOR", None)
os.environ["LC_ALL"] = "C.UTF-8"  # commands speak the language of the terminal
# Without bytecode each of thousands of processes would compile Argot's modules anew, and each run all of the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for name in ("NO_PROXY", "no_proxy") if getproxies() else ():
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "localhost", "127.0.0.1", "::1"]))

# Processes that share the tests share the processor too.
if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
    os.environ.setdefault("ARGOT_THREADS", "1")
# PyTorch's threads spin while they wait for each other, which with the tests' tiny models took most of the time.
os.environ.setdefault("MKL_NUM_THREADS", "1")

# Hundreds of knowledge bases are opened and closed in one process. What each frees would stay in the heaps of threads.
bound_arenas()
share_sessions()

# Where the tests run in the background, Ctrl+C is ignored, and would be by every process they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only tests that need no process, server, browser or model")
    parser.addoption("--why", action="store_true", help="with --quick: list each test that is left out, and its reason")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        from quick_lane import QuickLane

        config.pluginmanager.register(QuickLane(config.getoption("--why")), "quick_lane")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without looking for garbage, of which there is none. Later searches leave out what was made here,
    which are millions of objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a parameter of bytes by its argument. They may hold a time, and all workers must list the same tests."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the rest in the order it is in."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))
    for item in items:
        retried = item.get_closest_marker("retried")
        if retried is not None and not (retried.args and str(retried.args[0]).strip()):
            raise pytest.UsageError(f"{item.nodeid}: say why it is retried: @pytest.mark.retried('REASON')")
        if retried is not None or any(item.get_closest_marker(name) for name in RETRY_REASONS):
            item.add_marker(pytest.mark.flaky(retries=1))


def pytest_runtest_setup(item: pytest.Item) -> None:
    # What pytest removes a test's folder by is written after its first try alone: without it a second one that passes
    # would be an error all the same.
    item.stash.setdefault(tmppath_result_key, {})


_GROWTH_PAGES = 300 * 2**20 // os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")
_least_pages = [0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect garbage once the process has grown by 300 MB. A closed knowledge base is garbage in cycles: a few small
    objects to Python's collector, which does not see the models that they hold, and waits.
    """
    if not _STATM.exists():  # Linux alone has it
        return
    pages = _count_pages()
    if not _least_pages[0] or pages > _least_pages[0] + _GROWTH_PAGES:
        gc.collect()
        release_memory()
        _least_pages[0] = _count_pages()


def _count_pages() -> int:
    return int(_STATM.read_text(encoding="ascii").split()[1])


@pytest.fixture(scope="module", autouse=True)
def _memory_given_back() -> Iterator[None]:
    yield
    _forget_endpoints()
    release_memory()


def _forget_endpoints() -> None:
    # FastAPI remembers the latest endpoints that it has examined: through them whole applications, with all their
    # validators, would outlive the tests that built them.
    models = sys.modules.get("fastapi.dependencies.models")
    for remembered in vars(models).values() if models else ():
        if hasattr(remembered, "cache_clear"):
            remembered.cache_clear()


@pytest.fixture
def listener() -> Iterator[Any]:
    """A `network_listener.Listener`: of whatever must not be reached."""
    from network_listener import listening

    with listening() as made:
        yield made


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "kb")


@pytest.fixture
def scripted_model() -> Iterator[Any]:
    """A `ScriptedServer` (scripted_server.py), started; nothing is remembered of servers of other tests."""
    from scripted_server import ScriptedServer

    from argot.tools.llm.model_server import forget_servers

    forget_servers()
    server = ScriptedServer().start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def shared_model() -> Iterator[Any]:
    """A `ScriptedServer` for a service that the tests of a module share; `reset()` it before each."""
    from scripted_server import ScriptedServer

    server = ScriptedServer().start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium. While it is open, an event loop of Playwright's runs in the tests' own thread: what runs
    one itself belongs in another thread or process (`serving.argot`).
    """
    from serving import CHROMIUM, PATIENCE

    if CHROMIUM is None:
        message = "no chromium found: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=1000 * PATIENCE)
        yield started
        started.close()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Any]:
    """A `PostgresqlServer` (postgresql_server.py), running; each test makes a database of its own on it."""
    from postgresql_server import MISSING, programs, running

    if programs() is None:
        pytest.fail(MISSING) if "CI" in os.environ else pytest.skip(MISSING)
    # Not in pytest's folder, which is root's alone, and into which the user that PostgreSQL runs as could not look.
    with tempfile.TemporaryDirectory(prefix="argot-postgresql-") as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "server") as server:
            yield server


@pytest.fixture
def postgresql_url(postgresql_server: Any) -> Iterator[str]:
    """The address of an empty database."""
    with postgresql_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Where stores are kept, on each engine: `Stores` of argot/databases.py."""
    if request.param == "sqlite":
        from argot.sqlite_database import SqliteStores

        yield SqliteStores(tmp_path)
        return
    from argot.postgresql.stores import PostgresqlStores

    # A schema of its own, as knowledge bases have that share a database: a fresh database takes longer.
    server = request.getfixturevalue("postgresql_server")
    opened = PostgresqlStores(server.url("postgres"), f"t{secrets.token_hex(8)}")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the small knowledge base; copy it, never open it. Processes that share the tests share it: the
    first makes it, and with it the exported embedder and the reader. At the end of the tests, a file that an opened
    base leaves in its folder is an error.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    made, home = folder / "tiny-made", folder / "tiny" / "kb"
    with (folder / "tiny-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(home, ignore_errors=True)
            make_tiny(home)
            made.touch()
    found = {path.name for path in home.iterdir()}
    yield home
    assert {path.name for path in home.iterdir()} == found, "a test opened the shared base instead of a copy"


@pytest.fixture
def glossary(tmp_path: Path) -> Iterator[Any]:
    """An empty glossary, in `glossary.db` of the test's folder."""
    from argot.jargon_db import Glossary

    opened = Glossary.open(tmp_path / "glossary.db")
    yield opened
    opened.close()


@pytest.fixture
def tiny_kb(tiny_home: Path, tmp_path: Path) -> Iterator[TinyBase]:
    base = open_base(shutil.copytree(tiny_home, tmp_path / "kb"))
    yield base
    close_base(base)


@pytest.fixture
def empty_kb(tmp_path: Path) -> Iterator[TinyBase]:
    base = open_base(tmp_path / "kb")
    yield base
    close_base(base)
