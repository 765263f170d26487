"""Every error of ours.

RolestreamError
├── SettingsInvalid        a setting is missing or wrong; the command line prints it and ends
├── BadEvent               the record can never be processed; it goes to the dead letters
├── Outage                 Kafka or MongoDB is away; wait and try again, for as long as it takes
│   └── Stuck              a client that its broker keeps from ending; only the end of the process ends it
├── AlreadyStored          the key is taken: somebody has done this work, read it back
├── ModelFailed            the model could not be used for this call
│   └── ModelRefused       the model answered, and declined
└── Unavailable            a program or package that a command needs is not here
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class RolestreamError(Exception):
    """The message says what is wrong, where, and what to do."""


class SettingsInvalid(RolestreamError):
    pass


class BadEvent(RolestreamError):
    pass


class Outage(RolestreamError):
    pass


class Stuck(Outage):
    pass


class AlreadyStored(RolestreamError):
    pass


class ModelFailed(RolestreamError):
    """`spent` holds the fields of the cost that the failed attempts had all the same."""

    def __init__(self, message: str, spent: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.spent = spent


class ModelRefused(ModelFailed):
    pass


class Unavailable(RolestreamError):
    pass
