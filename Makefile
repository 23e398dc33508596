# make demo                 build, install, import a graph many times the memory limit, run three algorithms over it
# make demo GRAPH=file      the same over your own edge list
# make test                 everything that decides whether main is good
# make bench                side by side with in-memory engines (minutes; SCALE=22)

VENV    := .venv
PYTHON  := $(VENV)/bin/python
OUTCORE := target/release/outcore
GRAPH   ?=
# Your own graph gets more memory than the generated one, whose image is eight times its limit.
MEMORY  ?= $(if $(GRAPH),1GiB,24MiB)
SCALE   ?= 22
FUZZ_SECONDS ?= 60
# A graph of few vertices and many edges: the image is many times what the state of an algorithm needs.
DEMO_GRAPH := kronecker --scale 18 --edge-factor 840

export CARGO_TARGET_DIR := $(CURDIR)/target
export OUTCORE_DATA ?= $(abspath ../shared/data)

.PHONY: build install demo test test-rust test-python test-docs tidy fuzz bench clean

build:
	cargo build --release --locked --package outcore-cli

$(VENV)/bin/pip:
	python3 -m venv $(VENV)

install: build $(VENV)/bin/pip
	$(VENV)/bin/pip install --quiet --disable-pip-version-check .

demo: install
	bash bench/demo.sh $(OUTCORE) $(PYTHON) $(MEMORY) "$(GRAPH)" "$(DEMO_GRAPH)"

test: tidy test-rust test-python test-docs fuzz

tidy:
	cargo fmt --all --check
	cargo xtask tidy
	cargo clippy --release --locked --workspace --all-targets -- --deny warnings

test-rust:
	cargo test --release --locked --workspace --exclude outcore-python

test-python: install
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement python/tests/requirements.txt
	OUTCORE=$(abspath $(OUTCORE)) $(PYTHON) -m pytest -q python/tests

# The examples of the documentation, run as a reader would.
test-docs: install
	OUTCORE=$(abspath $(OUTCORE)) $(PYTHON) docs/run_examples.py README.md docs

fuzz:
	cargo run --release --locked --quiet --package outcore-fuzz -- replay
	cargo run --release --locked --quiet --package outcore-fuzz -- fresh $(FUZZ_SECONDS)

bench: install
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement bench/requirements.txt
	$(PYTHON) bench/compare.py --outcore $(abspath $(OUTCORE)) --scale $(SCALE) $(if $(GAP),--gap $(GAP))

clean:
	rm -rf target $(VENV)
