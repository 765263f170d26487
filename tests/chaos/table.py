"""Every case by its name, and how its figures are printed."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.chaos import cases, outages
from tests.chaos.figures import Figures
from tests.chaos.load import AT_ONCE
from tests.chaos.performing import Case

CASES: Mapping[str, Case] = MappingProxyType(
    {
        "kill": Case(cases.kill, outages.nothing_failed),
        "term": Case(cases.term, cases.nothing_redelivered),
        "term-hung": Case(cases.term_hung, outages.nothing_failed, turns=500),
        "rebalance": Case(cases.rebalance, outages.nothing_failed),
        "scale": Case(cases.scale, cases.nothing_redelivered),
        "freeze": Case(cases.freeze, outages.nothing_failed, repeated=AT_ONCE),
        "broker-restart": Case(outages.broker_restart, outages.said_once),
        "cluster-away": Case(outages.cluster_away, outages.said_once),
        "node-lost": Case(outages.node_lost, outages.said_once, nodes=3),
        "database-restart": Case(outages.database_restart, outages.said_once),
        "database-away": Case(outages.database_away, outages.said_once),
        "model-refusing": Case(outages.model_refusing, outages.failed_with_letters),
        "model-hanging": Case(outages.model_hanging, outages.failed_with_letters),
        "model-limiting": Case(outages.model_limiting, outages.nothing_failed),
        "model-failing": Case(outages.model_failing, outages.failed_with_letters),
        "duplicates": Case(cases.duplicates, outages.nothing_failed),
        # Each stage doubles what the one before it doubled: an answer comes sixteen times.
        "forced": Case(cases.forced, outages.nothing_failed, turns=250),
        "standby": Case(cases.standby, cases.taken_over, turns=500),
    }
)

_COLUMNS = (
    *("turns", "lost", "doubled", "disordered", "forked", "repeated", "redelivered", "failed", "dead_letters"),
    *("ends", "drain", "resumed", "log_lines", "seconds", "per_second"),
)


def header() -> str:
    return f"{'case':<17}" + "".join(f"{name.replace('_', ' '):>13}" for name in _COLUMNS)


def row(figures: Figures) -> str:
    values = figures.plain()
    cells = (f"{value:.1f}" if isinstance(value, float) else str(value) for value in map(values.__getitem__, _COLUMNS))
    return f"{figures.case:<17}" + "".join(f"{cell:>13}" for cell in cells)
