"""The measures' command; exit code 2 where public data is missing."""

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.measures import locomo, personal_data
from tests.measures.false_alarms import Row, hand_labels, measure
from tests.measures.features import results
from tests.measures.public_data import Missing, stated_in_cases, texts


def false_alarms(folder: Path, cases: Path | None, *, show: bool) -> None:
    """Print the share of texts that taught an identity above LOW, by what the texts say of their speaker."""
    found, labels = texts(folder), hand_labels()
    if cases:
        found["cases"] = stated_in_cases(cases)
        labels["stated"]["cases"] = {"": list(found["cases"])}
    rows = asyncio.run(measure(found, labels))
    _table(rows)
    _table(_sums(rows))
    if show:
        _show(rows)


def _table(rows: Iterable[Row]) -> None:
    print(f"{'text':<8}{'of':<20}{'half':<13}{'texts':>6}{'above LOW':>11}{'share':>8}")
    for row in rows:
        texts = len(row.learnt)
        share = f"{row.above_low / texts:>8.1%}"
        print(f"{row.kind:<8}{row.group:<20}{row.half:<13}{texts:>6}{row.above_low:>11}{share}")
    print()


def _sums(rows: Iterable[Row]) -> list[Row]:
    """For each kind and half, all groups together."""
    sums: dict[tuple[str, str], Row] = {}
    for row in rows:
        before = sums.get((row.kind, row.half))
        sums[row.kind, row.half] = Row(row.kind, "all", row.half, [*(before.learnt if before else ()), *row.learnt])
    return list(sums.values())


def _show(rows: Iterable[Row]) -> None:
    """What went wrong in the development half; the other half stays unread."""
    for row in rows:
        for learnt in row.learnt:
            if row.half != "held_out" and bool(learnt.identities) == (row.kind == "none"):
                print(f"{row.kind} {row.group} {learnt.label}: {learnt.questions} -> {list(learnt.identities)}")


def features(folder: Path, *, show: bool) -> None:
    """Print how many clean changes of mind end in the right state with their history, by the kind of change."""
    found = list(results(folder))
    print(f"{'change':<8}{'clean':>7}{'right':>7}{'wrong':>7}")
    for kind in (*sorted({result.direction for result in found}), "all"):
        of_kind = [result for result in found if kind in (result.direction, "all")]
        wrong = sum(bool(result.wrong) for result in of_kind)
        print(f"{kind:<8}{len(of_kind):>7}{len(of_kind) - wrong:>7}{wrong:>7}")
    for result in found if show else ():
        if result.wrong:
            print(f"{result.user} {result.number} {result.direction}: {result.wrong}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.measures")
    parser.add_argument("measure", choices=["false-alarms", "features", "locomo", "personal-data"])
    parser.add_argument(
        "folder", type=Path, help="where the public data is, under its public file names; of locomo its file"
    )
    parser.add_argument(
        "--cases", type=Path, help="of false-alarms: a file of cases, whose stated identities are counted too"
    )
    parser.add_argument(
        "--show", action="store_true", help="also say what went wrong, of false-alarms in the development half"
    )
    chosen = parser.parse_args(arguments)
    try:
        if chosen.measure == "features":
            features(chosen.folder, show=chosen.show)
        elif chosen.measure == "locomo":
            asyncio.run(locomo.report(chosen.folder))
        elif chosen.measure == "personal-data":
            personal_data.report(chosen.folder, show=chosen.show)
        else:
            false_alarms(chosen.folder, chosen.cases, show=chosen.show)
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
