"""What all_collectives_test.py asks, of the same program linked with Open MPI, which has no persistent collectives and no
sessions. By hand, since it takes long on a busy machine: `openmpi_collectives.py [OfOpenMpi.TEST]`, with the environment of
openmpi_test.py."""
import unittest

import all_collectives_test
from openmpi_test import OpenMpiTest


class OfOpenMpi(all_collectives_test.AllCollectives, OpenMpiTest):
    CALLS = tuple(call for call in all_collectives_test.ALL
                  if not call.endswith("_init") and call not in ("Comm_create_from_group", "Comm_idup_with_info"))


def load_tests(loader, _tests, _pattern):
    """Not those of the module that is imported."""
    return loader.loadTestsFromTestCase(OfOpenMpi)


if __name__ == "__main__":
    unittest.main()
