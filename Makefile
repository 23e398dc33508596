# make demo                 build, install, import a graph many times the memory limit, run three algorithms over it
# make demo GRAPH=file      the same over your own edge list
# make test                 all checks; says every minute which one is running
# make quick                the fast half of it, for whoever changes something
# make docs                 the site of the documentation, in target/docs
# make soak                 Miri and the thread sanitizer over what is unsafe or shared (hours; needs a nightly toolchain)
# make release              wheels, source distribution and all that goes with them, in target/release-files (an hour)
# make bench                side by side with in-memory engines (minutes; SCALE=22)

VENV    := .venv
PYTHON  := $(VENV)/bin/python
OUTCORE := $(VENV)/bin/outcore
PIP     := -m pip --quiet --disable-pip-version-check
GRAPH   ?=
# Your own graph gets more memory than the generated one, whose image is eight times its limit.
MEMORY  ?= $(if $(GRAPH),1GiB,24MiB)
SCALE   ?= 22
FUZZ_SECONDS ?= 60
# A graph of few vertices and many edges: the image is many times what the state of an algorithm needs.
DEMO_GRAPH := kronecker --scale 18 --edge-factor 840

# Tests that take longer than ten seconds, which `make quick` leaves out.
# The slowest come first, for they begin first.
SLOW_TESTS := out_of_core determinism faults import_tables adversarial estimates convergence crash_states \
    import_out_of_core long_searches pagerank_delta programs round_trip scan_statistics
FAST_TESTS := all $(filter-out $(SLOW_TESTS),$(notdir $(basename $(wildcard crates/*/tests/*.rs fuzz/tests/*.rs))))
# Crates that have all of their tests in tests/. `--lib` would compile them once more, for none.
NO_UNIT_TESTS := $(patsubst crates/%/Cargo.toml,outcore-%,$(shell grep -l '^test = false' crates/*/Cargo.toml))
# All that is tested is built once, in the profile `checked` (Cargo.toml): overflows and broken assertions panic. The
# module and the command of that build go into an environment of their own. `make release` tests what ships.
RUST_TESTS := --profile checked --locked --workspace --exclude outcore-python
TEST_VENV := target/checked/venv
TEST_PYTHON := $(TEST_VENV)/bin/python
WITH_COMMAND := OUTCORE=$(abspath $(TEST_VENV)/bin/outcore)
STAGE := bash xtask/stage.sh

export CARGO_TARGET_DIR := $(CURDIR)/target
export OUTCORE_DATA ?= $(abspath ../shared/data)

.PHONY: build install install-checked stubs demo test quick test-rust test-python docs test-docs tidy fuzz soak bench release clean

# The command that stands alone. It shares every dependency with the Python module: see crates/cli/Cargo.toml.
build:
	$(STAGE) "compiling" cargo build --release --locked --package outcore-cli

$(VENV)/bin/pip $(TEST_VENV)/bin/pip:
	python3 -m venv $(@:/bin/pip=)

# Into the virtual environment: the Python package and the command.
install: $(VENV)/bin/pip
	$(STAGE) "compiling and installing" $(PYTHON) $(PIP) install .

install-checked: $(TEST_VENV)/bin/pip
	OUTCORE_PROFILE=checked $(STAGE) "installing the checked build" $(TEST_PYTHON) $(PIP) install .

demo: install
	bash bench/demo.sh $(OUTCORE) $(PYTHON) $(MEMORY) "$(GRAPH)" "$(DEMO_GRAPH)"

test: tidy test-rust test-python test-docs fuzz

quick: tidy
	$(STAGE) "unit tests" cargo test $(RUST_TESTS) $(addprefix --exclude ,$(NO_UNIT_TESTS)) --quiet --lib --bins
	$(STAGE) "fast tests" cargo test $(RUST_TESTS) --quiet $(addprefix --test ,$(sort $(FAST_TESTS))) -- \
		$(foreach name,$(SLOW_TESTS),--skip $(name)::)

tidy:
	cargo fmt --all --check
	cargo xtask tidy
	$(STAGE) "clippy" cargo clippy --profile checked --locked --workspace --all-targets -- --deny warnings
	$(STAGE) "packages" bash xtask/package.sh

test-rust:
	$(STAGE) "compiling tests" cargo test $(RUST_TESTS) --tests --no-run
	$(STAGE) "tests in Rust" python3 xtask/run_tests.py "$(SLOW_TESTS)" cargo test $(RUST_TESTS) --tests
	$(STAGE) "examples of Rust" cargo test $(RUST_TESTS) --doc --quiet

test-python: install-checked
	$(TEST_PYTHON) $(PIP) install --requirement python/tests/requirements.txt
	$(WITH_COMMAND) $(STAGE) "tests in Python" $(TEST_PYTHON) -m pytest -q -n 2 --dist worksteal --durations 20 python/tests

# The site. A warning is an error, and so is a reference to nothing; the notebooks run while it is built.
docs: install-checked
	$(TEST_PYTHON) $(PIP) install --requirement docs/requirements.txt
	$(WITH_COMMAND) $(STAGE) "building the site" $(TEST_PYTHON) -m sphinx -W --keep-going -n -E -q -j auto docs target/docs

# The site, what is made of the declarations, and the examples, run as a reader would.
test-docs: docs
	$(STAGE) "tables of the documentation" $(TEST_PYTHON) docs/tables.py
	$(WITH_COMMAND) $(STAGE) "examples of the documentation" $(TEST_PYTHON) docs/run_examples.py README.md docs

# Built with all packages, as the tests are: for itself, dependencies have other features, and everything is built again.
fuzz:
	$(STAGE) "fuzzing, kept inputs" cargo test $(RUST_TESTS) --test replay
	$(STAGE) "fuzzing, new inputs" target/checked/fuzz fresh $(FUZZ_SECONDS)

soak: install-checked
	$(WITH_COMMAND) OUTCORE_SOAK=1 $(STAGE) "advised limits" $(TEST_PYTHON) -m pytest -q -n 2 python/tests/test_advice.py
	$(STAGE) "soaking" bash xtask/soak.sh

bench: install
	$(PYTHON) $(PIP) install --requirement bench/requirements.txt
	$(PYTHON) bench/compare.py --outcore $(abspath $(OUTCORE)) --scale $(SCALE) $(if $(GAP),--gap $(GAP))

# What a release consists of, tested: docs/releasing.md. STEPS names those that are to be done, if not all.
release:
	$(STAGE) "making a release" python3 python/packaging/release.py $(STEPS)

# The functions of the algorithms and the stub of the package, from the engine's declarations.
stubs: install
	$(PYTHON) -m outcore._stubs python/outcore

clean:
	rm -rf target $(VENV)
