"""Apache Kafka as the tests run it: it keeps what it took, outlives a node, and nothing of it is left behind."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from aiokafka.admin import NewPartitions

from pipeline.adapters.kafka.listener import KafkaListener
from pipeline.adapters.kafka.publisher import KafkaPublisher
from pipeline.adapters.kafka.topics import create_topics
from pipeline.errors import Unavailable
from tests.conftest import Names
from tests.kafka.clients import (
    QUESTION,
    administration,
    connection_to,
    consume,
    make_topic,
    produce,
    replicas_of,
    until,
    work,
)
from tests.kafka.cluster import Cluster
from tests.kafka.distribution import jars, java


async def test_what_is_produced_is_consumed(kafka: Cluster, names: Names) -> None:
    """One node takes records and gives them back in order."""
    await make_topic(kafka.brokers, names.unique)
    await produce(kafka.brokers, names.unique, [b"one", b"two"])
    assert await consume(kafka.brokers, names.unique, 2) == [b"one", b"two"]


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_restart_keeps_what_was_confirmed(kafka: Cluster, names: Names, end: str) -> None:
    """Stopped or killed and started again, a node has its ports and every confirmed record."""
    await make_topic(kafka.brokers, names.unique)
    await produce(kafka.brokers, names.unique, [b"before"])
    await asyncio.to_thread(getattr(kafka, end))
    assert not kafka.nodes[0].is_running
    await asyncio.to_thread(kafka.start)
    await produce(kafka.brokers, names.unique, [b"after"])
    assert await consume(kafka.brokers, names.unique, 2) == [b"before", b"after"]


async def test_a_frozen_node_answers_once_it_is_thawed(kafka: Cluster, names: Names) -> None:
    """SIGSTOP leaves the connection open and unanswered, SIGCONT lets the node go on where it stood."""
    connection = connection_to(kafka, "PLAINTEXT", names)
    kafka.nodes[0].freeze()
    try:
        asked = asyncio.create_task(connection.check())
        done, _ = await asyncio.wait({asked}, timeout=1)
        assert not done
    finally:
        kafka.nodes[0].thaw()
    await asked


async def test_three_nodes_outlive_one(three_nodes: Cluster, names: Names) -> None:
    """With three replicas, two in sync needed, the leader's `kill -9` loses nothing and stops nothing."""
    brokers, topic = three_nodes.brokers, names.unique
    await make_topic(brokers, topic, replicas=3)
    await produce(brokers, topic, [b"before"])
    leader, in_sync = await replicas_of(brokers, topic)
    assert in_sync == [1, 2, 3]
    killed = three_nodes.nodes[leader - 1]
    await asyncio.to_thread(killed.kill)
    await produce(brokers, topic, [b"meanwhile"])
    assert (await replicas_of(brokers, topic))[0] != leader
    assert await consume(brokers, topic, 2) == [b"before", b"meanwhile"]

    await asyncio.to_thread(killed.start)
    async with asyncio.timeout(30):
        while (await replicas_of(brokers, topic))[1] != [1, 2, 3]:
            await asyncio.sleep(0.1)


async def test_an_outage_is_waited_out(kafka: Cluster, names: Names, caplog: pytest.LogCaptureFixture) -> None:
    """While the broker is away our publisher waits and says so once; a login at a broker that starts is no refusal."""
    connection = connection_to(kafka, "SASL_PLAINTEXT", names)
    await make_topic(kafka.brokers, f"{names.topic_prefix}questions")
    await asyncio.to_thread(kafka.stop)
    publisher = KafkaPublisher(connection)
    starting = asyncio.create_task(publisher.start())
    try:
        await until(lambda: "Kafka is away" in caplog.text)
        await asyncio.to_thread(kafka.start)
        await starting
        await publisher.publish(QUESTION, {})
    finally:
        await publisher.stop()
    said = [record.getMessage() for record in caplog.records if record.name.startswith("pipeline")]
    assert [re.sub(", waiting.*", "", line) for line in said] == ["Kafka is away", "Kafka is back"]
    assert QUESTION.to_json() in await consume(kafka.brokers, f"{names.topic_prefix}questions", 1)


async def test_an_outage_is_said_once_when_nothing_is_published(
    kafka: Cluster, names: Names, caplog: pytest.LogCaptureFixture
) -> None:
    """An idle publisher notices that the broker goes and that it comes back, and says each once."""
    publisher = KafkaPublisher(connection_to(kafka, "PLAINTEXT", names))
    await publisher.start()
    try:
        await asyncio.to_thread(kafka.kill)
        await until(lambda: "Kafka is away" in caplog.text)
        await asyncio.to_thread(kafka.start)
        await until(lambda: "Kafka is back" in caplog.text)
    finally:
        await publisher.stop()
    said = [record.getMessage() for record in caplog.records if record.name.startswith("pipeline")]
    assert [re.sub(", waiting.*", "", line) for line in said] == ["Kafka is away", "Kafka is back"]


