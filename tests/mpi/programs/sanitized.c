/* Looks as a program that was built with -fsanitize=thread. */
#include <mpi.h>
#include <stdio.h>

void __tsan_init(void);
void __tsan_init(void) {}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  puts("ran");
  MPI_Finalize();
  return 0;
}
