# SPDX-License-Identifier: BSD-3-Clause
# The front door. Everything is made inside this directory: build/ and .venv*/ hold what
# is built and fetched. The steps themselves are small scripts in tools/.
#
#   make PYTHON=python3.12 VENV=.venv-312 test    another interpreter beside the first

PYTHON ?= python3
VENV ?= .venv
export PYTHON VENV
python := $(VENV)/bin/python

# Directories too, so that a removed file is noticed.
package := CMakeLists.txt pyproject.toml README.md LICENSE tools/man_page.py \
	$(shell find cmake include src cli docs/man python/ext python/roastcoffea \
	python/coffea_metrics -not -path '*__pycache__*')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # each step uses all cores by itself
.PHONY: help demo build test test-long bench lint asan clean

demo: build ## write sample files, run the example analysis, print what was measured
	@$(python) examples/run_example.py build/samples

build: $(VENV)/.installed ## make .venv with coffea and install roastcoffea into it

test: build | need-test ## run all C and Python tests (minutes)
	@tools/ctest.sh test
	@tools/ctest.sh noprocfs
	@$(python) tools/pytests.py

test-long: build | need-test need-long ## run everything: long tests, valgrind, TSan, fuzzing
	@tools/ctest.sh test
	@tools/ctest.sh noprocfs
	@tools/test_long.sh
	@$(python) bench/advice.py --savings
	@$(python) tools/pytests.py -m ""

asan: $(VENV)/.ready | need-test need-asan ## run C and Python tests under ASan and UBSan
	@tools/asan.sh

bench: | need-build ## compare with roastcoffea 0.1.2 from PyPI (Python 3.12 or 3.13)
	@tools/bench_envs.sh
	@.venv-bench/bin/python bench/run.py --reference .venv-ref/bin/python

lint: $(VENV)/.ready | need-test need-lint ## check format, types and rules; build with gcc and clang
	@tools/lint.sh

clean: ## remove everything that make created
	@rm -rf build dist .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What the system must have; order-only, so that it is looked at every time and never
# makes anything out of date.
need-%:
	@tools/need.sh $*

$(VENV)/.ready: tools/requirements-build.txt tools/requirements-run.txt \
		tools/requirements-dev.txt | need-build
	@tools/venv.sh $(PYTHON) $(VENV) $^

$(VENV)/.installed: $(VENV)/.ready $(package)
	@tools/install.sh $(VENV)
	@touch $@
