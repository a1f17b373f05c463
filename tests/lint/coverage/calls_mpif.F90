! The calls of calls.c through mpif.h or `use mpi` (-DUSE_MODULE).
program calls
#ifdef USE_MODULE
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: ierr, rank, requests(1), total, theirs
  theirs = -1
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Irecv(theirs, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, ierr)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Irecv(theirs, 1, MPI_INTEGER, 1 - rank, 8, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 8, MPI_COMM_WORLD, ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (theirs /= 1 - rank .or. total /= 1) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  call MPI_Finalize(ierr)
end program calls
