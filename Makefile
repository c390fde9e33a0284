# A thin front for CMake presets and the scripts in tools/. `make help` lists the targets.

PREFIX ?= /usr/local

# How many jobs build, and how many tests run at once; JOBS=n sets both.
ifdef JOBS
  BUILD_JOBS := $(JOBS)
  TEST_JOBS := $(JOBS)
else
  BUILD_JOBS := $(shell nproc)
  TEST_JOBS := 2
endif
export BUILD_JOBS TEST_JOBS PREFIX

# The library and the command alone: needs neither the test nor the benchmark packages.
ONLY_PRODUCT := -DCORDON_BUILD_TESTS=OFF -DCORDON_BUILD_BENCH=OFF -DCORDON_BUILD_EXAMPLES=OFF

.DEFAULT_GOAL := help
.PHONY: help run test lint bench soak install format clean product

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: product ## Install what is missing, build, and run a sandboxed program with its verdict
	build/release/apps/cordon/cordon run --report /dev/stderr -- sh -c 'echo hello from inside'

test: ## Install what the tests need, build, and run all suites (JOBS=n)
	@tools/setup test
	@tools/test

lint: ## Check formatting, clang-tidy, layering and scripts
	@tools/setup lint
	@tools/lint/all

bench: ## Run the benchmarks on the release build
	@tools/setup bench
	@tools/bench

soak: ## Run the conformance suite under load, and the fuzzers, for long
	@tools/setup test
	@tools/soak

install: product ## Install library, headers and command below PREFIX (/usr/local)
	cmake --install build/release --prefix '$(PREFIX)'

format: ## Rewrite the sources as clang-format wants them
	@tools/setup lint
	@tools/lint/format --fix

clean: ## Remove everything that was built
	rm -rf build

product:
	@tools/setup run
	@cmake --preset release $(ONLY_PRODUCT) >/dev/null
	@cmake --build --preset release -j $(BUILD_JOBS)
