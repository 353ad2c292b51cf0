# Everything runs in .venv, which the first target that needs it makes. Another interpreter:
# make test PYTHON=python3.12. More cores: make test JOBS=8.
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
ORACLE_VENV := .venv-oracle
ORACLE_BIN := $(ORACLE_VENV)/bin
ORACLE_TESTS := tests/oracle
SCRATCH := build/demo
MODEL := testdata/models/tf/tf_lstm_while.hlo
# A comma written out would part the arguments of a call.
COMMA := ,

.PHONY: table reference help demo test slow lint types floors packaging browser chromium oracle \
	bench format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo       read, check, convert, optimize, compile and run a real module"
	@echo "make test       run the tests"
	@echo "make slow       run the tests, the slow ones and the fuzzing too"
	@echo "make lint       check style (make format mends what can be mended)"
	@echo "make types      check the types"
	@echo "make floors     check who imports whom"
	@echo "make packaging  install the built wheel into a clean environment and use it"
	@echo "make browser    use the pages in Chromium, which is installed where that is possible"
	@echo "make oracle     compare with the reference implementation"
	@echo "make bench      run the benchmarks"
	@echo "make table      renew the parser's table after a change of the grammar"
	@echo "make reference  renew docs/opcodes.md and docs/passes.md from the code"
	@echo "make clean      remove what make has made"

# An environment is made when it is missing, and installed into again when pyproject.toml changes.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is wanted, set PYTHON")'
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@echo "installing into $(1)"
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --editable '$(2)'
	@touch $@
endef

$(VENV)/.installed: pyproject.toml
	$(call install,$(VENV),.)

$(VENV)/.installed-dev: pyproject.toml
	$(call install,$(VENV),.[dev$(COMMA)blas])
	@touch $(VENV)/.installed

$(VENV)/.installed-browser: pyproject.toml
	$(call install,$(VENV),.[dev$(COMMA)blas$(COMMA)browser])
	@touch $(VENV)/.installed $(VENV)/.installed-dev

$(ORACLE_VENV)/.installed: pyproject.toml
	$(call install,$(ORACLE_VENV),.[dev$(COMMA)blas$(COMMA)xla])

demo: $(VENV)/.installed
	@mkdir -p $(SCRATCH)
	@echo "module       $(MODEL)"
	@$(BIN)/hlotool verify $(MODEL)
	@$(BIN)/hlo-opt --print-large-constants $(MODEL) -o $(SCRATCH)/module.hlo
	@echo "read         verified and printed, $$(wc -l < $(SCRATCH)/module.hlo) lines; the entry begins"
	@sed -n '/^ENTRY/,$$p' $(SCRATCH)/module.hlo | head -n 5 | cut -c -100
	@$(BIN)/hlotool convert $(MODEL) -o $(SCRATCH)/module.hlo.pb
	@$(BIN)/hlotool convert $(SCRATCH)/module.hlo.pb -o $(SCRATCH)/again.hlo
	@echo "converted    to a proto of $$(wc -c < $(SCRATCH)/module.hlo.pb) bytes and back"
	@cmp $(SCRATCH)/module.hlo $(SCRATCH)/again.hlo
	@echo "compared     the text is the same, byte for byte"
	@echo "fingerprint  $$($(BIN)/hlotool fingerprint $(SCRATCH)/module.hlo.pb)"
	@$(BIN)/hlo-opt $(MODEL) --platform=cpu --print-large-constants -o $(SCRATCH)/optimized.hlo
	@echo "optimized    simplified and fused for CPUs"
	@$(BIN)/hlotool stats $(MODEL) $(SCRATCH)/optimized.hlo | grep -E 'module|kernels|bytes accessed|fusion rate'
	@$(BIN)/run-hlo $(SCRATCH)/optimized.hlo --inputs=$(MODEL:.hlo=.npz) --expected=$(MODEL:.hlo=.npz)
	@$(BIN)/run-hlo $(MODEL) --inputs=$(MODEL:.hlo=.npz) --expected=$(MODEL:.hlo=.npz)
	@$(BIN)/run-hlo $(MODEL) --platform=cpu --inputs=$(MODEL:.hlo=.npz) --expected=$(MODEL:.hlo=.npz)
	@echo "run          optimized, as it was, and compiled, with the results that TensorFlow had"
	@$(BIN)/run-hlo $(MODEL) --platform=cpu --bench=1 --inputs=$(MODEL:.hlo=.npz)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(JOBS)

slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(JOBS) --slow

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(VENV)/.installed-dev
	$(BIN)/mypy

floors: $(VENV)/.installed-dev
	$(BIN)/lint-imports

packaging: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --slow tests/test_packaging.py

# Where there is no Chromium and none can be installed, the tests are skipped and say so.
browser: $(VENV)/.installed-browser chromium
	$(BIN)/python -m pytest -n $(JOBS) --browser tests/browser

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  echo "installing chromium" && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium >/dev/null; } || \
	  echo "no chromium here: apt-get install chromium needs Debian and its administrator"

# The modules to compare are those of HLOTOOL_CORPUS; tests/conftest.py has the default.
oracle: $(ORACLE_VENV)/.installed
	$(ORACLE_BIN)/python -m pytest -n $(JOBS) --oracle $(ORACLE_TESTS)

# Side by side with the reference, so where that is installed; one process, or they would compete.
bench: $(ORACLE_VENV)/.installed
	$(ORACLE_BIN)/python -m pytest --bench tests/bench

table: $(VENV)/.installed
	$(BIN)/python -m hlotool.text.table

reference: $(VENV)/.installed
	$(BIN)/python -m hlotool.ops.reference > docs/opcodes.md
	$(BIN)/python -m hlotool.passes.reference testdata/passes > docs/passes.md

clean:
	rm -rf $(VENV) $(ORACLE_VENV) build dist
