"""A cluster of Apache Kafka: one node or several on free loopback ports, each with every kind of listener."""

import base64
import random
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from pipeline.errors import Unavailable
from tests.kafka.certificates import Authority
from tests.kafka.distribution import jars, java
from tests.kafka.node import SHORT_LIVED, Java, Node

Listener = Literal["PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL"]
LISTENERS: tuple[Listener, ...] = ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL")
CONTROLLER = "CONTROLLER"

#: A user who may do everything, and one who may log in and do nothing.
USER, STRANGER = "rolestream", "stranger"


@dataclass(frozen=True)
class Cluster:
    """Running nodes. All methods block: call them from a coroutine through `asyncio.to_thread`.

    The SSL listener wants a certificate of the client, SASL_SSL none.
    """

    nodes: Sequence[Node]
    authority: Path
    """PEM file with the authority that signs the brokers' certificate."""
    client: Path
    """PEM file with a client's certificate; its key is beside it on `.key`."""
    passwords: Mapping[str, str]
    java: Java

    @property
    def brokers(self) -> str:
        """The bootstrap servers of the plain listener."""
        return self.bootstrap("PLAINTEXT")

    def bootstrap(self, listener: Listener) -> str:
        return ",".join(node.address(listener) for node in self.nodes)

    def settings(self, listener: Listener, *, user: str = USER) -> dict[str, Any]:
        """The fields of KafkaSettings that reach a listener."""
        fields: dict[str, Any] = {"brokers": self.bootstrap(listener), "security_protocol": listener}
        if listener.startswith("SASL"):
            fields |= {"sasl_username": user, "sasl_password": self.passwords[user]}
        if "SSL" in listener:
            fields["ssl_ca_file"] = str(self.authority)
        if listener == "SSL":
            fields |= {"ssl_cert_file": str(self.client), "ssl_key_file": str(self.client.with_suffix(".key"))}
        return fields

    def start(self) -> None:
        """Start every node that does not run, on the ports and the data that it had; raises Unavailable."""
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            node.wait_until_started()

    def stop(self) -> None:
        """Stop every node, keeping its data."""
        for node in self.nodes:
            node.ask_to_stop()
        for node in self.nodes:
            node.wait_until_stopped()

    def kill(self) -> None:
        """End every node as by `kill -9`."""
        for node in self.nodes:
            node.kill()

    def tool(self, main: str, *arguments: str) -> str:
        """Run a command line tool of Kafka's, named by its class, and return what it prints; raises Unavailable."""
        command = self.java.command(main, "--bootstrap-server", self.brokers, *arguments, options=SHORT_LIVED)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"{main} failed: {done.stdout}")
        return done.stdout

    def allow(self, user: str, resource: Literal["topic", "group"], prefix: str, operation: str = "All") -> None:
        """Let a user do something with the topics or groups whose names begin so."""
        where = [f"--{resource}", prefix, "--resource-pattern-type", "prefixed"]
        acl = ["--allow-principal", f"User:{user}", "--operation", operation, *where]
        self.tool("org.apache.kafka.tools.AclCommand", "--add", *acl)


@contextmanager
def kafka_cluster(nodes: int = 1) -> Iterator[Cluster]:
    """A running cluster, thrown away at the end and never outliving this process; raises Unavailable."""
    program = Java(java(), jars())
    home = Path(tempfile.mkdtemp(prefix="rolestream-kafka-"))
    cluster: Cluster | None = None
    try:
        cluster = _lay_out(home, program, nodes)
        cluster.start()
        yield cluster
    finally:
        for node in cluster.nodes if cluster else ():
            node.discard()
        shutil.rmtree(home, ignore_errors=True)


def _lay_out(home: Path, program: Java, size: int) -> Cluster:
    """Certificates, users and formatted storage."""
    authority = Authority(home / "tls")
    authority.sign("broker", "broker")
    cluster = Cluster(
        nodes=[Node(number, ports, home, program) for number, ports in enumerate(_free_ports(size), 1)],
        authority=authority.certificate,
        client=authority.sign("client", "client"),
        passwords={user: secrets.token_hex(8) for user in (USER, STRANGER)},
        java=program,
    )
    shared = _properties(cluster.nodes, home / "tls")
    for node in cluster.nodes:
        addresses = ",".join(f"{name}://127.0.0.1:{port}" for name, port in node.ports.items())
        node.configure({**shared, "listeners": addresses})
    random = uuid4().bytes
    # Without its first bit it begins with a letter: a leading dash would be taken for an option.
    cluster_id = base64.urlsafe_b64encode(bytes([random[0] & 0x7F]) + random[1:]).decode().rstrip("=")
    users = [f"SCRAM-SHA-512=[name={user},password={password}]" for user, password in cluster.passwords.items()]
    _finish([node.formatting(cluster_id, users) for node in cluster.nodes])
    return cluster


def _finish(runs: Sequence[subprocess.Popen[str]]) -> None:
    said = [run.communicate()[0] for run in runs]
    for run, output in zip(runs, said, strict=True):
        if run.returncode:
            raise Unavailable(f"Kafka's storage could not be formatted: {output}")


def _properties(nodes: Sequence[Node], tls: Path) -> dict[str, object]:
    """What all nodes share."""
    size = len(nodes)
    replication, in_sync = min(size, 3), 2 if size >= 3 else 1
    protocols = [*((listener, listener) for listener in LISTENERS), (CONTROLLER, "PLAINTEXT")]
    return {
        "process.roles": "broker,controller",
        "controller.quorum.voters": ",".join(f"{node.number}@{node.address(CONTROLLER)}" for node in nodes),
        "controller.listener.names": CONTROLLER,
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols),
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        **{
            f"listener.name.{listener.lower()}.scram-sha-512.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            )
            for listener in LISTENERS
            if listener.startswith("SASL")
        },
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": tls / "broker.both",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": tls / "authority.pem",
        "listener.name.ssl.ssl.client.auth": "required",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:ANONYMOUS;User:{USER};User:CN=client",
        "default.replication.factor": replication,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replication,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": replication,
        "transaction.state.log.min.isr": in_sync,
        "auto.create.topics.enable": "false",
        # Tests start, end and kill members all the time, and wait for none of it longer than they must.
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        # Else a killed node is waited for, and a new start of it refused, for 9 s.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 500,
        "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
    }


def _free_ports(nodes: int) -> list[dict[str, int]]:
    """A port for every listener of every node.

    Out of those that systems give to outgoing connections, one of which might take the port of a stopped node.
    """
    wanted = nodes * (len(LISTENERS) + 1)
    free: list[int] = []
    for port in random.sample(range(20_000, 32_000), 12_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            free.append(port)
        if len(free) == wanted:
            break
    each = iter(free)
    return [{listener: next(each) for listener in (*LISTENERS, CONTROLLER)} for _ in range(nodes)]
