"""How long a fetch that finds nothing waits at the broker: longer where no record has come for a while."""

from threading import Lock
from time import monotonic
from weakref import WeakSet

from aiokafka import AIOKafkaConsumer

#: After so many seconds without a record a worker is idle.
IDLE_AFTER = 5.0
#: How long the fetches of an idle worker wait at least, in milliseconds.
IDLE_WAIT_MS = 100


class Pace:
    """Shared by the consumers of a worker, which live in threads of their own; a record of one comes before others'.

    A broker that answers a waiting fetch when a record comes may have it wait for long. The embedded one does not: the
    wait is what every stage adds to an answer, and asking a hundred times a second keeps half a core busy for nothing.
    """

    def __init__(self, wait_ms: int) -> None:
        self._busy_ms, self._now_ms = wait_ms, wait_ms
        self._came_at = monotonic()
        self._consumers: WeakSet[AIOKafkaConsumer] = WeakSet()
        self._lock = Lock()

    def set_for(self, consumer: AIOKafkaConsumer) -> None:
        """Set it for a consumer, begun or not, and from now on."""
        with self._lock:
            self._consumers.add(consumer)
            self._tell(consumer)

    def record_came(self) -> None:
        with self._lock:
            self._came_at = monotonic()
            self._have_all_wait(self._busy_ms)

    def look(self) -> None:
        """To be called now and then: whether records still come."""
        with self._lock:
            if monotonic() - self._came_at > IDLE_AFTER:
                self._have_all_wait(max(self._busy_ms, IDLE_WAIT_MS))

    def _have_all_wait(self, milliseconds: int) -> None:
        if milliseconds != self._now_ms:
            self._now_ms = milliseconds
            for consumer in self._consumers:
                self._tell(consumer)

    def _tell(self, consumer: AIOKafkaConsumer) -> None:
        consumer._fetch_max_wait_ms = self._now_ms  # which it gives its fetcher when it begins
        if consumer._fetcher is not None:
            consumer._fetcher._fetch_max_wait_ms = self._now_ms