async def test_a_worker_outlives_its_broker(kafka: Cluster, names: Names) -> None:
    """A Faust worker that runs when its broker is killed goes on by itself once the broker is back."""
    connection = connection_to(kafka, "SASL_PLAINTEXT", names)
    await create_topics(connection, 1, 1, 1)
    processed: list[bytes | None] = []
    enough = asyncio.Event()
    worker = asyncio.create_task(work(connection, lambda record: processed.append(record.value), enough))
    topic = f"{names.topic_prefix}questions"
    await produce(kafka.brokers, topic, [b"before"])
    await until(lambda: b"before" in processed)
    await asyncio.to_thread(kafka.kill)
    await asyncio.to_thread(kafka.start)
    await produce(kafka.brokers, topic, [b"after"])
    await until(lambda: b"after" in processed)
    enough.set()
    await worker


async def test_a_topic_that_is_extended_is_heard_whole(kafka: Cluster, names: Names) -> None:
    """A listener learns of the new partition by itself, and misses nothing of the old one meanwhile."""
    heard: list[object] = []
    connection = connection_to(kafka, "PLAINTEXT", names)
    await create_topics(connection, 1, 1, 1)
    listener = KafkaListener(connection, ("questions",), heard.append, heard.append, extended_after=0.5)
    await listener.start()
    topic, asked = f"{names.topic_prefix}questions", [QUESTION.model_copy(update={"text": f"{n}?"}) for n in range(60)]
    try:
        async with administration(kafka.brokers) as client:
            await client.create_partitions({topic: NewPartitions(2)})
        for start in range(0, len(asked), 20):  # each time by a producer that may know of the new partition
            await produce(kafka.brokers, topic, [question.to_json() for question in asked[start : start + 20]])
        await until(lambda: len(heard) >= len(asked))
    finally:
        await listener.stop()
    assert sorted(map(str, heard)) == sorted(map(str, asked))


async def test_nothing_outlives_a_killed_process() -> None:
    """`kill -9` of the process that started a cluster ends its nodes and removes what they wrote."""
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.kafka"), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert holder.stdout is not None
    async with asyncio.timeout(60):
        lines = [await holder.stdout.readline() for _ in range(6)]
    assert re.fullmatch(rb"export ROLESTREAM_TEST_BROKER=127\.0\.0\.1:\d+\n", lines[0])
    home = Path(lines[-1].decode().split(" in ")[1].strip()).parent
    kafka = int((home / "node-1" / "pid").read_text())
    os.kill(kafka, 0)
    holder.kill()
    await holder.wait()
    await until(lambda: not home.exists())
    with pytest.raises(ProcessLookupError):
        os.kill(kafka, 0)


async def test_a_terminated_process_takes_its_cluster_with_it(tmp_path: Path) -> None:
    """SIGTERM in the middle of a start ends `python -m tests.kafka` in order, with nothing left behind."""
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.kafka"),
        stdout=asyncio.subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    await until(lambda: any(tmp_path.glob("*/node-1/pid")))
    holder.send_signal(signal.SIGTERM)
    assert await holder.wait() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_java_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java, or one too old, is an error that names the version and the package, never a skip."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="needs Java, and there is none: install Java 17 or newer"):
        java()
    _program(tmp_path / "java", """echo 'openjdk version "11.0.2" 2019-01-15' >&2""")
    with pytest.raises(Unavailable, match=r"too old for Apache Kafka .*: install Java 17 or newer"):
        java()
    _program(tmp_path / "java", """echo 'openjdk version "21.0.1" 2023-10-17' >&2""")
    assert java() == str(tmp_path / "java")


def test_a_machine_without_maven_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without Maven an empty cache is an error that says what to install."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="install Maven"):
        jars(tmp_path)


def test_a_failed_download_leaves_no_half_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What Maven says is in the error, and jars that it got before it failed are not taken for the whole."""
    (tmp_path / "bin").mkdir()
    folder = "for word; do case $word in -DoutputDirectory=*) mkdir -p ${word#*=}; >${word#*=}/some.jar;; esac; done"
    _program(tmp_path / "bin" / "mvn", f"{folder}; echo no network; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    with pytest.raises(Unavailable, match="no network"):
        jars(tmp_path / "cache")
    assert not list(tmp_path.glob("cache/**/*.jar"))
    _program(tmp_path / "bin" / "mvn", folder)
    assert [jar.name for jar in jars(tmp_path / "cache").iterdir()] == ["some.jar"]


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
