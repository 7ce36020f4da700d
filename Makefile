# Set-up needs python3 with venv and make, nothing else; everything lands in .venv and .cache.
# The Python of a distribution is optimized with profiles, and takes about a tenth less time than one built without.
PYTHON ?= $(shell /usr/bin/python3 -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))" 2>/dev/null \
	&& echo /usr/bin/python3 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
DATASETTE_ALPHA := 1.0a41
ALPHA := $(CURDIR)/.cache/datasette-$(DATASETTE_ALPHA)

# Tests beside each other, some more than there are cores (tests/conftest.py): many wait for a process.
BESIDE := --numprocesses auto --dist worksteal
# A few hundred short tests: to start more processes would take longer than they save.
BESIDE_FEW := --numprocesses 3 --dist worksteal

# A test compiles its file once for each worker, a command its modules once for all, unless compiled code is thrown away.
unexport PYTHONDONTWRITEBYTECODE

# SQLite waits for the disk at every commit, and Datasette 1.0 commits each described column when it starts.
IN_MEMORY = TMPDIR=$$(sh tests/memory_folder.sh)

.PHONY: demo test test-slow test-untimed test-long test-timed check conformance mutations test-hosts test-browser test-datasette-alpha test-packaging \
	compiled-tests datasette-alpha clean

demo: $(VENV)/.installed
	@$(BIN)/enricher demo

test: $(VENV)/.installed-dev
	$(IN_MEMORY) $(BIN)/pytest -m "not slow and not timed" $(BESIDE)

# What takes long: whole stories of the app, many cases of one promise, large data; then what measures time, one by one.
test-slow: test-long test-timed

# ``make test`` and ``make test-long`` in one run, which collects the tests once and keeps all cores busy until the end.
test-untimed: $(VENV)/.installed-dev
	$(IN_MEMORY) $(BIN)/pytest -m "not timed" $(BESIDE)

test-long: $(VENV)/.installed-dev
	$(IN_MEMORY) $(BIN)/pytest -m slow $(BESIDE)

test-timed: $(VENV)/.installed-dev
	$(IN_MEMORY) $(BIN)/pytest -m timed $$(grep -rl --include='*.py' mark.timed tests)

# Without it, each process that runs tests would compile all of them: in a fresh checkout, that takes longer than this.
compiled-tests: $(VENV)/.installed-dev
	$(BIN)/pytest --collect-only --quiet >/dev/null

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: $(VENV)/.installed-dev
	$(BIN)/python -m tests.conformance

mutations: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutations

test-hosts: $(VENV)/.installed-dev
	$(BIN)/pytest tests/hosts -m hosts -o addopts="-ra"

test-browser: $(VENV)/.installed-dev
	sh tests/browser/install.sh
	$(BIN)/pytest tests/browser -m browser

test-packaging: $(VENV)/.installed-dev
	$(BIN)/pytest tests/packaging -m packaging

# Tests are left out whose subject is the same under each version: what never loads Datasette, and the figures on pages
# whose like is tested. make test runs them.
SAME_IN_ALPHA := charts differences disclosure excerpts filters measured measuring snapshot \
	compare_pages coverage_page instructions_pages session_page shares versions_in_snapshots
datasette-alpha: $(ALPHA)/.installed
test-datasette-alpha: $(VENV)/.installed-dev $(ALPHA)/.installed
	PYTHONPATH=$(ALPHA) $(BIN)/python -c "import datasette as d; assert d.__version__.startswith('1.'), d.__version__"
	$(IN_MEMORY) PYTHONPATH=$(ALPHA) $(BIN)/pytest tests/publication -m "not slow and not timed" $(BESIDE_FEW) \
		$(SAME_IN_ALPHA:%=--ignore=tests/publication/test_%.py)

clean:
	rm -rf $(VENV) .cache dist build

$(ALPHA)/.installed: | $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $(ALPHA) "datasette==$(DATASETTE_ALPHA)"
	@touch $@

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
