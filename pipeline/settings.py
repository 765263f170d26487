"""Every setting, from ROLESTREAM_… environment variables and `.env`; nothing else reads the environment."""

import os
from ipaddress import ip_address
from typing import Annotated, Literal, Self

from dotenv import dotenv_values
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from pipeline.errors import SettingsInvalid
from schemas.wire import Identifier

_PREFIX = "ROLESTREAM_"
_DOTENV = ".env"
_BROKER = r"(\[[0-9a-fA-F:]+\]|[^\s,:/\[\]]+)(:[0-9]{1,5})?"
_MASKED_KIND = "(phone|email|card|id|address)"
_ORIGIN = r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?"
_BROKERS = rf"^\s*{_BROKER}(\s*,\s*{_BROKER})*\s*$"


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class KafkaSettings(_Group):
    brokers: str = Field(
        "127.0.0.1:9092", pattern=_BROKERS, description="Bootstrap servers, host:port, separated by commas."
    )
    topic_prefix: str = Field("rolestream.", description="Comes before each topic and consumer group name.")
    partitions: int = Field(4, ge=1, description="Partitions of each topic that `topics create` makes.")
    replication: int = Field(1, ge=1, description="Replicas of each topic that `topics create` makes.")
    retention_hours: float = Field(
        168, gt=0, description="How long Kafka keeps the records of the topics that `topics create` makes."
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="How to speak to the brokers."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512", description="The SASL mechanism, where the protocol is SASL."
    )
    sasl_username: str | None = Field(None, description="The SASL user.")
    sasl_password: SecretStr | None = Field(None, description="The SASL password.")
    ssl_ca_file: str | None = Field(None, description="PEM file with the authority that signs the brokers.")
    ssl_cert_file: str | None = Field(None, description="PEM file with our certificate, for mutual TLS.")
    ssl_key_file: str | None = Field(None, description="PEM file with our key, for mutual TLS.")
    session_timeout: float = Field(45, ge=1, description="Seconds until a silent worker loses its partitions.")
    fetch_max_wait_ms: int = Field(
        500,
        ge=1,
        description="How long a broker may hold a fetch that finds nothing, in milliseconds; 100 or more while idle.",
    )

    @field_validator("brokers")
    @classmethod
    def _ports_exist(cls, brokers: str) -> str:
        for broker in brokers.split(","):
            port = broker.rpartition(":")[2].strip()
            if port.isdigit() and not 0 < int(port) < 65536:
                raise ValueError(f"{broker.strip()}: there is no port {port}")
        return brokers

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.security_protocol.startswith("SASL") and not (self.sasl_username and self.sasl_password):
            raise ValueError(f"{self.security_protocol} needs SASL_USERNAME and SASL_PASSWORD")
        if bool(self.ssl_cert_file) != bool(self.ssl_key_file):
            raise ValueError("SSL_CERT_FILE and SSL_KEY_FILE go together")
        return self


class MongoSettings(_Group):
    url: SecretStr = Field(SecretStr("mongodb://127.0.0.1:27017"), description="The MongoDB connection string.")
    database: str = Field(
        "rolestream", pattern=r"^[^/\\. \"$*<>:|?\x00]{1,63}$", description="The database that holds everything."
    )

    @field_validator("url")
    @classmethod
    def _names_a_server(cls, url: SecretStr) -> SecretStr:
        if not url.get_secret_value().startswith(("mongodb://", "mongodb+srv://")):
            raise ValueError("it starts with mongodb:// or mongodb+srv://")
        return url


class HealthSettings(_Group):
    host: str = Field("127.0.0.1", description="Where /live, /ready and /metrics are served; 0.0.0.0 in a container.")
    port: int | None = Field(None, ge=0, le=65535, description="Their port; they are not served where it is unset.")
    stall_after: float = Field(
        600, gt=0, description="Seconds without progress on records in work after which a worker is not live."
    )


class ApiKey(_Group):
    """One of API__KEYS."""

    key: SecretStr
    scopes: list[Literal["read", "write", "admin"]] = Field(min_length=1)
    users: list[Annotated[str, Identifier]] | None = Field(None, min_length=1)

    @field_validator("key")
    @classmethod
    def _hard_to_guess(cls, key: SecretStr) -> SecretStr:
        secret = key.get_secret_value()
        if len(secret) < 16 or not all("!" <= letter <= "~" for letter in secret):
            raise ValueError("a key is 16 or more printable ASCII characters without blanks")
        return key


