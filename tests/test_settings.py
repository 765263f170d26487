"""The settings: names, defaults, sources, clear errors, hidden secrets."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.errors import SettingsInvalid
from pipeline.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No `.env` of the developer's is read."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_defaults_are_the_published_ones() -> None:
    """The names and defaults of the published feature hold."""
    memory = load_settings().short_term_memory
    assert memory.enabled is True
    assert memory.conversation_memory.max_messages == 100
    assert memory.user_role_memory.guide_scope == "every"
    assert memory.user_role_memory.update_similarity_threshold == 0.8
    assert memory.user_role_memory.history_user_messages_num == 10


def test_nested_names_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two underscores go one level down."""
    monkeypatch.setenv("ROLESTREAM_SHORT_TERM_MEMORY__USER_ROLE_MEMORY__GUIDE_SCOPE", "once")
    monkeypatch.setenv("ROLESTREAM_KAFKA__BROKERS", "a:1,b:2")
    settings = load_settings()
    assert settings.short_term_memory.user_role_memory.guide_scope == "once"
    assert settings.kafka.brokers == "a:1,b:2"


def test_a_dotenv_file_is_read_and_the_environment_wins(an_empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.env` sets what the environment leaves open."""
    (an_empty_folder / ".env").write_text("ROLESTREAM_MAX_RUNNING=3\nROLESTREAM_MAX_UNACKED=9\nOTHER=x\n")
    monkeypatch.setenv("ROLESTREAM_MAX_RUNNING", "4")
    settings = load_settings()
    assert (settings.max_running, settings.max_unacked) == (4, 9)


def test_the_openai_names_serve_where_ours_are_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_BASE_URL and OPENAI_API_KEY are taken, and ours win over them."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://theirs/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "their-key")
    settings = load_settings()
    assert settings.model_base_url == "http://theirs/v1"
    assert settings.model_api_key is not None
    assert settings.model_api_key.get_secret_value() == "their-key"
    monkeypatch.setenv("ROLESTREAM_MODEL__BASE_URL", "http://ours/v1")
    assert load_settings().model_base_url == "http://ours/v1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_RUNNING", "0"),
        ("MAX_RUNNING", "many"),
        ("GUIDANCE", "stale"),
        ("KAFKA__SECURITY_PROTOCOL", "TELNET"),
        ("MONGO__DATABASE", "a.b"),
        ("SHORT_TERM_MEMORY__USER_ROLE_MEMORY__UPDATE_SIMILARITY_THRESHOLD", "1.5"),
        ("SHORT_TERM_MEMORY__USER_ROLE_MEMORY__GUIDE_SCOPE", "always"),
        ("API__PORT", "65536"),
        ("API__REQUESTS_A_MINUTE", "0"),
        ("KAFKA__BORKERS", "x:1"),
        ("MAX_RUNING", "3"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which variable is wrong, also where a nested name is misspelt."""
    monkeypatch.setenv(f"ROLESTREAM_{name}", value)
    with pytest.raises(SettingsInvalid, match=f"ROLESTREAM_{name}"):
        load_settings()


def test_a_misspelt_name_in_a_dotenv_file_is_named(an_empty_folder: Path) -> None:
    """A wrong name does not pass for the default, wherever it stands."""
    (an_empty_folder / ".env").write_text("ROLESTREAM_MAX_RUNING=3\n")
    with pytest.raises(SettingsInvalid, match="ROLESTREAM_MAX_RUNING"):
        load_settings()


def test_sasl_without_a_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol that needs credentials asks for them at the start."""
    monkeypatch.setenv("ROLESTREAM_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    with pytest.raises(SettingsInvalid, match="SASL_USERNAME and SASL_PASSWORD"):
        load_settings()


ADA = '{"key": "the-key-of-ada-1", "scopes": ["read", "write"], "users": ["ada"]}'


def test_api_keys_come_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key has its scopes, and users unless it is for all; nothing shows them."""
    monkeypatch.setenv("ROLESTREAM_API__KEYS", f'[{ADA}, {{"key": "the-key-of-all-1", "scopes": ["admin"]}}]')
    monkeypatch.setenv("ROLESTREAM_API__HOST", "0.0.0.0")
    settings = load_settings()
    ada, admin = settings.api.granted
    assert ada.key.get_secret_value() == "the-key-of-ada-1"
    assert (ada.scopes, ada.users, admin.scopes, admin.users) == (["read", "write"], ["ada"], ["admin"], None)
    assert "the-key-of" not in repr(settings) + repr(ada)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("the-key-of-ada-1", "all of it: Invalid JSON"),
        (ADA, "all of it: Input should be a valid array"),
        (f"[{ADA}, {ADA}]", "a key is there twice"),
        ("[]", "it holds no key"),
        ('[{"key": "the-key-of-ada", "scopes": ["read"]}]', "0.key: a key is 16 or more"),
        ('[{"key": "the-key of-ada-1", "scopes": ["read"]}]', "without blanks"),
        ('[{"key": "the-key-of-ada-1"}]', "0.scopes: Field required"),
        ('[{"key": "the-key-of-ada-1", "scopes": []}]', "0.scopes"),
        ('[{"key": "the-key-of-ada-1", "scopes": ["root"]}]', "0.scopes.0"),
        ('[{"key": "the-key-of-ada-1", "scopes": ["read"], "users": []}]', "0.users"),
        ('[{"key": "the-key-of-ada-1", "scopes": ["read"], "user": "ada"}]', "0.user: Extra"),
    ],
)
def test_a_wrong_api_key_is_told_by_its_place_alone(keys: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which key is wrong and how, and shows none."""
    monkeypatch.setenv("ROLESTREAM_API__KEYS", keys)
    with pytest.raises(SettingsInvalid, match="ROLESTREAM_API__KEYS") as failure:
        load_settings()
    assert says in str(failure.value)
    assert "the-key" not in str(failure.value)


def test_an_error_of_the_settings_shows_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the error underneath, which a traceback prints."""
    monkeypatch.setenv("ROLESTREAM_API__KEYS", f"[{ADA}, {ADA}]")
    monkeypatch.setenv("ROLESTREAM_API__PORT", "70000")
    with pytest.raises(ValidationError) as failure:
        Settings()
    assert "a key is there twice" in str(failure.value)
    assert "the-key" not in str(failure.value)
    assert "70000" not in str(failure.value)


@pytest.mark.parametrize(
    ("host", "is_open"),
    [
        *((name, True) for name in ("127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]")),
        *((name, False) for name in ("0.0.0.0", "::", "[::]", "a.example", "localhost.example")),
    ],
)
def test_without_keys_the_api_is_for_this_machine(host: str, is_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others could reach it, keys are asked for at the start."""
    monkeypatch.setenv("ROLESTREAM_API__HOST", host)
    if is_open:
        assert load_settings().api.host == host.strip("[]")  # as a socket takes it
    else:
        with pytest.raises(SettingsInvalid, match="set KEYS"):
            load_settings()


@pytest.mark.parametrize(
    "origins", ["*", "desk.example", "https://desk.example/", "https://a.example, https://b.example"]
)
def test_an_allowed_origin_is_a_whole_one(origins: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a browser would never send as an origin is refused, and so is every origin at once."""
    monkeypatch.setenv("ROLESTREAM_API__CORS_ORIGINS", origins)
    with pytest.raises(SettingsInvalid, match="ROLESTREAM_API__CORS_ORIGINS"):
        load_settings()
    monkeypatch.setenv("ROLESTREAM_API__CORS_ORIGINS", "https://desk.example,http://localhost:3000")
    assert load_settings().api.origins == ["https://desk.example", "http://localhost:3000"]


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the repr nor an error shows a key, a password or a connection string."""
    monkeypatch.setenv("ROLESTREAM_MODEL__API_KEY", "sk-very-secret")
    monkeypatch.setenv("ROLESTREAM_MONGO__URL", "mongodb://user:very-secret@host")
    monkeypatch.setenv("ROLESTREAM_KAFKA__SASL_PASSWORD", "very-secret")
    assert "very-secret" not in repr(load_settings())
    monkeypatch.setenv("ROLESTREAM_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    with pytest.raises(SettingsInvalid, match="SASL_USERNAME") as failure:
        load_settings()
    assert "very-secret" not in str(failure.value)


def test_every_setting_is_described() -> None:
    """Nobody has to guess what a setting does."""

    def undescribed(model: type, path: str = "") -> list[str]:
        fields = model.model_fields.items()  # type: ignore[attr-defined]  # only pydantic models come here
        missing = []
        for name, about in fields:
            if hasattr(about.annotation, "model_fields"):
                missing += undescribed(about.annotation, f"{path}{name}.")
            elif not about.description and not about.exclude:
                missing.append(path + name)
        return missing

    assert undescribed(Settings) == []
