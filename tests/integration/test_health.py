"""/live, /ready and /metrics of a running worker."""

import asyncio
import socket
from collections.abc import Callable

import aiohttp
import pytest

from pipeline.adapters.embedded import Services
from pipeline.errors import SettingsInvalid
from pipeline.settings import Settings
from tests.conftest import Names
from tests.deployment import deployed, settings_for, working
from tests.scripted_model import ScriptedModel


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def get(settings: Settings, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{settings.health.port}{path}"
        async with session.get(url) as response:
            return response.status, await response.text()


async def until(settings: Settings, path: str, holds: Callable[[int, str], bool]) -> str:
    """Ask again until the answer is as wanted."""
    async with asyncio.timeout(20):
        while True:
            status, text = await get(settings, path)
            if holds(status, text):
                return text
            await asyncio.sleep(0.05)


async def test_a_running_worker_is_live_ready_and_counted(services: Services, names: Names) -> None:
    """All figures of a turn are there: decision, calls and tokens by stage, lag, window, rebalances."""
    async with ScriptedModel() as model:
        settings = settings_for(
            services, names, model={"base_url": model.base_url}, health={"port": free_port()}, max_running=8
        )
        async with deployed(settings) as here, working(settings):
            assert await get(settings, "/live") == (200, "ok\n")
            assert await get(settings, "/ready") == (200, "ok\n")
            await here.ask("I am a nurse")
            await here.publish("questions", b"no", key=b"c")
            await here.records("answers", 1)
            await here.records("dead-letters", 1)
            committed = (
                'rolestream_lag{processor="conversation-logging",topic="' + names.topic_prefix + 'questions"} 0.0'
            )
            text = await until(settings, "/metrics", lambda status, text: committed in text)
            for figure in (
                'rolestream_turns_total{decision="CREATE"} 1.0',
                'rolestream_model_calls_total{stage="role-extraction"} 1.0',
                'rolestream_model_calls_total{stage="report-generation"} 1.0',
                'rolestream_model_tokens_total{kind="prompt",stage="role-extraction"}',
                'rolestream_model_seconds_count{stage="report-generation"} 1.0',
                'rolestream_model_retries_total{stage="role-extraction"} 0.0',
                'rolestream_model_running{stage="role-extraction"} 0.0',
                'rolestream_dead_letters_total{processor="conversation-logging"} 1.0',
                'rolestream_records_total{processor="update-arbitration"} 1.0',
                'rolestream_rebalances_total{processor="role-extraction"} 1.0',
                'rolestream_handed_back_total{processor="role-extraction"} 0.0',
                'rolestream_drain_seconds_count{processor="role-extraction"}',
                'rolestream_oldest_unacked_seconds{processor="role-extraction"} 0.0',
                'rolestream_window_fill{processor="role-extraction"} 0.0',
                'rolestream_running{processor="role-extraction"} 0.0',
            ):
                assert figure in text


async def test_a_worker_that_finishes_nothing_is_not_live(services: Services, names: Names) -> None:
    """Records in work, none finished for longer than allowed: /live names the processor, though the process answers."""
    async with ScriptedModel(latency=30) as model:
        settings = settings_for(
            services,
            names,
            model={"base_url": model.base_url},
            health={"port": free_port(), "stall_after": 0.3},
            drain_timeout=0,
        )
        async with deployed(settings) as here, working(settings):
            await here.ask("I am a nurse")
            stuck = "role-extraction has finished nothing"  # on a slow machine another was slow before it
            await until(settings, "/live", lambda status, text: status == 503 and stuck in text)
            running = 'rolestream_model_running{stage="role-extraction"} 1.0'
            await until(settings, "/metrics", lambda _, text: running in text)


async def test_a_taken_port_names_the_setting(services: Services, names: Names) -> None:
    """The worker ends with an error of the settings."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = settings_for(services, names, health={"port": taken.getsockname()[1]})
        async with deployed(settings):
            with pytest.raises(SettingsInvalid, match="ROLESTREAM_HEALTH__HOST"):
                async with working(settings):
                    pass
