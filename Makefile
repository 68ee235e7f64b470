# Needs Python >= 3.10, make and a C compiler. Every verb sets up what it needs in .venv/, once.
# PYTHON=... chooses the interpreter for .venv/, ROBOT=... the robot, OPTS=... is passed on to the command.

PYTHON ?= python3
ROBOT ?= baxter
OPTS ?=

BIN := .venv/bin
SETUP := PYTHON='$(PYTHON)' .ci/environment

.PHONY: help generate test soak stops coverage check-generated bench reproduce docs lint clean
.DEFAULT_GOAL := help

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS='|' read -r verb text; do printf '  make %-16s %s\n' "$$verb" "$$text"; done

generate: ## Derive, emit and compile ROBOT (a shipped name, a URDF or MJCF file) into generated/
	@$(SETUP) all
	@$(BIN)/diffpbd generate '$(ROBOT)' --out 'generated/$(basename $(notdir $(ROBOT)))' $(OPTS)

# One thread of BLAS a process: small matrices are no faster with more, and two processes' threads wait for each other (50 times the time).
# First what computes, a process a core; then alone, in one process, what needs real time. 5: OPTS chose no test of this part.
# SymPy remembers 1000 results by default; with more, a derivation takes a seventh less.
test: ## The test suite with reduced counts, about 10 minutes on two cores
	@$(SETUP) test
	@export OPENBLAS_NUM_THREADS=1 SYMPY_CACHE_SIZE=20000; \
	  $(BIN)/pytest -m 'not real_time' -n 2 --dist loadgroup --no-loadscope-reorder $(OPTS); computed=$$?; \
	  $(BIN)/pytest -m real_time $(OPTS); timed=$$?; \
	  [ $$computed = 5 ] && computed=0; [ $$timed = 5 ] && timed=0; [ $$computed = 0 ] && [ $$timed = 0 ]

soak: ## The test suite with the long counts
	@$(SETUP) test
	@OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --soak $(OPTS)

stops: ## A thousand stops of arms that are not their model, and how many kept the bounds (OPTS='--stops 10000')
	@$(SETUP) test
	@cd tests && OPENBLAS_NUM_THREADS=1 PYTHONPATH=.. $(abspath $(BIN))/python -m support.reality.calm_table --stops 1000 --laws gravity impedance track $(OPTS)

coverage: ## Lines of the emitted solvers that all C tests together run, by file (gcovr)
	@$(SETUP) test
	@PYTHONPATH=tests:. $(BIN)/python -m support.line_coverage $(OPTS)

check-generated: ## Compare the committed C of tests/golden with what is generated (OPTS=--update-golden accepts)
	@$(SETUP) test
	@$(BIN)/pytest tests/test_generated.py $(OPTS)

bench: ## Benchmarks against pinocchio, MuJoCo and CasADi code, in one table
	@$(SETUP) bench
	@$(BIN)/python -m benchmarks $(OPTS)

reproduce: ## Every figure and table of the paper on one page, report/index.html (OPTS="--data RECORDINGS")
	@$(SETUP) test
	@$(BIN)/python -m experiments all --out report $(OPTS)

docs: ## The documentation as a site, site/README.html; warnings and dead links are errors
	@$(SETUP) docs
	@$(BIN)/sphinx-build -q -W --keep-going -c docs/site -d build/doctrees . site $(OPTS)
	@echo 'written: site/README.html'

lint: ## ruff (rules and layout) and mypy --strict
	@$(SETUP) dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

clean: ## Remove .venv/, caches and builds; generated/ is kept
	rm -rf .venv .editable build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
