# make setup    install what building and running need (Debian 12, 13, Ubuntu 24.04); quick when nothing is missing
# make build    build for release: .build/release/dictum
# make run      setup, build, and start the demo
# make test     what tests need besides (browsers, other proxies), every test, HTTP, Proxy and the store's index under the thread sanitizer, 20 seconds of fuzzing a parser
# make fuzz     setup, every parser under libFuzzer, 5 minutes each: TIME=SECONDS and TARGET=PARSER say otherwise
# make sanitize setup, then every test under the sanitizers of addresses, threads and undefined behaviour: ONLY=address one of them
# make lint     format, layering, proofs of unsafe code, paths
# make docs     renders the rules and the life of a request: .build/docs/index.html
# make soak     setup, then half an hour of everything at once, faults and all: MINUTES=NUMBER says otherwise
# make attack   setup, then a minute of each attack from one address beside fifty clients at others: SECONDS=NUMBER says otherwise
# make bench    setup, nginx, HAProxy, wrk, the comparison with them, counts against their thresholds, a simulated day of clients
# make release  a program to install on other machines of this system: .build/release/dictum, with Swift's libraries in it
# make deb      setup, then a Debian package for this system: .build/deb/dictum_VERSION_ARCHITECTURE.deb
# make package  what make deb needs and its test besides, then that test: a fresh system that installs, upgrades and removes it
# make clean    remove what was built

.PHONY: help setup build run release deb package test fuzz sanitize soak attack lint docs bench clean
.NOTPARALLEL:

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

setup:
	@.ci/setup

build:
	DICTUM_VERSION=$$(.ci/version) swift build -c release --product dictum --explicit-target-dependency-import-check error

run: setup build
	@exec .build/release/dictum demo

release: setup
	@.ci/release

deb:
	@.ci/setup deb
	@deploy/debian/build

package:
	@.ci/setup package
	@Tests/Package/run

test:
	@.ci/setup test
	@.ci/test

TIME = 300
TARGET =

fuzz:
	@.ci/setup test
	@.ci/fuzz $(TIME) $(TARGET)

ONLY =

sanitize:
	@.ci/setup test
	@.ci/sanitize $(ONLY)

MINUTES = 30

soak: build
	@.ci/setup test
	@Tests/Soak/run --minutes $(MINUTES)

SECONDS = 60

attack: setup build
	@Tests/Attack/stuck || test $$? = 77
	@Tests/Attack/run --seconds $(SECONDS)

lint:
	@.ci/lint

docs: setup
	@swift package --allow-writing-to-directory .build/docs generate-documentation --target Proxy \
		--warnings-as-errors --output-path .build/docs

bench:
	@.ci/setup bench
	@Tests/Benchmarks/run

clean:
	rm -rf .build Tests/Benchmarks/.build
