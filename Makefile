# Everything a developer runs; each target sets up what it needs first.

# The first one that is new enough and that the embedded database has wheels for.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$python && break; \
	done)
LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml

.PHONY: setup demo test test-kafka test-browser chaos soak lint format bench lock schemas clean

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	@test -x .venv/bin/python || test -n "$(PYTHON)" || { \
		echo "Python 3.11, 3.12 or 3.13 is needed, and neither python3 nor python3.13, python3.12 or python3.11 is one." >&2; \
		echo "Install one, or name it: make setup PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	.venv/bin/rolestream demo

test: setup
	.venv/bin/python -m pytest --numprocesses 2 --dist loadfile \
		--ignore=tests/bench --ignore=tests/kafka --ignore=tests/chaos --ignore=tests/browser

# On a real Apache Kafka, from Maven Central; needs Java 17, Maven and openssl.
test-kafka: setup
	.venv/bin/python -m pytest tests/kafka

# The inspection page in headless Chromium, Debian's or the one that ROLESTREAM_TEST_CHROMIUM names.
test-browser: setup
	.venv/bin/python -m pytest --numprocesses 2 --dist loadfile tests/browser

# The crash suite on a real Apache Kafka: a table, and build/chaos.json; needs what test-kafka does.
chaos: setup
	.venv/bin/python -m tests.chaos kill --turns 20000
	.venv/bin/python -m tests.chaos rebalance scale freeze --turns 5000
	.venv/bin/python -m tests.chaos --all-but kill rebalance scale freeze --turns 1500

# 100,000 turns twice: one worker killed 30 times, and one whose memory must stay flat.
soak: setup
	.venv/bin/python -m tests.chaos kill --turns 100000
	.venv/bin/python -m tests.bench soak

lint: setup
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo

format: setup
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

bench: setup
	.venv/bin/python -m tests.bench

# Two locks: all that a developer needs, and of it only what the image holds.
lock: setup
	$(LOCK) --extra dev --output-file requirements.lock
	$(LOCK) --extra api --extra build --constraint requirements.lock --no-annotate --output-file deploy/requirements.lock

schemas: setup
	.venv/bin/python -m schemas.generate

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
