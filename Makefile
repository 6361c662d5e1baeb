# The everyday commands; each installs what it needs (scripts/setup) and builds incrementally into build/<preset>/.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

jobs := $(shell nproc)
# All but the long ones wait more than they compute.
tests_at_once := $(shell expr 2 '*' $(jobs))
configure = cmake --log-level=NOTICE --preset
build = cmake --build --preset

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## install the packages that building and testing need
	@scripts/setup

.PHONY: run
run: setup ## build the server and run it on ./tenure-data, with its console
	@$(configure) release
	@$(build) release --target tenured tenure
	@echo 'The console: http://127.0.0.1:8369/. In another terminal, to see something in it: build/release/bin/tenure demo --live'
	@build/release/bin/tenured --data tenure-data

.PHONY: run-cluster
run-cluster: setup ## build the server and run three of it on three etcd, on loopback
	@$(configure) release
	@$(build) release --target tenured tenure
	@scripts/run_cluster

.PHONY: demo
demo: setup ## build tenure and let it tell how it works
	@$(configure) release
	@$(build) release --target tenure
	@build/release/bin/tenure demo

.PHONY: build
build: setup ## build the programs, build/release/bin/tenured and tenure, and libtenure
	@$(configure) release
	@$(build) release --target programs

.PHONY: trained
trained: setup ## build the programs as they are packaged, compiled by what the server does under load
	@scripts/train
	@$(configure) trained
	@$(build) trained --target programs

.PHONY: deb
deb: trained ## make a Debian package of all that is installed, build/trained/tenure_*.deb
	@cd build/trained && cpack -G DEB

.PHONY: test
test: setup ## build everything, lint, run all tests but the long ones
	@$(configure) release
	@$(build) release
	@scripts/lint
	@scripts/test_clients
	@scripts/test_peers
	@scripts/hazelcast
	@ctest --preset release -j$(tests_at_once)

.PHONY: sanitize
sanitize: setup ## all tests but the long ones under ASan + UBSan, then under TSan
	@$(configure) asan
	@$(build) asan
	@$(configure) tsan
	@$(build) tsan
	@scripts/test_clients
	@scripts/test_peers
	@scripts/hazelcast
	@ctest --preset asan -j$(tests_at_once)
	@ctest --preset tsan -j$(tests_at_once)

.PHONY: soak
soak: setup ## the long tests, two hours
	@$(configure) release
	@$(build) release
	@scripts/hazelcast
	@ctest --preset soak -j$(jobs)

.PHONY: bench
bench: trained ## run the benchmarks, write docs/benchmarks.md
	@$(build) trained --target benches
	@scripts/hazelcast
	@scripts/bench

.PHONY: lint
lint: setup ## formatting, clang-tidy, thread-safety analysis, layering
	@scripts/lint

.PHONY: format
format: setup ## rewrite all C++ sources with clang-format
	@scripts/lint --fix-format

.PHONY: coverage
coverage: setup ## branch coverage of core, recovery and wire, which must be complete
	@scripts/coverage

.PHONY: fuzz
fuzz: setup ## every fuzzer for a minute, from its corpus
	@scripts/fuzz 60

.PHONY: model
model: setup ## search the model of the laws with Spin, and replay real journals against its rules
	@$(configure) release
	@$(build) release --target programs
	@ctest --preset release --tests-regex '^model[.]' --verbose

.PHONY: clean
clean: ## delete build/
	rm -rf build
