# The project's commands. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements/constraints.txt
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo table-demo studio studio-soak test lint types bench bench-tables bench-frontier bench-packages soak fuzz kills dist-check licences study-all study-winners docs docs-serve clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## make the virtual environment .venv with everything the project uses

$(STAMP): pyproject.toml setup.py requirements/constraints.txt $(wildcard src/neuroplastic/fuzzy/*.c src/neuroplastic/fuzzy/*.h)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch numpy setuptools wheel
	$(PIP) --no-build-isolation --editable '.[all,dev,docs]'
	$(PIP) --no-deps pyfuzzylite fuzzylab  # tests only: metadata asks for an older numpy, both run with ours
	touch $@

table-demo: setup  ## train on a small table of data and print the rules
	$(BIN)/python examples/iris.py

demo: setup  ## show the trained agent in the box, then train one on pistol practice, film it, print its rules (under 8 minutes)
	$(BIN)/python examples/pistol_practice.py

studio: setup  ## watch an agent think, turn rules, fit tables, in a browser on this machine
	$(BIN)/neuroplastic studio

# In a new clone, type checks keep one core busy for most of a minute: they run beside the tests, and are told after them.
# Three processes for two cores: one of them mostly waits, for engines, servers, browsers and killed programs.
# Bytecode is kept even where the environment says not to: hundreds of processes are started, and would compile it all.
test: setup lint  ## linting, type checks and tests (under 10 minutes on 2 cores)
	@$(BIN)/mypy > $(VENV)/types.txt 2>&1 & types=$$!; \
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -m 'not slow' -n 3; tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/types.txt; exit $$((tests + types))

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

soak: setup  ## the long tests, hours: kills, thousands of resets, learning over many seeds (PART=tests/learn: those alone)
	$(BIN)/python -m pytest -m slow --timeout 3600 --durations=0 --durations-min=1 $(PART)

studio-soak: setup  ## half an hour of the studio in browsers: frames a second, slider answers, memory over time
	$(BIN)/python -m tests.studio.soak --minutes 30

fuzz: setup  ## damage 20,000 files of every kind that is read, and open them (FILES, SEED, JOBS at once: 2)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --files $(or $(FILES),20000) --jobs $(or $(JOBS),2) $(if $(SEED),--seed $(SEED))

kills: setup  ## kill every long command at 50 random moments; what is finished stays, and ends are the same to the bit (KILLS)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.kills --kills $(or $(KILLS),50)

dist-check: setup  ## build sdist and wheel, install them without compiler and extras, use them (PYTHONS: others)
	$(BIN)/python -m tests.supply.installing $(PYTHONS)

licences: setup  ## the licences of all that the package needs, directly or through others
	$(BIN)/python -m tests.supply.licences

bench: setup bench-packages  ## the speed table: ratios against peers and limits, side by side in one process
	$(BIN)/python -m benchmarks

bench-tables: setup bench-packages  ## accuracy on tables of data beside peers (hours; goes on where it stopped)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks tables

bench-frontier: setup bench-packages  ## accuracy against size beside other rule learners (hours; goes on where it stopped)
	$(PIP) --no-build-isolation --no-deps --requirement requirements/bench-rules.txt
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks frontier

bench-packages: setup
	$(PIP) --no-build-isolation --requirement requirements/bench.txt
	$(PIP) --no-deps --requirement requirements/bench-data.txt

TASKS ?= BP BR PP HTL DTC TC GH
TRIALS ?= 40
# The published trials of rules in GH are of when `short` saw transitions one way.
study-all: setup  ## the paper's search and ours for all tasks and both agents, TRIALS=40 each (days on 2 cores; goes on from the published trials)
	test -e doom_studies.db || cp docs/data/doom_studies.db doom_studies.db
	for task in $(TASKS); do for agent in dnn nfn; do \
	  $(BIN)/neuroplastic study run --task $$task --agent $$agent --trials $(TRIALS) --preset tuned --episode-seeds anew \
	    --games 5 --storage sqlite:///doom_studies.db || exit 1; \
	  case $$task in HTL|TC|GH) small="--hidden-channels 16 --things 32";; *) small="--channels 16,32,32";; esac; \
	  case $$task-$$agent in GH-nfn) small="$$small --mirror-agreement 0";; esac; \
	  $(BIN)/neuroplastic study run --task $$task --agent $$agent --trials $(TRIALS) --preset short --space short \
	    --epochs 10 --steps-per-epoch 500 --episodes 25 --episode-seeds anew --prune $$small \
	    --games 5 --storage sqlite:///doom_studies.db || exit 1; \
	  $(BIN)/neuroplastic study run --task $$task --agent $$agent --trials $(TRIALS) --preset taught --space ours \
	    --epochs 10 --steps-per-epoch 500 --episodes 25 --episode-seeds anew \
	    --games 5 --storage sqlite:///doom_studies.db || exit 1; \
	done; done

study-winners: setup  ## the best trials of the paper's space and of short, learned anew with five seeds (a day on 2 cores; goes on)
	test -e doom_studies.db || cp docs/data/doom_studies.db doom_studies.db
	states=$$($(BIN)/neuroplastic study status --storage sqlite:///doom_studies.db) || exit 1; \
	for task in $(TASKS); do for study in $$task-dnn $$task-nfn $$task-dnn-short $$task-nfn-short; do \
	  if echo "$$states" | grep -q "^$$study: [1-9]"; then \
	    $(BIN)/neuroplastic study confirm $$study --storage sqlite:///doom_studies.db || exit 1; \
	  else echo "$$study has no finished trial yet; passed over"; fi; \
	done; done

docs: setup  ## build the documentation as a site into site/; a broken link or reference fails
	$(BIN)/mkdocs build

docs-serve: setup  ## show the documentation on 127.0.0.1:8000 while it is written
	$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .hypothesis
