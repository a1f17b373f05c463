! hello.c for Fortran with the mpi_f08 module.
program hello
  use mpi_f08
  implicit none
  integer :: rank, size, mine, total, token, ierr
  type(MPI_Status) :: status
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  mine = (rank + 1)**2
  call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  token = 0
  if (rank > 0) call MPI_Recv(token, 1, MPI_INTEGER, rank - 1, 0, MPI_COMM_WORLD, status, ierr)
  print '(a,i0,a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ', checksum ', total, ', token ', token
  flush (6)
  token = token + rank
  if (rank + 1 < size) call MPI_Send(token, 1, MPI_INTEGER, rank + 1, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program hello
