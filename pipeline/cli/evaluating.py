"""The `eval` command: how many expectations of a file of cases are met."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import bootstrap
from pipeline.errors import ModelFailed, SettingsInvalid
from pipeline.evaluation import Figures, Propose, evaluate, given
from pipeline.ports import Json, Model
from pipeline.settings import Settings


async def evaluated(arguments: argparse.Namespace, settings: Settings) -> int:
    """Extract and arbitrate the cases of a file, and count the expectations that are met."""
    cases = _read(arguments.file)
    if arguments.model == "given":
        figures = await evaluate(cases, given)
    else:
        model = bootstrap.model_to_evaluate(settings, arguments.model)
        try:
            figures = await evaluate(cases, _proposed_by(model, bootstrap.policy(settings).history))
        finally:
            await model.aclose()
    if arguments.json:
        print(json.dumps(figures.to_json(), ensure_ascii=False))
    else:
        _show(figures, failures=arguments.failures)
    return 0


def _read(path: Path) -> list[dict[str, Any]]:
    """One case a line; raises SettingsInvalid naming the line that is none."""
    cases = []
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                case = json.loads(line)
                if not isinstance(case, dict) or not {"id", "kind", "lang", "turns", "expect"} <= case.keys():
                    raise SettingsInvalid(f"{path}, line {number}: no case with id, kind, lang, turns and expect")
                cases.append(case)
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsInvalid(f"the file {path} cannot be read: {exc}") from exc
    except json.JSONDecodeError as exc:
        raise SettingsInvalid(f"{path}, line {number}: no JSON: {exc}") from exc
    return cases


def _proposed_by(model: Model, history_length: int) -> Propose:
    async def propose(turn: dict[str, Any], history: Sequence[str]) -> Json:
        try:
            return (await model.extract(turn["q"], history[-history_length:] if history_length else ())).content
        except ModelFailed:
            return None

    return propose


def _show(figures: Figures, *, failures: bool) -> None:
    for title, rows in (("kind", figures.by_kind), ("language", figures.by_lang)):
        print(f"{title:<24}{'met':>6}{'of':>6}")
        for name, row in sorted(rows.items()):
            print(f"{name:<24}{row['met']:>6}{row['expectations']:>6}")
        print()
    share = figures.met / figures.expectations if figures.expectations else 1
    print(f"{figures.met} of {figures.expectations} expectations met, {share:.1%}")
    if failures:
        for failure in figures.failures:
            print(f"\n{failure.case}, turn {failure.turn}: {failure.question}")
            print(f"  got    {failure.got}\n  wanted {failure.wanted}\n  reason {failure.reason}")
