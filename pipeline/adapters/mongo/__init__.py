"""Everything that is kept, in MongoDB."""

from pipeline.adapters.mongo.database import Database
from pipeline.adapters.mongo.export import held_about
from pipeline.adapters.mongo.features import MongoFeatures
from pipeline.adapters.mongo.log import MongoStore
from pipeline.adapters.mongo.tombstones import MongoTombstones

__all__ = ["Database", "MongoFeatures", "MongoStore", "MongoTombstones", "held_about"]
