# What a developer types. `make demo` and `make test` alone do all the set-up they need.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

SWIFT ?= swift
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=

# Warnings in our own targets are errors, in every build made from here. One set of flags for all of them, so that
# `make demo`, `make test` and `make lint` share one debug build.
export DATALESS_WARNINGS_AS_ERRORS := 1

# Names of files in the executable (the C and C++ of packages has some, in messages and in names of lambdas) do not say where
# it was built, on which its bytes would depend.
RELEASE_FLAGS := -c release --static-swift-stdlib -Xlinker --gc-sections -Xlinker -z -Xlinker relro -Xcc -ffile-prefix-map=$(CURDIR)=. \
  -Xcxx -ffile-prefix-map=$(CURDIR)=. -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=.
NAMES ?= 100000000
RELEASE_DIR := .build/release-static
RELEASE_BINARY := $(RELEASE_DIR)/dataless

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1@/p' $(MAKEFILE_LIST) | column -t -s @

.PHONY: bootstrap
bootstrap: ## install what building, the demo and the tests need
	@scripts/bootstrap

.PHONY: build
build: bootstrap ## debug build
	@$(SWIFT) build

.PHONY: release
release: bootstrap ## stripped release executable with the Swift library static
	@$(SWIFT) build $(RELEASE_FLAGS) --product dataless
	@mkdir -p $(RELEASE_DIR)
	@strip -o $(RELEASE_BINARY) "$$($(SWIFT) build $(RELEASE_FLAGS) --show-bin-path)/dataless"
	@echo "$(RELEASE_BINARY)"

.PHONY: release-check
release-check: release ## that the release executable keeps to its size and its start-up time
	@scripts/release-check $(RELEASE_BINARY)

# What programs link with to set their policy (docs/POLICY.md): C11, nothing but the C library.
LIBRARY_DIR := .build/libcdataless
LIBRARY_PARTS := cdataless storage materialize materialize_result coordinate coordinate_answer coordinate_volume present
LIBRARY_OBJECTS := $(LIBRARY_PARTS:%=$(LIBRARY_DIR)/%.o)
LIBRARY_VERSION := 1.0.0
LIBRARY_FLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror -pedantic -fPIC -fvisibility=hidden -ISources/CDataless/include
VERSION = $(shell sed -n 's/.*current = "\(.*\)"/\1/p' Sources/DatalessControl/Version.swift)
CC ?= cc
AR ?= ar

.PHONY: libcdataless
libcdataless: ## the C library for programs under test, static and shared
	@mkdir -p $(LIBRARY_DIR)
	@for part in $(LIBRARY_PARTS); do \
	  $(CC) $(CFLAGS) $(LIBRARY_FLAGS) -pthread -c -o $(LIBRARY_DIR)/$$part.o Sources/CDataless/$$part.c || exit 1; done
	@rm -f $(LIBRARY_DIR)/libcdataless.a
	@$(AR) rcs $(LIBRARY_DIR)/libcdataless.a $(LIBRARY_OBJECTS)
	@# nodelete: threads that used it run its code when they end.
	@$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -o $(LIBRARY_DIR)/libcdataless.so.$(LIBRARY_VERSION) \
	  -Wl,-soname,libcdataless.so.1 -Wl,--version-script,Sources/CDataless/libcdataless.map -Wl,-z,nodelete \
	  -Wl,-z,defs $(LIBRARY_OBJECTS)
	@ln -sf libcdataless.so.$(LIBRARY_VERSION) $(LIBRARY_DIR)/libcdataless.so.1
	@ln -sf libcdataless.so.1 $(LIBRARY_DIR)/libcdataless.so
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' Sources/CDataless/cdataless.pc.in \
	  > $(LIBRARY_DIR)/cdataless.pc
	@echo "$(LIBRARY_DIR)"

