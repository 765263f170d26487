"""The `eval` command: how many expectations of a file of cases are met."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline import bootstrap
from pipeline.errors import SettingsInvalid
from pipeline.evaluation import Case, Figures, asked, evaluate, given
from pipeline.evaluation.cases import read_case
from pipeline.lines import numbered_lines
from pipeline.settings import Settings


async def evaluated(arguments: argparse.Namespace, settings: Settings) -> int:
    """Extract and arbitrate the cases of a file, and count the expectations that are met."""
    cases = _read(arguments.file, extractions=arguments.model == "given")[: arguments.conversations]
    if arguments.model == "given":
        figures = await evaluate(cases, given)
    else:
        model = bootstrap.model_to_evaluate(settings, arguments.model)
        progress = _progress_of(cases) if arguments.model == "openai" else _silent
        try:
            figures = await evaluate(cases, asked(model, bootstrap.policy(settings).history), progress=progress)
        finally:
            await model.aclose()
    if arguments.json:
        print(json.dumps(figures.to_json(), ensure_ascii=False))
    else:
        _show(figures, failures=arguments.failures)
    return 0


def _silent(_: Figures) -> None: ...


def _progress_of(cases: Sequence[Case]) -> Callable[[Figures], None]:
    """A line on stderr after each conversation: a small server takes half an hour for all."""
    turns, started = sum(len(case["turns"]) for case in cases), time.monotonic()

    def tell(figures: Figures) -> None:
        print(
            f"{figures.conversations} of {len(cases)} conversations, {figures.reading.turns} of {turns} turns,"
            f" {figures.share:.1%} met, {time.monotonic() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    return tell


def _read(path: Path, *, extractions: bool) -> list[Case]:
    """One case a line; raises SettingsInvalid naming the line that is none."""
    cases = []
    for number, line in numbered_lines(path):
        try:
            cases.append(read_case(line, extractions=extractions))
        except ValueError as exc:
            raise SettingsInvalid(f"{path}, line {number}: no case: {exc}") from exc
    return cases


def _show(figures: Figures, *, failures: bool) -> None:
    for title, rows in (("kind", figures.by_kind), ("language", figures.by_lang)):
        print(f"{title:<24}{'met':>6}{'of':>6}")
        for name, row in sorted(rows.items()):
            print(f"{name:<24}{row['met']:>6}{row['expectations']:>6}")
        print()
    _show_reading(figures)
    print(f"{figures.met} of {figures.expectations} expectations met, {figures.share:.1%}")
    if failures:
        for failure in figures.failures:
            print(f"\n{failure.case}, turn {failure.turn}: {failure.question}")
            print(f"  got    {failure.got}\n  wanted {failure.wanted}\n  reason {failure.reason}")


def _show_reading(figures: Figures) -> None:
    reading = figures.reading
    told = reading.to_json()["promptTokens"]
    rows: dict[str, object] = {
        "turns": reading.turns,
        "calls of the model": reading.calls,
        "calls saved by the gate": reading.saved,
        "failed turns": reading.failed,
        "prompt tokens, most": told["max"],
        "prompt tokens, mean": told["mean"],
        "quotes dropped": reading.dropped_quotes,
        "identities dropped": reading.dropped_identities,
        "in the right language": reading.in_language,
        "identities of others": _named(figures.taken),
        "identities unwanted": _named(figures.unwanted),
    }
    for name, value in rows.items():
        print(f"{name:<26}{value}")
    print()


def _named(identities: set[str]) -> str:
    return "; ".join([str(len(identities)), *sorted(identities)])
