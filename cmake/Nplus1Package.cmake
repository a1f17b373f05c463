# `cpack -G DEB` in the build folder makes nplus1_VERSION_ARCHITECTURE.deb of what is installed. (tools/package.sh makes an
# archive that brings its libraries.) It depends on the packages of the libraries that are loaded, as dpkg-shlibdeps finds
# them, and on mpirun.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nplus1)
set(CPACK_PACKAGE_CONTACT "The nplus1 developers <nplus1@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
include(CPack)
