# SPDX-License-Identifier: Apache-2.0
# The short commands. Each installs what it needs (Debian, Ubuntu), configures, builds and runs; make help lists them.

PRESET ?= release
PREFIX ?= /usr/local
BUILD := build/$(PRESET)
TILEWALK := $(BUILD)/tilewalk
CONFIGURED := $(BUILD)/configured
JOBS ?= $(shell nproc)
# TESTS chooses tests by a regular expression, CONFIGURE has options of cmake, and TARGETS parts of the build.
TESTS ?=
# LONG=1 runs the tests labelled long as well: hours, where the others take minutes.
LONG ?=
# Statistical suites run one case in four, by turns from commit to commit; all cases run with LONG=1, with TESTS, or with TURN= (empty).
TURN ?= $(if $(LONG)$(TESTS),,$(shell .ci/turn))
CONFIGURE ?=
TARGETS ?= all
DOCS_PYTHON := build/python/bin/python
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)

# The build shows its progress on a terminal; elsewhere it prints only what goes wrong.
run_build = cmake --build $(BUILD) -j $(JOBS) --target $(1) -- \
    $$(if [ -f $(BUILD)/build.ninja ]; then [ -t 2 ] || echo --quiet; else echo -s; fi)
# Switches on option $(1) of cmake, and configures once more only if it was off.
switch_on = grep -q '^$(1):BOOL=ON' $(BUILD)/CMakeCache.txt || { cmake $(BUILD) -D$(1)=ON > $(BUILD)/configure.log 2>&1 \
    || { cat $(BUILD)/configure.log; exit 1; }; }

.DEFAULT_GOAL := help
.PHONY: help demo say_demo commands build test bits kernels benchmarks bench docs install format clean force \
        packages_for_demo packages_for_test packages_for_bench packages_for_ci

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##/make \1:/p' Makefile

demo: say_demo packages_for_demo $(CONFIGURED)  ## price configs/first_book.yaml and print the table
	@[ -x $(TILEWALK) ] || echo "Building the command with $(JOBS) jobs; the first time takes 5 to 6 minutes on 2 cores, less on more" >&2
	@$(call run_build,tilewalk_cli)
	@echo "Pricing configs/first_book.yaml, in which one trade fails on purpose" >&2
	@$(TILEWALK) price configs/first_book.yaml --format table || [ $$? -eq 3 ]

say_demo:
	@echo "make demo: installs the packages that are missing (apt-get, through sudo where you are not root)," >&2
	@echo "builds $(TILEWALK) and prices a book with it" >&2

commands: packages_for_demo $(CONFIGURED)  ## build tilewalk bench and tilewalk verify, programs of their own
	@$(call switch_on,TILEWALK_BENCH)
	@$(call run_build,tilewalk_cli tilewalk_bench_cli tilewalk_verify_cli)

build: packages_for_test $(CONFIGURED)  ## build the library, the command and the tests
	@$(call switch_on,TILEWALK_TESTS)
	@$(call run_build,$(TARGETS))

test: build  ## build and run the tests; TESTS=dates_test runs those whose name has it, LONG=1 the long ones too
	@$(if $(TURN),export TILEWALK_TURN=$(TURN); echo "Statistical suites: quarter $(TURN) of 0 to 3; make test TURN= runs all cases",\
	    unset TILEWALK_TURN); \
	$(if $(TESTS),TILEWALK_SINGLY=1) ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error $(if $(LONG),,-LE '^long$$') \
	    $(if $(TESTS),-R '$(TESTS)',$${LEFT_OUT:+-E "$$LEFT_OUT"})

bits: build  ## write the ledgers of tests/data anew, where figures or pictures are meant to change
	@for area in study tell bench; do TILEWALK_WRITE_BITS=1 $(BUILD)/tests/$${area}_tests --gtest_filter='*of_the_ledger' --gtest_brief=1; done
	@git diff --stat -- tests/data

# Tests that ask for facts of kernels have `kernel` or `compile` in their names, or tests/known_kernels.h fails them.
kernels: ASKED := $(abspath $(BUILD))/kernels_asked
kernels: build  ## write tests/data/kernels.txt anew, after a change to kernels: what each takes of registers and stack
	@rm -f $(ASKED)
	@TILEWALK_KERNELS=$(ASKED) $(MAKE) -s test TESTS='kernel|compile'
	@{ echo '# digest kernels registers stack spill_stores spill_loads warnings inexact contracted words: by make kernels'; \
	    LC_ALL=C sort -u $(ASKED); } > $(ASKED).txt && mv $(ASKED).txt tests/data/kernels.txt
	@git diff --stat -- tests/data/kernels.txt

benchmarks: packages_for_bench $(CONFIGURED)  ## build the benchmarks
	@$(call switch_on,TILEWALK_BENCH)
	@$(call run_build,benchmarks)

bench: benchmarks  ## build and run the benchmarks
	@for program in $(BUILD)/bench/*_bench; do $$program || exit 1; done

docs: packages_for_ci commands  ## build the documentation site, build/docs/html/index.html
	@$(call switch_on,TILEWALK_PYTHON)
	@$(call run_build,tilewalk_python)
	@rm -rf build/docs
	@$(DOCS_PYTHON) -B docs/generate build/docs/source --command $(TILEWALK) --package $(BUILD)/python --jobs $(JOBS)
	@$(DOCS_PYTHON) -B -m sphinx -q -n -W --keep-going -j $(JOBS) -b html -c docs build/docs/source build/docs/html
	@echo build/docs/html/index.html

install: commands  ## install the commands, manual pages, completion and the C++ package under PREFIX (/usr/local)
	@$(call run_build,tilewalk)
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:  ## lay out the sources by .clang-format
	@.ci/check_format.sh --fix

clean:  ## forget everything built
	rm -rf build

packages_for_demo packages_for_test packages_for_bench packages_for_ci:
	@.ci/install_packages.sh $(@:packages_for_%=%)

# The first configuration leaves out tests and benchmarks, so that the demo needs none of their packages.
$(CONFIGURED): CMakePresets.json $(if $(CONFIGURE),force)
	@mkdir -p $(BUILD) && echo "Configuring $(BUILD), then building it" >&2
	@[ -f $(BUILD)/CMakeCache.txt ] && parts= || parts='-DTILEWALK_TESTS=OFF -DTILEWALK_BENCH=OFF'; \
	    cmake --preset $(PRESET) $$parts $(CONFIGURE) > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
	@touch $@
