# What a developer types. `make demo` and `make test` alone do all the set-up they need.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=

# Warnings in our own targets are errors, in every build made from here. One set of flags for all of them, so that
# `make demo`, `make test` and `make lint` share one debug build.
export DATALESS_WARNINGS_AS_ERRORS := 1

RELEASE_FLAGS := -c release --static-swift-stdlib -Xlinker --gc-sections
RELEASE_DIR := .build/release-static
RELEASE_BINARY := $(RELEASE_DIR)/dataless

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1@/p' $(firstword $(MAKEFILE_LIST)) | column -t -s @

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

.PHONY: demo
demo: bootstrap ## the main job on a real tree (TREE=/usr/share/doc)
	@$(SWIFT) build --product dataless
	@DATALESS="$$($(SWIFT) build --show-bin-path)/dataless" scripts/demo $(TREE)

.PHONY: test
test: bootstrap ## all tests, real mounts included
	@$(SWIFT) test --disable-xctest --no-parallel $(TEST_FLAGS)

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

.PHONY: install
install: release ## install the release executable under PREFIX (/usr/local)
	@install -D -m 0755 $(RELEASE_BINARY) "$(DESTDIR)$(PREFIX)/bin/dataless"
	@echo "$(DESTDIR)$(PREFIX)/bin/dataless"

.PHONY: clean
clean: ## remove what was built and measured
	@rm -rf .build bench-results
