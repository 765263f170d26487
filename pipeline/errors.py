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
    """`calls` and `milliseconds` are what the failed attempts cost."""

    def __init__(self, message: str, *, calls: int = 0, milliseconds: int = 0) -> None:
        super().__init__(message)
        self.calls, self.milliseconds = calls, milliseconds


class ModelRefused(ModelFailed):
    pass


class Unavailable(RolestreamError):
    pass
