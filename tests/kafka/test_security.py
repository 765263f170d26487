"""Logins and TLS from settings alone, and one clear line where a broker will not have us."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.adapters.kafka.connection import Connection
from pipeline.adapters.kafka.listener import KafkaListener
from pipeline.adapters.kafka.publisher import KafkaPublisher
from pipeline.adapters.kafka.topics import create_topics
from pipeline.errors import Outage, SettingsInvalid
from pipeline.processing import Record
from schemas.topics import TOPICS
from schemas.wire import Wire
from tests.conftest import Names
from tests.kafka.clients import QUESTION, connection_to, work
from tests.kafka.cluster import LISTENERS, STRANGER, Cluster, Listener


async def publish(connection: Connection) -> None:
    publisher = KafkaPublisher(connection)
    try:
        await publisher.start()
        await publisher.publish(QUESTION, {})
    finally:
        await publisher.stop()


async def listen(connection: Connection) -> None:
    listener = KafkaListener(connection, ("questions",), lambda event: None, print)
    await listener.start()
    await listener.stop()


USES: dict[str, Callable[[Connection], Awaitable[object]]] = {
    "create_topics": lambda connection: create_topics(connection, 1, 1, 1),
    "publish": publish,
    "listen": listen,
    "work": lambda connection: work(connection, lambda record: None, asyncio.Event()),
}
"""Each way in which we use Kafka."""


@pytest.mark.parametrize("listener", LISTENERS)
async def test_settings_are_all_it_takes(kafka: Cluster, names: Names, listener: Listener) -> None:
    """Topics are made, and an event is published, heard and processed, over every kind of listener."""
    connection = connection_to(kafka, listener, names)
    heard: list[Wire] = []
    processed: list[Record] = []
    enough = asyncio.Event()

    def done(record: Record) -> None:
        processed.append(record)
        enough.set()

    assert len(await create_topics(connection, 1, 1, 1)) == len(TOPICS)
    ears = KafkaListener(connection, ("questions",), heard.append, print)
    await ears.start()
    try:
        await publish(connection)
        async with asyncio.timeout(30):
            await work(connection, done, enough)
    finally:
        await ears.stop()
    assert heard == [QUESTION]
    assert [record.value for record in processed] == [QUESTION.to_json()]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("listener", "wrong", "named"),
    [
        ("SASL_PLAINTEXT", {"sasl_password": "wrong"}, "SASL_USERNAME and ROLESTREAM_KAFKA__SASL_PASSWORD"),
        ("SASL_SSL", {"sasl_username": "nobody"}, "SASL_USERNAME and ROLESTREAM_KAFKA__SASL_PASSWORD"),
        ("SASL_SSL", {"sasl_mechanism": "PLAIN"}, "SASL_MECHANISM"),
        ("SASL_SSL", {"ssl_ca_file": None}, "SSL_CA_FILE"),
        ("SSL", {"ssl_cert_file": None, "ssl_key_file": None}, "SSL_CERT_FILE and ROLESTREAM_KAFKA__SSL_KEY_FILE"),
    ],
)
async def test_a_refusal_names_the_setting(
    *,
    kafka: Cluster,
    names: Names,
    caplog: pytest.LogCaptureFixture,
    listener: Listener,
    wrong: dict[str, Any],
    named: str,
    use: str,
) -> None:
    """A wrong setting ends every use of Kafka with an error that names it, and with no line of a library's."""
    with pytest.raises(SettingsInvalid, match=f"check ROLESTREAM_KAFKA__{named}"):
        async with asyncio.timeout(20):
            await USES[use](connection_to(kafka, listener, names, **wrong))
    assert [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_a_login_where_none_is_wanted_names_the_setting(kafka: Cluster, names: Names) -> None:
    """Logging in at a listener without logins is refused by the broker, and said."""
    connection = connection_to(kafka, "SASL_PLAINTEXT", names, brokers=kafka.bootstrap("PLAINTEXT"))
    with pytest.raises(SettingsInvalid, match="wants no login: check ROLESTREAM_KAFKA__SECURITY_PROTOCOL"):
        await connection.check()


@pytest.mark.parametrize(
    ("protocol", "at"), [("PLAINTEXT", "SASL_PLAINTEXT"), ("PLAINTEXT", "SSL"), ("SASL_SSL", "SASL_PLAINTEXT")]
)
async def test_a_broker_that_hangs_up_is_an_outage_with_a_hint(
    kafka: Cluster, names: Names, protocol: Listener, at: Listener
) -> None:
    """The wrong protocol looks like a broker that shuts down: it is waited out, but the setting is named."""
    connection = connection_to(kafka, protocol, names, brokers=kafka.bootstrap(at))
    with pytest.raises(Outage, match="if it runs, check ROLESTREAM_KAFKA__SECURITY_PROTOCOL"):
        await connection.check()


@pytest.mark.parametrize("use", ["create_topics", "publish"])
async def test_a_user_without_rights_is_told_so(kafka: Cluster, names: Names, use: str) -> None:
    """A login that may neither create nor write topics is a matter of settings, and not waited out."""
    if use == "publish":
        await create_topics(connection_to(kafka, "SASL_SSL", names), 1, 1, 1)
    stranger = connection_to(kafka, "SASL_SSL", names, **kafka.settings("SASL_SSL", user=STRANGER))
    with pytest.raises(SettingsInvalid, match=r"TopicAuthorizationFailedError.*: check its ACLs"):
        await USES[use](stranger)


@pytest.mark.parametrize(("right", "missing"), [("Read", "Group"), ("Describe", "Topic")])
async def test_a_worker_without_rights_is_told_so(kafka: Cluster, names: Names, right: str, missing: str) -> None:
    """A worker that may not join its group or read its topic ends and says so; Faust alone waits for ever."""
    await create_topics(connection_to(kafka, "SASL_SSL", names), 1, 1, 1)
    await asyncio.to_thread(kafka.allow, STRANGER, "topic", names.topic_prefix, right)
    if missing == "Topic":
        await asyncio.to_thread(kafka.allow, STRANGER, "group", names.topic_prefix)
    stranger = connection_to(kafka, "SASL_SSL", names, **kafka.settings("SASL_SSL", user=STRANGER))
    with pytest.raises(SettingsInvalid, match=f"{missing}AuthorizationFailedError.*: check its ACLs"):
        async with asyncio.timeout(30):
            await USES["work"](stranger)


@pytest.mark.parametrize("command", [("topics", "create"), ("worker",), ("ask", "Hi", "--user=u", "--conversation=c")])
async def test_a_wrong_password_is_one_line(kafka: Cluster, command: tuple[str, ...]) -> None:
    """The command line ends at once, says once what to check, and nothing else."""
    settings = kafka.settings("SASL_SSL") | {"sasl_password": "wrong"}
    variables = {f"ROLESTREAM_KAFKA__{name.upper()}": str(value) for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pipeline.cli", *command),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | variables,
        cwd=Path(__file__).parents[2],
    )
    async with asyncio.timeout(30):
        said, complained = await process.communicate()
    assert (process.returncode, said) == (2, b"")
    assert complained.decode() == (
        f"rolestream: Kafka at {kafka.bootstrap('SASL_SSL')} refuses the login:"
        " check ROLESTREAM_KAFKA__SASL_USERNAME and ROLESTREAM_KAFKA__SASL_PASSWORD\n"
    )
