"""How long a fetch that finds nothing waits at the broker: longer where no record has come for a while."""

from time import monotonic

from aiokafka import AIOKafkaConsumer

#: After so many seconds without a record a worker is idle.
IDLE_AFTER = 5.0
#: How long the fetches of an idle worker wait at least, in milliseconds.
IDLE_WAIT_MS = 100


class Pace:
    """Shared by the consumers of a worker, for a record of one is followed by records of the others.

    A broker that answers a waiting fetch when a record comes may have it wait for long. The embedded one does not: the
    wait is what every stage adds to an answer, and asking a hundred times a second keeps half a core busy for nothing.
    """

    def __init__(self, wait_ms: int) -> None:
        self._wait_ms = wait_ms
        self._consumers: list[AIOKafkaConsumer] = []
        self._came_at, self._is_idle = monotonic(), False

    def set_for(self, consumer: AIOKafkaConsumer) -> None:
        """Set it for a consumer that has not begun, and from now on."""
        consumer._fetch_max_wait_ms = self._wait_ms
        self._consumers.append(consumer)

    def record_came(self) -> None:
        self._came_at = monotonic()
        if self._is_idle:
            self._is_idle = False
            self._have_them_wait(self._wait_ms)

    def look(self) -> None:
        """To be called now and then: whether records still come."""
        if not self._is_idle and monotonic() - self._came_at > IDLE_AFTER:
            self._is_idle = True
            self._have_them_wait(max(self._wait_ms, IDLE_WAIT_MS))

    def _have_them_wait(self, milliseconds: int) -> None:
        for consumer in self._consumers:
            if consumer._fetcher is not None:
                consumer._fetcher._fetch_max_wait_ms = milliseconds