_API_KEYS = TypeAdapter(list[ApiKey])


class ApiSettings(_Group):
    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Where `rolestream api` and `dev` serve the HTTP API and the page; elsewhere only with KEYS.",
    )
    port: int = Field(8080, ge=0, le=65535, description="Their port; 0 takes one that is free.")
    keys: SecretStr | None = Field(
        None,
        description='Who may use them: a JSON list of {"key", "scopes" of `read`, `write` and `admin`, "users"}; '
        "without users a key is for all.",
    )
    cors_origins: str | None = Field(
        None,
        pattern=rf"^{_ORIGIN}(,{_ORIGIN})*$",
        description="Origins whose pages may use the API, such as https://desk.example.org, separated by commas.",
    )
    requests_a_minute: int = Field(600, ge=1, description="At most so many requests a minute with one key.")

    @field_validator("host")
    @classmethod
    def _without_brackets(cls, host: str) -> str:
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @field_validator("keys")
    @classmethod
    def _each_is_a_key(cls, keys: SecretStr | None) -> SecretStr | None:
        try:
            secrets = [granted.key.get_secret_value() for granted in _granted(keys)]
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_input=False)
            wrong = (f"{'.'.join(map(str, error['loc'])) or 'all of it'}: {_plain(error['msg'])}" for error in errors)
            raise ValueError("; ".join(wrong)) from None
        if keys and not secrets:
            raise ValueError("it holds no key: leave it out to serve this machine alone")
        if len(set(secrets)) < len(secrets):
            raise ValueError("a key is there twice")
        return keys

    @model_validator(mode="after")
    def _closed_to_others_without_keys(self) -> Self:
        if not self.granted and not _is_loopback(self.host):
            raise ValueError(f"HOST {self.host} can be reached from elsewhere: set KEYS, or take 127.0.0.1")
        return self

    @property
    def granted(self) -> list[ApiKey]:
        return _granted(self.keys)

    @property
    def origins(self) -> list[str]:
        return self.cors_origins.split(",") if self.cors_origins else []


def _plain(message: str) -> str:
    """A message of pydantic's without its way of saying that the words are ours."""
    return message.removeprefix("Value error, ")


def _granted(keys: SecretStr | None) -> list[ApiKey]:
    return _API_KEYS.validate_json(keys.get_secret_value()) if keys else []


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach what is served there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class ModelSettings(_Group):
    base_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s/]+",
        description="An OpenAI-compatible server, up to and with /v1; OPENAI_BASE_URL serves where it is unset.",
    )
    api_key: SecretStr | None = Field(None, description="Its key; OPENAI_API_KEY serves where it is unset.")
    name: str = Field("gpt-4o-mini", description="The model's name.")
    extraction_name: str | None = Field(None, description="Another model for extraction.")
    answer_name: str | None = Field(None, description="Another model for answers and reports.")
    timeout: float = Field(60, gt=0, description="Seconds for one model call, from its start.")
    retries: int = Field(3, ge=0, description="How often a call that failed for the moment is tried again.")
    requests_a_minute: float | None = Field(None, gt=0, description="At most so many calls a minute by one worker.")
    tokens_a_minute: float | None = Field(None, gt=0, description="At most so many tokens a minute by one worker.")


class MaskingSettings(_Group):
    kinds: str = Field(
        "phone,email,card,id,address",
        pattern=rf"^(none|{_MASKED_KIND}(,{_MASKED_KIND})*)$",
        description="Personal data masked before it is stored or sent to a model, separated by commas; or none.",
    )
    words: str | None = Field(None, description="Words and phrases of your own to mask as well, separated by commas.")
    raw_log: bool = Field(
        False, description="true: each message also keeps the text as it was sent, which nothing reads."
    )


class RoleMemorySettings(_Group):
    guide_scope: Literal["none", "once", "every"] = Field(
        "every", description="Which answers are guided: none, the first of a conversation, or every one."
    )
    update_similarity_threshold: float = Field(
        0.8, ge=0, le=1, description="From this similarity on two extractions agree."
    )
    history_user_messages_num: int = Field(
        10, ge=0, le=100, description="How many earlier questions an extraction reads."
    )
    model_helps_similarity: bool = Field(
        False,
        description="true: where the word lists cannot tell whether two roles are one, the model is asked, "
        "at most once a turn.",
    )


