"""Writes the JSON Schema of every event and of the track document: `python -m schemas.generate`."""

import json
from pathlib import Path

from schemas.documents import Conversation, Message, StoredExtraction
from schemas.features import Tombstone, UserFeature, UserProfile
from schemas.role import TrackEntry
from schemas.topics import TOPICS
from schemas.wire import Wire

FOLDER = Path(__file__).parent / "json"


def schema_files() -> dict[str, str]:
    """File name to content, for each event on a topic and each stored document."""
    models: list[type[Wire]] = [topic.event for topic in TOPICS]
    models += [TrackEntry, Message, StoredExtraction, Conversation, UserFeature, UserProfile, Tombstone]
    return {f"{model.__name__}.json": _schema(model) for model in models}


def _schema(model: type[Wire]) -> str:
    schema = model.model_json_schema(by_alias=True)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for stale in FOLDER.glob("*.json"):
        stale.unlink()
    for name, content in schema_files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
