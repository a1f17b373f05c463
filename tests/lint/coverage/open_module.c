/* A program without MPI that opens a module with MPI, as Python opens mpi4py. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
  int (*run)(int, char**) = module ? (int (*)(int, char**))dlsym(module, "run_calls") : 0;
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run(argc, argv);
}
