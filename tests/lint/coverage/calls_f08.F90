! The calls of calls.c through `use mpi_f08`, half of whose routines call PMPI_ functions.
program calls
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(1)
  integer :: rank, total, theirs
  theirs = -1
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Irecv(theirs, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 7, MPI_COMM_WORLD)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE)
  call MPI_Irecv(theirs, 1, MPI_INTEGER, 1 - rank, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 8, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (theirs /= 1 - rank .or. total /= 1) call MPI_Abort(MPI_COMM_WORLD, 2)
  call MPI_Finalize()
end program calls
