# On a fresh machine with Python 3.11 or newer, start with `make demo` and `make test`.
.NOTPARALLEL:
.PHONY: help demo test lint suite kernel test-slow kill-test test-kernels test-lowest test-python test-extras extras coverage fuzz options bench benchmark results search-results search-choices portfolio reproduce docs figure types dist clean

VENV := .venv
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
OUT ?= demo
DATA ?= $(or $(PROXEMBED_DATA),../shared/data)
BENCH ?= startup tmc2007 reuters_size sparse_large million_rows read_arff read_csv parquet comparison graph_methods manifold lfda propagation mope_reuters mesd bsml ssdr_mc defc blocks wide_blocks kernel_blocks kernels landmarks outputs dask_workers
export SCIPY_ARRAY_API = 1

help:
	@echo "make demo    find the best embedding of the built-in digits (verdict within 20 seconds of one core); writes the folder $(OUT)/"
	@echo "make test    ruff, mypy, the import contract and the tests, with their CPU seconds at the end"
	@echo "make test-slow  tests/slow, all products of test parameters, the tests under three configurations of scikit-learn, planted faults that they must catch, and some tests under a second OpenBLAS kernel"
	@echo "make kill-test  compare a search that is killed with -9 at KILLS=20 moments and resumed with an uninterrupted one"
	@echo "make test-kernels  the tests under every other OpenBLAS kernel that runs on this machine"
	@echo "make test-lowest  the tests with the lowest dependencies that pyproject.toml allows, in .venv-lowest"
	@echo "make test-python PYTHON=python3.13  the tests under another interpreter, in .venv-3.13"
	@echo "make test-extras  the tests of AnnData files, mlflow and skore, which dev leaves out, in .venv-extras"
	@echo "make coverage  line coverage of the tests of make test, and its page in docs/results; faster from Python 3.12 on"
	@echo "make fuzz    odd inputs for every estimator, and odd tables, frames and files, for SECONDS=300, under CONFIG=pandas or another configuration; CASE=\"...\" repeats one, SEED= repeats all"
	@echo "make options  the signatures, Parameters and options of the program that follow from the declarations of options"
	@echo "make bench   speed and memory against named rivals (minutes); BENCH=startup selects one"
	@echo "make results  the comparisons of docs/results/ on real data (PROXEMBED_DATA names the folder)"
	@echo "make search-results  searches on ten real data sets, into docs/results/search/; SETS=scene selects one"
	@echo "make search-choices  the quality of its choices: ten sets, three splits, two goals, two budgets, into docs/results/search/ (hours)"
	@echo "make portfolio  the configurations with which the strategy auto starts: the best on ten sets (half an hour)"
	@echo "make benchmark  the missing results of the benchmark, and its page; METHODS='OPLS \"MESD(LFDA)\"' selects (hours)"
	@echo "make reproduce  experiments of papers, into docs/results/NAME/ (over an hour); NAMES= selects"
	@echo "make docs    the documentation as HTML in docs/_build; runs its examples and checks its local links (minutes the first time)"
	@echo "make figure  the figures of README and docs: a map, and the page of a search of examples/tags.csv in headless Chromium"
	@echo "make types   mypy in strict mode on the package and tests/test_types.py"
	@echo "make dist    wheel and sdist in dist/, with checks: metadata, size, the wheel in an empty environment, sdist tests"
	@echo "make clean   remove caches and results, but not .venv"
	@echo "PYTHON=/path/to/python3.12 names the interpreter that .venv is made from"

demo: $(VENV)/.ready
	$(VENV)/bin/proxembed demo -o $(OUT)

test: $(VENV)/.ready-dev
	+@$(VENV)/bin/python tests/cpu_seconds.py $(MAKE) --no-print-directory lint suite

lint: $(VENV)/.ready-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/mypy
	$(VENV)/bin/repo-review --show err .

# Each worker would rewrite the assertions of all files, for words that only failures need: these run once more with them.
# The files are compiled once, not by each worker and each process that a test begins.
suite: $(VENV)/.ready-dev
	$(VENV)/bin/python -m compileall -q src tests papers benchmarks
	export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1; \
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile --assert=plain -q || { \
	    $(VENV)/bin/python -m pytest -q --last-failed --last-failed-no-failures none; exit 1; }

