"""How to reach the brokers, in the words of aiokafka and of Faust."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import faust
from aiokafka.conn import AIOKafkaConnection, collect_hosts
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
)
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.metadata import MetadataRequest

from pipeline.errors import Outage, SettingsInvalid

_NOT_ALLOWED = "allows our user too little, {}: check its ACLs, or ROLESTREAM_KAFKA__SASL_USERNAME"
#: What a broker may have against us, or we against it, that no waiting would mend; and the settings to look at.
_REFUSALS: dict[type[BaseException], str] = {
    SaslAuthenticationFailed: (
        "refuses the login: check ROLESTREAM_KAFKA__SASL_USERNAME and ROLESTREAM_KAFKA__SASL_PASSWORD"
    ),
    UnsupportedSaslMechanismError: "does not know this kind of login: check ROLESTREAM_KAFKA__SASL_MECHANISM",
    IllegalSaslStateError: "wants no login: check ROLESTREAM_KAFKA__SECURITY_PROTOCOL",
    TopicAuthorizationFailedError: _NOT_ALLOWED,
    GroupAuthorizationFailedError: _NOT_ALLOWED,
    ClusterAuthorizationFailedError: _NOT_ALLOWED,
    ssl.SSLCertVerificationError: (
        "is not trusted, {0.verify_message}: check ROLESTREAM_KAFKA__SSL_CA_FILE and ROLESTREAM_KAFKA__BROKERS"
    ),
}
_BAD_CERTIFICATE = "refuses our certificate: check ROLESTREAM_KAFKA__SSL_CERT_FILE and ROLESTREAM_KAFKA__SSL_KEY_FILE"
#: In OpenSSL's names of the alerts by which a broker says so.
_ABOUT_CERTIFICATES = ("CERTIFICATE", "UNKNOWN_CA")
_KNOCK_SECONDS = 5


@dataclass(frozen=True)
class Connection:
    """Everything that a Kafka client of ours needs to know; passwords stay out of its repr."""

    brokers: str
    prefix: str
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str = "SCRAM-SHA-512"
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    ssl_ca_file: str | None = None
    ssl_cert_file: str | None = None
    ssl_key_file: str | None = None
    session_timeout: float = 45
    fetch_max_wait_ms: int = 500

    @property
    def servers(self) -> list[str]:
        return [broker.strip() for broker in self.brokers.split(",") if broker.strip()]

    def ssl_context(self) -> ssl.SSLContext | None:
        """The TLS settings; raises SettingsInvalid when a file cannot be read."""
        if "SSL" not in self.security_protocol:
            return None
        try:
            context: ssl.SSLContext = create_ssl_context(
                cafile=self.ssl_ca_file, certfile=self.ssl_cert_file, keyfile=self.ssl_key_file
            )
        except OSError as exc:
            raise SettingsInvalid(f"ROLESTREAM_KAFKA__SSL_…_FILE: {exc}") from exc
        return context

    def for_aiokafka(self) -> dict[str, Any]:
        """Keyword arguments that every aiokafka client takes."""
        return {"bootstrap_servers": self.servers, **self._security()}

    def _security(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {"security_protocol": self.security_protocol, "ssl_context": self.ssl_context()}
        if self.security_protocol.startswith("SASL"):
            arguments |= {
                "sasl_mechanism": self.sasl_mechanism,
                "sasl_plain_username": self.sasl_username,
                "sasl_plain_password": self.sasl_password,
            }
        return arguments

    def for_faust(self) -> dict[str, Any]:
        """Keyword arguments for a Faust app."""
        arguments: dict[str, Any] = {"broker": [f"kafka://{server}" for server in self.servers]}
        context = self.ssl_context()
        if self.security_protocol.startswith("SASL"):
            arguments["broker_credentials"] = faust.SASLCredentials(
                username=self.sasl_username,
                password=self.sasl_password,
                mechanism=self.sasl_mechanism,
                ssl_context=context,
            )
        elif context is not None:
            arguments["broker_credentials"] = faust.SSLCredentials(context)
        return arguments

    async def check(self) -> None:
        """Knock at the brokers; raises SettingsInvalid when one refuses us, and Outage when none answers.

        No client tells: aiokafka logs why a connection failed, raises something else, and tries again.
        """
        failure: Exception = OSError("none is named")
        for host, port, _ in collect_hosts(self.servers):
            try:
                await self._knock(host, port)
            except (OSError, KafkaError) as exc:
                if reason := refusal(exc):
                    raise SettingsInvalid(f"Kafka at {host}:{port} {reason}") from exc
                failure = exc
            else:
                return
        raise Outage(f"no broker at {self.brokers} answers: {_no_answer(failure)}") from failure

    async def _knock(self, host: str, port: int) -> None:
        connection = AIOKafkaConnection(host, port, request_timeout_ms=_KNOCK_SECONDS * 1000, **self._security())
        try:
            await connection.connect()
            # A broker that wants a login lets others connect, and hangs up on their first request.
            await connection.send(MetadataRequest([]))
        finally:
            closed = connection.close()
            if connection._protocol is not None:  # else it was never open, and nothing tells that it is closed
                await asyncio.wait([closed], timeout=_KNOCK_SECONDS)

    @asynccontextmanager
    async def explained(self) -> AsyncIterator[None]:
        """Around a client's work: its failure becomes SettingsInvalid where no waiting would mend it, else Outage."""
        try:
            yield
        except KafkaError as exc:
            if reason := refusal(exc):
                raise SettingsInvalid(f"Kafka at {self.brokers} {reason}") from exc
            await self.check()
            raise Outage(f"Kafka at {self.brokers}: {exc}") from exc


def refusal(exc: BaseException) -> str | None:
    """What stands in the way and the settings to look at; None where it may pass by itself."""
    reason = _REFUSALS.get(type(exc))
    if type(exc) is ssl.SSLError and any(word in (exc.reason or "") for word in _ABOUT_CERTIFICATES):
        reason = _BAD_CERTIFICATE
    if reason:
        return reason.format(exc)
    return refusal(exc.__cause__) if exc.__cause__ else None


def _no_answer(exc: BaseException) -> str:
    """A broker that hangs up may be on its way down, and so this is no refusal; but it may also be the wrong port."""
    hung_up = not isinstance(exc, OSError) or isinstance(exc, ConnectionResetError)
    hint = "; if it runs, check ROLESTREAM_KAFKA__SECURITY_PROTOCOL" if hung_up else ""
    return f"{str(exc) or type(exc).__name__}{hint}"
