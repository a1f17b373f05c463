! Constants that Fortran passes by address: MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE.
program fortran_constants
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierr, sum, all(4), requests(2), place, type, here, lengths(1)
  integer(kind=MPI_ADDRESS_KIND) :: addresses(1)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  all = -1
  all(rank + 1) = rank * rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Gather(all(rank + 1:rank + 1), 1, MPI_INTEGER, requests, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Get_address(here, addresses(1), ierr)
  lengths(1) = 1
  call MPI_Type_create_hindexed(1, lengths, addresses, MPI_INTEGER, type, ierr)
  call MPI_Type_commit(type, ierr)
  here = -1
  place = 10 * rank
  call MPI_Irecv(MPI_BOTTOM, 1, type, mod(rank + size - 1, size), 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(place, 1, MPI_INTEGER, mod(rank + 1, size), 3, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Sendrecv_replace(place, 1, MPI_INTEGER, mod(rank + 1, size), 4, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE, ierr)
  call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
  call MPI_Type_free(type, ierr)
  if (rank == 0) print '(a, 8(1x, i0))', 'constants:', sum, all(1:size), here, place
  call MPI_Finalize(ierr)
end program
