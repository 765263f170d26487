"""Every case by its name, and how its figures are printed."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.chaos import cases, outages
from tests.chaos.figures import Figures
from tests.chaos.performing import Case

CASES: Mapping[str, Case] = MappingProxyType(
    {
        "kill": Case(cases.kill, cases.in_work_at_kill),
        "kill-learning": Case(cases.kill, cases.in_work_at_kill, turns=300, user_memory=True),
        "term": Case(cases.term, cases.nothing_redelivered),
        "term-hung": Case(cases.term_hung, cases.drained_to_the_deadline, turns=500),
        "rebalance": Case(cases.rebalance, outages.nothing_failed),
        "scale": Case(cases.scale, cases.nothing_redelivered),
        "freeze": Case(cases.freeze, cases.overtaken_while_frozen),
        "broker-restart": Case(outages.broker_restart, outages.said_once),
        "cluster-away": Case(outages.cluster_away, outages.said_once),
        "node-lost": Case(outages.node_lost, outages.said_once, nodes=3),
        "database-restart": Case(outages.database_restart, outages.said_once),
        "database-away": Case(outages.database_away, outages.said_once),
        "model-refusing": Case(outages.model_refusing, outages.failed_with_letters),
        "model-hanging": Case(outages.model_hanging, outages.failed_with_letters),
        "model-limiting": Case(outages.model_limiting, outages.said_once),
        "model-failing": Case(outages.model_failing, outages.failed_with_letters),
        "duplicates": Case(cases.duplicates, outages.nothing_failed, user_memory=True),
        # Each stage doubles what the one before it doubled: an answer comes sixteen times.
        "forced": Case(cases.forced, outages.nothing_failed, turns=250),
        "standby": Case(cases.standby, cases.taken_over, partitions=1, turns=500),
    }
)

#: Of each column, its heading and the figure.
_COLUMNS = {
    "turns": "turns",
    "lost": "lost",
    "doubled": "doubled",
    "disordered": "disordered",
    "forked": "forked",
    "miscounted": "miscounted",
    "repeated": "repeated_calls",
    "overtaken": "overtaken_calls",
    "redelivered": "redelivered",
    "failed": "failed",
    "letters": "dead_letters",
    "ends": "ends",
    "drain": "drain",
    "resumed": "resumed",
    "taken over": "taken_over",
    "log lines": "log_lines",
    "seconds": "seconds",
    "turns/s": "per_second",
}


def header() -> str:
    return f"{'case':<17}" + "".join(f"{heading:>12}" for heading in _COLUMNS)


def row(figures: Figures) -> str:
    """The figures, and for each kill what came again of what may come again."""
    values = [getattr(figures, name) for name in _COLUMNS.values()]
    cells = (f"{value:.1f}" if isinstance(value, float) else str(value) for value in values)
    kills = zip(figures.redelivered_by_kill, figures.may_come_again, strict=True)
    by_kill = "".join(f"  {again}/{most}" for again, most in kills)
    return f"{figures.case:<17}" + "".join(f"{cell:>12}" for cell in cells) + by_kill
