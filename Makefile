# The front door. `make demo` and `make test` do all the set-up on a fresh Debian 12 machine.
.PHONY: help setup build demo test check sanitize bench lab oracle swarm fuzz fmt clean
JOBS := $(shell nproc)

help:
	@echo 'make demo      build, plan nine cities, play the plan, train by it (installs what is missing)'
	@echo 'make test      build, then run every test'
	@echo 'make build     leave the release binary at build/release/cotillion'
	@echo 'make check     formatting, the rules of the house and clang-tidy'
	@echo 'make sanitize  tests under ASan + UBSan; those with threads under TSan'
	@echo 'make bench     benchmarks, each beside a peer or a limit (installs ns-3)'
	@echo 'make lab       the nine cities on this machine, beside Gloo and Open MPI (minutes)'
	@echo 'make oracle    60,000 random cliques against CLP (minutes)'
	@echo 'make swarm     10,000 random worlds with random faults, played and checked (minutes)'
	@echo 'make fuzz      every fuzzer for FUZZ_SECONDS (default 60) seconds'
	@echo 'make fmt       format the sources'

# Without libtorch nothing is trained, and all else works.
setup:
	@tools/setup
	@tools/setup packages-train.txt || \
	  echo 'setup: going on without libtorch: `cotillion train` will not train here'

build/release/build.ninja: CMakeLists.txt CMakePresets.json | setup
	cmake --preset release >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@rm -f build-configure.log

build: setup build/release/build.ninja
	cmake --build --preset release -j $(JOBS)

# Not the tests and benchmarks: whoever sees this for the first time does not wait for them.
demo: setup build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target cotillion
	@tools/demo build/release/cotillion

test: build
	ctest --preset release -j $(JOBS)

check: setup
	@tools/check

sanitize: setup
	@tools/sanitize

# Peers that only benchmarks need are large: they are installed here, and CMake looks again.
bench: setup build/release/build.ninja
	-@tools/setup packages-bench.txt
	@cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS)
	@tools/bench build/release

lab: setup build/release/build.ninja
	-@tools/setup packages-bench.txt
	@cmake --preset release >/dev/null
	cmake --build --preset release -j $(JOBS)
	@tools/lab build/release

oracle: build
	build/release/oracle --instances 60000

swarm: build
	build/release/swarm --seeds 10000

fuzz: setup
	@tools/fuzz $(or $(FUZZ_SECONDS),60)

fmt:
	@git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build
