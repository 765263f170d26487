"""The users' features and profiles in MongoDB; a change is checked against the version that it was made on."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pymongo import ASCENDING, ReplaceOne

from pipeline.adapters.mongo.database import Database
from schemas.features import MAX_FEATURES, UserFeature, UserProfile
from schemas.wire import UserId

#: In the names of fields a dot is a path and a dollar a command; the wide ones, which no slot holds, are letters.
_STORED = str.maketrans(".$", "．＄")
_AS_THEY_ARE = str.maketrans("．＄", ".$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MongoFeatures:
    """The `FeatureStore` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def features(self, user_id: UserId) -> list[UserFeature]:
        order = [("slot", ASCENDING)]
        return await self._database.found(UserFeature, "user_features", {"userId": user_id}, 4 * MAX_FEATURES, order)

    async def add_feature(self, feature: UserFeature) -> None:
        await self._database.add("user_features", feature.feature_id, feature)

    async def replace_feature(self, feature: UserFeature, version: int) -> bool:
        return await self._database.replace("user_features", {"_id": feature.feature_id, "version": version}, feature)

    async def remove_feature(self, feature: UserFeature) -> bool:
        query = {"_id": feature.feature_id, "version": feature.version}
        return await self._database.remove("user_features", query) > 0

    async def profile(self, user_id: UserId) -> UserProfile | None:
        profile = await self._database.by_key(UserProfile, "user_profiles", user_id)
        return profile and profile.model_copy(update={"preferences": _renamed(profile.preferences, _AS_THEY_ARE)})

    async def put_profile(self, profile: UserProfile) -> None:
        document = profile.model_dump(by_alias=True)
        document["preferences"] = _renamed(profile.preferences, _STORED)
        await self._database.write("user_profiles", ReplaceOne({"_id": profile.user_id}, document, upsert=True))

    async def unconfirmed_features(
        self, until: datetime, limit: int, *, without: Sequence[UserId] = ()
    ) -> list[UserFeature]:
        query: dict[str, Any] = {"lastSeenTime": {"$gte": _EPOCH, "$lt": until}, "status": "ACTIVE"}
        query |= {"source": "CHAT_EXTRACT", "userId": {"$nin": [*without]}}
        return await self._database.found(UserFeature, "user_features", query, limit, [("lastSeenTime", ASCENDING)])


def _renamed(preferences: Mapping[str, str], letters: Mapping[int, int]) -> dict[str, str]:
    return {slot.translate(letters): value for slot, value in preferences.items()}
