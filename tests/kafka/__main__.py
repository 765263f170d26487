"""`python -m tests.kafka [--nodes 3]`: a cluster that stays until SIGINT or SIGTERM, for tests to be pointed at."""

import argparse
import signal
import sys

from pipeline.errors import RolestreamError
from tests.kafka.cluster import LISTENERS, kafka_cluster


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka", description="Keep an Apache Kafka up for tests.")
    parser.add_argument("--nodes", type=int, default=1)
    nodes = parser.parse_args().nodes
    # Both interrupt whatever runs, so that nothing is left behind even in the middle of a start.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with kafka_cluster(nodes) as cluster:
            print(f"export ROLESTREAM_TEST_BROKER={cluster.brokers}")
            for listener in LISTENERS:
                print(f"# {listener}: {cluster.bootstrap(listener)}")
            users = ", ".join(f"{user} {password}" for user, password in cluster.passwords.items())
            print(f"# users and passwords: {users}; certificates in {cluster.authority.parent}")
            sys.stdout.flush()
            signal.pause()
    except RolestreamError as exc:
        print(exc, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
