# make setup    install the packages for building and running (Debian 12, 13, Ubuntu 24.04)
# make build    build for release, with Swift's libraries inside: .build/release/dictum. From nothing it takes about fifteen minutes
# make run      setup, build, then start the demo
# make test     install the packages for tests, run every test
# make fuzz     fuzz each parser for 5 minutes; TIME=SECONDS and TARGET=PARSER change that
# make sanitize run every test under the sanitizers for addresses, threads and undefined behaviour; ONLY=address runs one of them
# make lint     check format, layers, proofs of unsafe code, paths
# make docs     render the rules and the life of a request, .build/docs/index.html, and the client of apps, .build/docs-client
# make soak     run mixed traffic with faults for half an hour; MINUTES=NUMBER changes that
# make totals   compare metrics, access log and what clients receive over 100,000 mixed requests; REQUESTS=NUMBER changes that
# make attack   run each attack, and each HTTP/2 flood, beside other clients for a minute; SECONDS=NUMBER changes that
# make clients  run the clients of deploy/CLIENTS.md, also those in Java and in Swift over SwiftNIO, against Dictum; compile ours for iOS
# make fleet    run three nodes with one Redis in network namespaces (as root), and break each of them: about seven minutes
# make bench    compare with nginx and HAProxy, check instruction counts against their thresholds, simulate a day of clients
# make profile  record again which code a request runs, by which the compiler lays a release out: .ci/release.profdata
# make figures  reproduce the README's table and plot from public histories: .build/figures; HISTORIES=FOLDER measures your own
# make deb      build a Debian package for this system: .build/deb/dictum_VERSION_ARCHITECTURE.deb; reuses what `make build` has built
# make package  build and test that package: a fresh system installs, upgrades and removes it
# make release  build everything that is released: .build/dist has package, tarball, image, bills of materials, checksums (as root)
# make repository KEY=NAME URL=URL   make an apt repository of .build/dist: .build/repository, signed with this key of GnuPG
# make release-test   build a release twice and compare it, run the image, let apt install from a repository (as root)
# make clean    remove everything that was built

.PHONY: help setup build run release repository release-test figures deb package test fuzz sanitize soak totals attack clients fleet lint docs bench profile clean
.NOTPARALLEL:

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

setup:
	@.ci/setup

build:
	@.ci/release

run: setup build
	@exec .build/release/dictum demo

release:
	@.ci/setup release
	@deploy/release/build

KEY =
URL =

repository:
	@.ci/setup release
	@deploy/release/repository .build/repository "$(URL)" "$(KEY)" .build/dist/*.deb

release-test:
	@.ci/setup release-test
	@Tests/Release/run

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

soak: setup build
	@.ci/setup test
	@Tests/Soak/run --minutes $(MINUTES)

REQUESTS = 100000

totals: setup build
	@.ci/setup test
	@Tests/Totals/run --requests $(REQUESTS)

SECONDS = 60

attack: setup build
	@.ci/setup test
	@Tests/Attack/stuck || test $$? = 77
	@Tests/Attack/run --seconds $(SECONDS)
	@Tests/Attack/floods --seconds $(SECONDS)

clients: setup build
	@.ci/setup clients
	@Tests/Apple/check
	@Tests/Clients/run --all

fleet: setup build
	@.ci/setup fleet
	@Tests/Fleet/run

lint:
	@.ci/lint

docs: setup
	@swift package --allow-writing-to-directory .build/docs generate-documentation --target Proxy \
		--warnings-as-errors --output-path .build/docs
	@swift package --allow-writing-to-directory .build/docs-client generate-documentation --target DictumClient \
		--warnings-as-errors --output-path .build/docs-client

bench:
	@.ci/setup bench
	@Tests/Benchmarks/run

profile:
	@.ci/setup bench
	@.ci/profile

HISTORIES =

figures: setup build
	@.ci/setup test
	@Tests/Figures/run $(if $(HISTORIES),--histories "$(HISTORIES)")

clean:
	rm -rf .build