class ConversationMemorySettings(_Group):
    max_messages: int = Field(
        100,
        ge=1,
        le=1000,
        description="How many of the last messages an answer's model gets; never more than 6. The log keeps all.",
    )
    idle_after: float = Field(
        30, gt=0, le=525_600, description="Minutes without a message after which a conversation's context is over."
    )


class UserMemorySettings(_Group):
    enabled: bool = Field(
        True,
        description="false: nothing is learnt or used beyond a conversation's role; what commands set is still kept.",
    )
    stale_after: float = Field(
        90, gt=0, le=36_500, description="Days unconfirmed after which a feature is looked at again."
    )
    forgetting_key: SecretStr = Field(
        SecretStr("rolestream"),
        min_length=1,
        description="The key of the hashes by which forgotten users are known; set your own.",
    )


class ShortTermMemorySettings(_Group):
    enabled: bool = Field(True, description="false: nothing is extracted or tracked, answers are not guided.")
    conversation_memory: ConversationMemorySettings = ConversationMemorySettings()
    user_role_memory: RoleMemorySettings = RoleMemorySettings()


class Settings(BaseSettings):
    """The settings of one worker or client; `ROLESTREAM_KAFKA__BROKERS` sets `kafka.brokers`."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        env_file=_DOTENV,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    kafka: KafkaSettings = KafkaSettings()
    mongo: MongoSettings = MongoSettings()
    model: ModelSettings = ModelSettings()
    masking: MaskingSettings = MaskingSettings()
    short_term_memory: ShortTermMemorySettings = ShortTermMemorySettings()
    user_memory: UserMemorySettings = UserMemorySettings()
    health: HealthSettings = HealthSettings()
    api: ApiSettings = ApiSettings()
    guidance: Literal["fresh", "latest"] = Field(
        "fresh", description="fresh: an answer waits for what its question taught; latest: it uses what was known."
    )
    max_running: int = Field(
        256, ge=1, description="Model calls at once in one worker, all stages together; one stage gets three quarters."
    )
    max_unacked: int = Field(
        4096, ge=1, description="Records that each processor holds unacknowledged; about 16 times MAX_RUNNING."
    )
    drain_timeout: float = Field(20, ge=0, description="Seconds that running work gets at a stop or rebalance.")
    otel_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^\s/]+",
        description="An OpenTelemetry collector for spans, such as http://127.0.0.1:4318; needs the extra `otel`.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="The least level logged.")
    openai_base_url: str | None = Field(None, validation_alias=AliasChoices("OPENAI_BASE_URL"), exclude=True)
    openai_api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("OPENAI_API_KEY"), exclude=True)

    @property
    def model_base_url(self) -> str | None:
        return self.model.base_url or self.openai_base_url

    @property
    def model_api_key(self) -> SecretStr | None:
        return self.model.api_key or self.openai_api_key


def _unknown_names() -> list[str]:
    """Variables with our prefix that set nothing: a misspelt setting must not pass for its default."""
    known = {_PREFIX + name.upper() for name, field in Settings.model_fields.items() if not field.exclude}
    names = {*os.environ, *dotenv_values(_DOTENV)}
    return sorted(name for name in names if name.startswith(_PREFIX) and name.split("__")[0] not in known)


def load_settings(**overrides: object) -> Settings:
    """Read the settings; raises SettingsInvalid naming each variable that is wrong."""
    try:
        if unknown := _unknown_names():
            raise SettingsInvalid(f"no such setting: {', '.join(unknown)}; `rolestream config` lists them")
        return Settings(**overrides)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as exc:
        wrong = "; ".join(
            f"{_PREFIX}{'__'.join(str(part).upper() for part in error['loc'])}: "
            + ("no such setting" if error["type"] == "extra_forbidden" else _plain(error["msg"]))
            for error in exc.errors(include_url=False, include_input=False)
        )
        raise SettingsInvalid(f"wrong setting: {wrong}") from exc
    except (SettingsError, UnicodeDecodeError) as exc:
        raise SettingsInvalid(f"the environment or {_DOTENV} cannot be read: {exc}") from exc