test-slow: $(VENV)/.ready-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2 -q tests/slow
	TEST_PRODUCTS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2 --dist loadfile -q
	for each in routing pandas polars; do \
	    PROXEMBED_SKLEARN_CONFIG=$$each OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	        $(VENV)/bin/python -m pytest -n 2 -q tests || exit 1; \
	done
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python tests/mutants.py
	$(MAKE) kernel

KILLS ?= 20
kill-test: $(VENV)/.ready-dev
	KILLS=$(KILLS) KILL_SHUFFLES=19 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -q tests/slow/unit/workflow/test_resume.py

# What runs in processes that the tests start (workers, the program itself) is not counted.
# From Python 3.12 on coverage uses sys.monitoring, which slows the tests less than the tracer of older versions.
coverage: $(VENV)/.ready-dev
	COVERAGE_CORE=$$($(VENV)/bin/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	    $(VENV)/bin/python -m pytest -n 2 -q --cov=proxembed --cov-report=
	$(VENV)/bin/coverage json -q --fail-under=0 -o .coverage_lines.json
	$(VENV)/bin/python tests/rooms_covered.py .coverage_lines.json docs/results/coverage.md
	$(VENV)/bin/coverage report --format=total

SECONDS ?= 300
fuzz: $(VENV)/.ready-dev
	PYTHONPATH=src:tests $(if $(CONFIG),PROXEMBED_SKLEARN_CONFIG=$(CONFIG)) $(VENV)/bin/python -m contracts.fuzz \
	    $(if $(CASE),"$(CASE)",--seconds $(SECONDS) $(if $(SEED),--seed $(SEED)))

options: $(VENV)/.ready-dev
	PYTHONPATH=src:tests $(VENV)/bin/python tests/option_blocks.py

# Numbers differ in their last bits from processor to processor: tests must not hang on them.
kernel: $(VENV)/.ready-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python tests/kernels.py part

test-kernels: $(VENV)/.ready-dev
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python tests/kernels.py whole

# The oldest releases have wheels for the oldest Pythons only.
test-lowest:
	$(MAKE) suite VENV=.venv-lowest CONSTRAINTS=.venv-lowest/lower-bounds.txt \
	    PYTHON="$(if $(filter file,$(origin PYTHON)),python3.11 python3.12 python3,$(PYTHON))"

test-python:
	version=$$($(firstword $(PYTHON)) -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	    $(MAKE) suite VENV=.venv-$$version

# Tests that need packages which dev leaves out: anndata holds pandas below 3, mlflow and skore are large.
test-extras:
	$(MAKE) extras VENV=.venv-extras

extras: $(VENV)/.ready-extras
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2 --dist loadfile -q \
	    tests/unit/data/test_h5ad.py tests/unit/workflow/test_tracking.py tests/slow/unit/workflow/test_tracking.py

bench: $(VENV)/.ready-dev
	@set -e; for question in $(BENCH); do $(VENV)/bin/python bench/$$question.py; done

COMPARE = $(VENV)/bin/proxembed compare
results: $(VENV)/.ready
	$(COMPARE) $(DATA)/reuters.npz -m opls,mddm,cca,hsl -k 2,5,10,30,60,90 --folds 2 --standard-split -o docs/results/reuters
	for set in scene emotions yeast; do \
	    $(COMPARE) $(DATA)/$$set.npz -m opls,kernelized -k 2,6 --folds 3 --standard-split -o docs/results/$$set || exit 1; \
	done

SETS ?= emotions scene yeast enron birds corel5k tmc2007-500 reuters dna satimage
search-choices: $(VENV)/.ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PROXEMBED_DATA=$(DATA) $(VENV)/bin/python docs/results/choices.py run

portfolio: $(VENV)/.ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PROXEMBED_DATA=$(DATA) $(VENV)/bin/python bench/portfolio.py

# The budget counts work, not seconds, so that load does not change results; the docs extra brings UMAP and t-SNE as rivals.
search-results: $(VENV)/.ready-docs
	for set in $(SETS); do \
	    case $$set in reuters|tmc2007-500) work=450;; *) work=150;; esac; \
	    $(VENV)/bin/proxembed search $(DATA)/$$set.npz --max-work $$work -j 1 -o docs/results/search/$$set || exit 1; \
	done
	$(VENV)/bin/python docs/results/verdicts.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python docs/results/search_rivals.py $(DATA)
	$(VENV)/bin/python docs/results/readme_tables.py

