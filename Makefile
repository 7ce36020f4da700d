# Set-up needs python3 with venv and make, nothing else; everything lands in .venv and .cache.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check conformance test-hosts test-browser clean

demo: $(VENV)/.installed
	@$(BIN)/enricher demo

test: $(VENV)/.installed-dev
	$(BIN)/pytest

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: $(VENV)/.installed-dev
	$(BIN)/python -m tests.conformance

test-hosts: $(VENV)/.installed-dev
	$(BIN)/pytest tests/hosts -m hosts -o addopts="-ra"

test-browser: $(VENV)/.installed-dev
	sh tests/browser/install.sh
	$(BIN)/pytest tests/browser -m browser

clean:
	rm -rf $(VENV) .cache dist build

$(VENV)/.installed: pyproject.toml
	@command -v "$(PYTHON)" >/dev/null || { echo "$(PYTHON) is not there; install it or name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { echo "$(PYTHON) lacks venv; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@
