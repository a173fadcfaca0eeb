# Every command of the course: `make help`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help book page notebooks serve lab test mutate clean release bench-grading bench test-triton systems links colab-list

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)
BIN := .venv/bin
PORT ?= 8000
export OMP_NUM_THREADS ?= 1

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

# --- the environment: made once, renewed when a requirements file changes

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed on PATH (or: make PYTHON=/path/to/python3)"; exit 1; }
	$(PYTHON) -m venv .venv || { echo "python -m venv failed: on Debian install python3-venv"; exit 1; }

.venv/.book-ready: requirements.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/.test-ready: requirements-test.txt .venv/.book-ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@

# Colab's published versions, in an environment of their own: nothing in it that Colab lacks
.venv-colab/.ready: requirements-colab.txt requirements.txt | .venv/bin/python
	test -x .venv-colab/bin/python || $(BIN)/python -m venv .venv-colab
	.venv-colab/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-colab.txt $$(grep -E '^(torch|pytest-xdist)==' requirements.txt)
	@touch $@

# nbgrader, in an environment of its own: it only proves that the sources stay valid for it
.venv-nbgrader/.ready: requirements-nbgrader.txt | .venv/bin/python
	test -x .venv-nbgrader/bin/python || $(BIN)/python -m venv .venv-nbgrader
	.venv-nbgrader/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-nbgrader.txt
	@touch $@

.venv/.browser-ready: | .venv/.book-ready
	@$(BIN)/python -m tools.browser >/dev/null 2>&1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core >/dev/null; fi; }
	@$(BIN)/python -m tools.browser >/dev/null
	@touch $@

# --- the commands

book: .venv/.book-ready ## build the site from the sources into _build/html (every cell is run)
	$(BIN)/python -m tools.site
	@echo "Open _build/html/index.html in a browser, or: make serve"

page: .venv/.book-ready ## look at one page only: make page P=book/02_shift.md [SHOTS=1]
	$(BIN)/python -m tools.site --page $(P) $(if $(SHOTS),--shots)

notebooks: .venv/.book-ready ## make and run every .ipynb (or only P=book/02_shift.md)
	$(BIN)/python -m tools.notebooks $(P)

serve: ## serve the built site at http://localhost:8000 (or PORT=...)
	@test -f _build/html/index.html || { echo "no site yet: make book"; exit 1; }
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

links: .venv/.book-ready ## ask every address that the course links to (needs the network; P=PAGE for one page)
	$(BIN)/python -m tools.links $(P)

lab: .venv/.book-ready ## open the labs in JupyterLab
	$(BIN)/jupyter lab labs

release: .venv/.book-ready ## what is published, into release/: student notebooks, package, site
	$(BIN)/python -m tools.release

bench-grading: .venv/.test-ready ## grade 200 generated submissions beside executing the bare notebook
	$(BIN)/python -m tools.bench_grading

test: .venv/.test-ready .venv/.browser-ready .venv-colab/.ready .venv-nbgrader/.ready ## prove everything
	$(BIN)/python -m tools.prove $(PARTS)

colab-list: .venv/.book-ready ## bring requirements-colab.txt up to Colab's versions of today (needs the network)
	$(BIN)/python -m tools.colab

mutate: .venv/.test-ready ## break every comparison in the checks: does a test notice? (M="chapter05 forms")
	$(BIN)/python -m tools.mutate_checks $(M)

# Triton is 1 GB and optional: its environment sees the packages of .venv and adds nothing else to it
.venv-triton/.ready: requirements-triton.txt .venv/.test-ready
	test -x .venv-triton/bin/python || $(BIN)/python -m venv .venv-triton
	.venv-triton/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-triton.txt
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' > "$$(.venv-triton/bin/python -c 'import site; print(site.getsitepackages()[0])')/course.pth"
	@touch $@

test-triton: .venv-triton/.ready ## the optional Triton kernel, in Triton's interpreter on a CPU
	TRITON_INTERPRET=1 .venv-triton/bin/python -m pytest -q -p no:cacheprovider --doctest-modules tests/triton course_lib/attention/triton_packed.py

bench: .venv/.test-ready ## everything beside its peers; QUICK=1: under two minutes; WRITE=1: for the book
	$(BIN)/python -m tools.bench $(if $(QUICK),--quick) $(if $(WRITE),--write)

systems: .venv/.test-ready ## the table of systems anew, from the libraries beside us
	$(BIN)/python -m tools.systems --write

clean: ## remove what the builds made (not the environment)
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