NAMES ?= mesd-mope-reuters mesd-mope-reuters-partly-labelled mesd-mope-features bayesian-multilabel defc ssdr-mc mvmd
reproduce: $(VENV)/.ready
	for name in $(NAMES); do \
	    case $$name in mesd-mope-features|*-partly-labelled) seed=1;; *) seed=0;; esac; \
	    $(VENV)/bin/python -m papers $$name --seed $$seed --data $(DATA) -j 2 -o docs/results/$$name || exit 1; \
	done
	PYTHONPATH=. $(VENV)/bin/python docs/results/claims.py

# Sets whose files or network are missing are skipped, with the reason.
BENCHMARK = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV)/bin/python -m benchmarks
HAVE = $(if $(wildcard $(DATA)),--data $(DATA))
benchmark: $(VENV)/.ready-dev
	$(BENCHMARK) splits $(HAVE)
	$(BENCHMARK) run $(METHODS) $(HAVE) -j 2
	$(BENCHMARK) page

docs: $(VENV)/.ready-docs
	$(VENV)/bin/sphinx-build -q -W --keep-going -j 2 -b html docs docs/_build
	$(VENV)/bin/python docs/_ext/local_links.py docs/_build

figure: $(VENV)/.ready
	$(VENV)/bin/python docs/figures/held_out.py docs/figures/held_out.png
	$(VENV)/bin/proxembed search examples/tags.csv --labels tags --goal neighbours --max-work 15
	$(VENV)/bin/python docs/figures/result_page.py tags-search/index.html docs/figures/tags_page.png
	$(VENV)/bin/python docs/figures/result_page.py tags-search/index.html docs/figures/tags_page_parts.png --callouts

types: $(VENV)/.ready-dev
	$(VENV)/bin/mypy

# The wheel is installed where nothing else is, and runs the demo; the sdist's own tests run against it.
dist: $(VENV)/bin/python
	rm -rf dist
	$(VENV)/bin/python -m pip install --quiet "build>=1.2" "twine>=6.1"
	$(VENV)/bin/python -m build --outdir dist
	$(VENV)/bin/python -m twine check --strict dist/*
	$(VENV)/bin/python tests/built.py dist

clean:
	rm -rf $(OUT) tags-search digits-search build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache .coverage*
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is made once; a stamp older than pyproject.toml installs again.
$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet -e '.[data]'
	@touch $@

$(VENV)/.ready-dev: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet -e '.[dev]' $(CONSTRAINTS:%=-c %)
	@touch $(VENV)/.ready $@

$(VENV)/.ready-extras: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet -e '.[dev,anndata,tracking]'
	@touch $(VENV)/.ready $(VENV)/.ready-dev $@

$(VENV)/.ready-docs: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet -e '.[docs]'
	@touch $(VENV)/.ready $@

# Every "name>=version" of pyproject.toml as "name==version": a bound that cannot be installed is an error of pip.
$(VENV)/lower-bounds.txt: pyproject.toml | $(VENV)/bin/python
	grep -oE '"[A-Za-z0-9_-]+>=[0-9.]+"' pyproject.toml | tr -d '"' | sed 's/>=/==/' > $@

$(VENV)/bin/python:
	@for python in $(PYTHON); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || { \
	        echo "$$python has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
	    echo "making $(VENV) with $$("$$python" --version)"; \
	    exec "$$python" -m venv --clear $(VENV); \
	done; \
	echo "proxembed needs Python 3.11 or newer; looked for: $(PYTHON)" >&2; \
	echo "install one, or name it: make PYTHON=/path/to/python3.12 test" >&2; \
	exit 1
