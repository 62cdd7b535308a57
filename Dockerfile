# The machine on which continuous integration builds and tests: Debian 12 and what README.md asks for, with the packages
# that `make system` would install. A Python of its own is a base of its own: --build-arg BASE=python:3.13-bookworm.
ARG BASE=debian:bookworm
FROM ${BASE}
RUN apt-get update -q \
  && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ca-certificates git python3 make g++
WORKDIR /pycompiler
COPY apt-packages.txt llvm-version.txt ./
COPY tools/install-system-packages.sh tools/
RUN tools/install-system-packages.sh
# The checkout is mounted, and belongs to another user.
RUN git config --system --add safe.directory '*'
