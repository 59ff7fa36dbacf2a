# make demo      install what is missing, build, run a scene, say where the result is
# make test      the same set-up plus what the tests need, then every test
# make build     only build; the command is then build/stickslip
# make bench     time kernels and scenes, write bench/results/<machine>/*.csv
# make bench-solvers FCLIB=folder   our solvers against Siconos on FCLIB files and piles; BENCH_ARGS="--only capsules --limit 5"
# make bench-peers   Bullet, ODE, MuJoCo beside us on the same scenes; BENCH_ARGS="--scenes stack,slide --engines stickslip,ode"
# make bench-heaps   falling, hit and resting heaps with default options, and what became of each; BENCH_ARGS="--only wall --seconds 60"
# make figures   the figures of the papers, with the published points beside ours, into docs/papers; phase portraits into docs/figures
# make install   PREFIX=/usr/local, DESTDIR= : library, headers, command, scenes, man page
# make format    clang-format over our sources;  make tidy: clang-tidy;  make clean: remove build/

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
DEMO ?= scene:falling-box --step 1e-4
CTEST_ARGS ?=

release := build/release
tiers = run
sources = $(shell find include src cli tests bench examples -name '*.[ch]pp')

.PHONY: help deps demo build test bench bench-solvers bench-peers bench-heaps figures install clean format tidy
help:
	@sed -n '1,/^$$/s/^# //p' Makefile

deps:
	@scripts/install-deps $(tiers)

# Configured once; afterwards ninja itself notices changes. Tests and benchmarks are switched on by their targets.
$(release)/build.ninja: | deps
	@cmake --preset release --log-level=WARNING

build: deps $(release)/build.ninja
	@cmake --build $(release) -j $(JOBS) --target stickslip stickslip_command
	@ln -sfn release/bin/stickslip build/stickslip

demo: build
	@echo "build/stickslip run $(DEMO) --force -o runs/demo"
	@build/stickslip run $(DEMO) --force -o runs/demo
	@echo "The record of the run is runs/demo/run.h5 (HDF5, described in docs/record.md). The page about it, for a browser:"
	@build/stickslip report runs/demo

test: tiers = run test
test: deps $(release)/build.ninja
	@grep -qs 'STICKSLIP_TESTS:BOOL=ON' $(release)/CMakeCache.txt || \
	    cmake $(release) --log-level=WARNING -DSTICKSLIP_TESTS=ON
	@cmake --build $(release) -j $(JOBS)
	@ln -sfn release/bin/stickslip build/stickslip
	@ctest --test-dir $(release) -j $(JOBS) --output-on-failure --no-tests=error $(CTEST_ARGS)

bench: tiers = run bench
bench: deps $(release)/build.ninja
	@grep -qs 'STICKSLIP_BENCH:BOOL=ON' $(release)/CMakeCache.txt || \
	    cmake $(release) --log-level=WARNING -DSTICKSLIP_BENCH=ON
	@cmake --build $(release) -j $(JOBS) --target bench_programs
	@scripts/run-bench $(release) bench/results

# About ten seconds of runs. The phase portraits need h5py, a package of the tests.
figures: tiers = run test
figures: build
	@scripts/write-paper-figures --command build/stickslip
	@scripts/write-phase-portraits --command build/stickslip

# Needs Siconos, about 300 MB of packages. Without FCLIB= only the piles, which it makes itself.
bench-solvers: tiers = run test oracles
bench-solvers: build
	@arch=$$(sed -n 's/^STICKSLIP_ARCH:[A-Z]*=//p' $(release)/CMakeCache.txt); \
	/usr/bin/python3 bench/solvers/compare.py --command build/stickslip --out bench/results/$$arch-$$(nproc)core --docs docs --lcp \
	    $(if $(FCLIB),--fclib "$(FCLIB)") $(BENCH_ARGS)

# Engines that are not installed are left out; scripts/install-deps oracles brings them.
bench-peers: tiers = run
bench-peers: build
	@cmake $(release) --log-level=WARNING -DSTICKSLIP_PEERS=ON
	@cmake --build $(release) -j $(JOBS) --target bench_peers
	@arch=$$(sed -n 's/^STICKSLIP_ARCH:[A-Z]*=//p' $(release)/CMakeCache.txt); \
	bench/peers/run.py $(release) bench/results/$$arch-$$(nproc)core $(BENCH_ARGS)

bench-heaps: tiers = run test
bench-heaps: build
	@arch=$$(sed -n 's/^STICKSLIP_ARCH:[A-Z]*=//p' $(release)/CMakeCache.txt); \
	bench/heaps/run.py build/stickslip --out bench/results/$$arch-$$(nproc)core/heaps.csv $(BENCH_ARGS)

install: build
	@DESTDIR=$(DESTDIR) cmake --install $(release) --prefix $(PREFIX)

clean:
	@rm -rf build

format: tiers = quality
format: deps
	@clang-format-14 -i $(sources)

tidy: tiers = run quality
tidy: deps
	@cmake --preset release -B build/tidy --log-level=WARNING -DSTICKSLIP_UNITY=OFF -DSTICKSLIP_PRECOMPILE=OFF
	@run-clang-tidy-14 -quiet -j $(JOBS) -p build/tidy -extra-arg=-Wno-unknown-warning-option "$(CURDIR)/(src|cli)/"
