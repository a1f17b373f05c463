// A program without OpenMP whose library asks, by weak references, whether there is any.
#include <mpi.h>
#include <stdio.h>

extern void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned) __attribute__((weak));
extern void GOMP_barrier(void) __attribute__((weak));

static void body(void* count) {
  ++*(int*)count;
}

int main(int argc, char** argv) {
  int count = 0;
  MPI_Init(&argc, &argv);
  if (GOMP_parallel)
    GOMP_parallel(body, &count, 2, 0);
  else
    body(&count);
  if (GOMP_barrier) GOMP_barrier();
  printf("%d\n", count);
  MPI_Finalize();
  return 0;
}