# Needs neither Swift nor libfuse: for a container that only builds the program under test.
.PHONY: install-libcdataless
install-libcdataless: libcdataless ## install the C library, its header and man pages under PREFIX
	@install -d "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(PREFIX)/include" "$(DESTDIR)$(PREFIX)/share/man/man3"
	@install -m 0644 $(LIBRARY_DIR)/libcdataless.a "$(DESTDIR)$(LIBDIR)/"
	@install -m 0755 $(LIBRARY_DIR)/libcdataless.so.$(LIBRARY_VERSION) "$(DESTDIR)$(LIBDIR)/"
	@cp -P $(LIBRARY_DIR)/libcdataless.so.1 $(LIBRARY_DIR)/libcdataless.so "$(DESTDIR)$(LIBDIR)/"
	@install -m 0644 $(LIBRARY_DIR)/cdataless.pc "$(DESTDIR)$(LIBDIR)/pkgconfig/"
	@install -m 0644 Sources/CDataless/include/cdataless.h "$(DESTDIR)$(PREFIX)/include/"
	@install -m 0644 Sources/CDataless/man/*.3 "$(DESTDIR)$(PREFIX)/share/man/man3/"
	@scripts/package/loader "$(DESTDIR)"
	@echo "$(DESTDIR)$(LIBDIR)/libcdataless.so.$(LIBRARY_VERSION)"

# Tests of the test libraries need an executable: DATALESS=EXE, else a debug build's.
TESTLIB_DATALESS = $(or $(DATALESS),.build/debug/dataless)

.PHONY: testlib-executable
testlib-executable:
ifeq ($(strip $(DATALESS)),)
	@scripts/bootstrap --fuzz
	@$(SWIFT) build --product dataless
endif

.PHONY: python
python: ## the Python test library: wheel and source distribution in .build/python/dist (PyPI)
	@scripts/python/build

.PHONY: python-check
python-check: testlib-executable ## types and tests of the Python test library, in each Python from 3.9 on (DATALESS=EXE, PyPI)
	@DATALESS=$(TESTLIB_DATALESS) scripts/python/test $(PYTHON_FLAGS)

.PHONY: python-stress
python-stress: testlib-executable ## 50 pytest tests in 8 processes, ROUNDS=5 times, some killed: no leak, no flake (DATALESS=EXE)
	@DATALESS=$(TESTLIB_DATALESS) scripts/python/stress $(or $(ROUNDS),5)

.PHONY: client-check
client-check: testlib-executable ## a client generated from docs/openapi.yaml compiles and works (DATALESS=EXE, PyPI)
	@DATALESS=$(TESTLIB_DATALESS) scripts/python/generated-client

.PHONY: shell-check
shell-check: testlib-executable ## tests of the shell test library, in dash and bash (DATALESS=EXE)
	@DATALESS=$(TESTLIB_DATALESS) Tests/Shell/run

.PHONY: package-check
package-check: testlib-executable ## tests of what is installed beside the executable: units, helper of mount(8), install (DATALESS=EXE)
	@DATALESS=$(TESTLIB_DATALESS) Tests/Package/run

.PHONY: examples
examples: testlib-executable ## one test in Python, shell and C (EXAMPLES=swift: in Swift): red for a file manager that reads too much, green when mended (PyPI)
	@DATALESS=$(TESTLIB_DATALESS) Tests/Examples/run $(EXAMPLES)

.PHONY: demo
demo: bootstrap ## the main job on a real tree (TREE=/usr/share/doc)
	@$(SWIFT) build --product dataless
	@DATALESS="$$($(SWIFT) build --show-bin-path)/dataless" scripts/demo $(TREE)

.PHONY: test
test: bootstrap ## all tests, real mounts included, in several processes (TEST_FLAGS="--filter REGEX": some, in one)
	@$(SWIFT) build --build-tests
ifeq ($(strip $(TEST_FLAGS)),)
	@scripts/test
else
	@$(SWIFT) test --skip-build --disable-xctest --no-parallel $(TEST_FLAGS)
endif

.PHONY: faults
faults: bootstrap ## which test notices which planted fault (hours; FAULT_FLAGS="--only ID,ID")
	@scripts/faults/run $(FAULT_FLAGS)

.PHONY: stacks-check
stacks-check: bootstrap ## stacks of blocked programs against gdb's, address by address (needs gdb)
	@command -v gdb >/dev/null || { echo "stacks-check: gdb is not installed (apt-get install gdb)" >&2; exit 2; }
	@DATALESS_GDB=$$(command -v gdb) $(SWIFT) test --disable-xctest --no-parallel --filter GdbComparisonTests

# On a directory (POSIX_DIR=/mnt), or on a volume: files that were there are dataless, resident or dirty before each test.
.PHONY: posix-suite
posix-suite: ## a POSIX conformance suite: POSIX_DIR=/tmp, or DATALESS=EXE POSIX_OVER=dataless (a minute)
	@scripts/posix/run --quiet $(if $(DATALESS),--dataless $(DATALESS) --over $(or $(POSIX_OVER),dataless),$(or $(POSIX_DIR),/tmp)) $(POSIX_FLAGS)

.PHONY: exercise
exercise: ## a million random operations each on content and names against models: EXERCISE_DIR=/tmp, or DATALESS=EXE
	@scripts/exercise/run $(if $(DATALESS),--dataless $(DATALESS),$(or $(EXERCISE_DIR),/tmp)) $(EXERCISE_FLAGS)

.PHONY: programs
programs: ## git, SQLite, borg, rsync, fio, stress-ng and others on PROGRAMS_DIR=/tmp, or on a volume of DATALESS=EXE
	@scripts/exercise/programs $(if $(DATALESS),--dataless $(DATALESS),$(or $(PROGRAMS_DIR),/tmp)) $(PROGRAMS_FLAGS)

.PHONY: adversary
adversary: ## a killed daemon, a store that hangs, signals, mappings, a second user: DATALESS=EXE (some minutes)
	@scripts/exercise/adversary --dataless $(or $(DATALESS),.build/debug/dataless) $(ADVERSARY_FLAGS)

.PHONY: crash-check
crash-check: ## losses of power at each flush of a disk, of what CRASH_FLAGS names (root; default: SQLite on ext4)
	@scripts/crash/run $(or $(CRASH_FLAGS),--example sqlite)

.PHONY: names
names: bootstrap ## 100 million names that come and go, and what is left of them (some 20 minutes; NAMES=100000000)
	@DATALESS_NAMES=$(NAMES) $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build-names --disable-xctest \
	  --filter ManyNamesTests

STORIES ?= 1000-3000
.PHONY: stories
stories: bootstrap ## random stories of calls, changes of SOURCE, kills and mounts of a kept volume (STORIES=1000-3000: seeds)
	@DATALESS_TEST_SEED=$(STORIES) $(SWIFT) test --disable-xctest --filter KeptHistoryTests

STEPS ?= 1000000
.PHONY: coordination-model
coordination-model: bootstrap ## a million random steps of coordinated accesses beside a model (STEPS=1000000; DATALESS_TEST_SEED)
	@DATALESS_COORDINATION_STEPS=$(STEPS) $(SWIFT) test --disable-xctest --no-parallel --filter AccessOrderModelTests

.PHONY: fuzz
fuzz: bootstrap ## generated input for all that reads bytes of others (FUZZ_SECONDS=20 for each of 28 runs, FUZZ_SEED, FUZZ_ONLY)
	@scripts/fuzz/run

.PHONY: fuzz-api
fuzz-api: bootstrap ## generated requests against docs/openapi.yaml and a real volume (FUZZ_SEED=1 FUZZ_SECONDS=60)
	@scripts/bootstrap --fuzz
	@$(SWIFT) build --product dataless
	@DATALESS="$$($(SWIFT) build --show-bin-path)/dataless" scripts/fuzz-api/run

.PHONY: html-check
html-check: release ## HTML reports in a headless Chromium: shown, clicked, filtered; screenshots in .build/html-check (a minute)
	@scripts/bootstrap --html
	@scripts/html-check/run --dataless $(RELEASE_BINARY) $(HTML_FLAGS)

.PHONY: lint
lint: bootstrap ## formatting, shell syntax, warnings as errors
	@scripts/lint

.PHONY: bench
bench: release ## all measurements (minutes), as a table and JSON in bench-results/
	@scripts/bootstrap --bench
	@scripts/bench/bench --dataless $(RELEASE_BINARY) $(BENCH_FLAGS)

.PHONY: bench-quick
bench-quick: release ## the same with fewer pairs and smaller trees (about a minute)
	@scripts/bootstrap --bench
	@scripts/bench/bench --quick --dataless $(RELEASE_BINARY) $(BENCH_FLAGS)

.PHONY: scenarios
scenarios: release ## real tools against the cases of docs/TOOLS.md (SCENARIO_FLAGS="--only S5 --install")
	@scripts/scenarios/run --dataless $(RELEASE_BINARY) $(SCENARIO_FLAGS)

.PHONY: ci-example
ci-example: release ## the CI job of README.md in a clean Debian (root, mmdebstrap): red, and green once the tool is mended
	@scripts/ci-example/run --dataless $(RELEASE_BINARY)

.PHONY: culprits
culprits: release ## that `run` names the line that makes a main thread wait, in programs of eight languages (a minute)
	@scripts/culprits/run --dataless $(RELEASE_BINARY)

.PHONY: survey
survey: release ## some 120 tools of Debian on one tree: docs/SURVEY.md, docs/survey.html (10 minutes; TOOLS="tar rsync")
	@scripts/bootstrap --survey
	@scripts/survey/run --install --dataless $(RELEASE_BINARY) $(TOOLS)

.PHONY: survey-check
survey-check: ## that strace of the same commands on the bare tree says what docs/survey.json says (TOOLS="tar rsync")
	@scripts/bootstrap --survey
	@scripts/survey/check --install $(TOOLS)

.PHONY: docs-check
docs-check: testlib-executable ## the commands that README.md and docs/*.md show, run; the options of the others looked at (DATALESS=EXE)
	@scripts/docs/commands --dataless $(TESTLIB_DATALESS)

include scripts/package/install.mk

.PHONY: dist
dist: release ## a release archive with its checksum, in .build/dist
	@scripts/bootstrap --package
	@scripts/package/tarball $(RELEASE_BINARY)

.PHONY: ci-check
ci-check: release ## the steps of action.yml as a runner does them, with a release of this source and with hostile inputs
	@scripts/bootstrap --package
	@scripts/ci/check --dataless $(RELEASE_BINARY)

.PHONY: deb
deb: release ## Debian packages of this machine's Debian, in .build/deb, looked at with lintian
	@scripts/bootstrap --package
	@DATALESS_BINARY=$(RELEASE_BINARY) scripts/package/deb

.PHONY: deb-check
deb-check: deb ## installs, uses and purges these packages in a clean Debian (root, mmdebstrap)
	@scripts/package/check .build/deb

.PHONY: deb-in
deb-in: ## the packages built in a clean root of SUITE=trixie, then installed, used and purged in another (root, mmdebstrap)
	@scripts/package/deb-in $(or $(SUITE),trixie)
	@scripts/package/check .build/deb-$(or $(SUITE),trixie) $(or $(SUITE),trixie)

.PHONY: kernels
kernels: deb ## these packages used under the kernels of Debian 12 and 13, in qemu (root, mmdebstrap; docs/KERNELS.md)
	@scripts/kernels/run .build/deb

.PHONY: clean
clean: ## remove what was built and measured
	@rm -rf .build .build-faults bench-results
