# `spack repo add packaging/spack`, then in the sources: `spack dev-build nplus1@0.1.0`.
from spack.package import *


class Nplus1(CMakePackage):
    """Runs unmodified MPI programs natively, with one more rank that simulates the network in virtual time, records, and
    analyses."""

    version("0.1.0")

    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpich@4: device=ch4 netmod=ucx")
    depends_on("cli11")
    depends_on("eigen")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("robin-map")
    depends_on("tomlplusplus")
    depends_on("zstd")
    depends_on("isa-l")
    depends_on("zlib-api")
    depends_on("otf2@3:")
    depends_on("simgrid@3.32")
    depends_on("boost")
    depends_on("elfutils")

    def cmake_args(self):
        return [self.define("NPLUS1_TESTS", False)]
