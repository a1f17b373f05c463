! Receives from any source with the Fortran 2008 bindings: statuses, handles and arrays of requests.
program wildcards_f08
  use mpi_f08
  implicit none
  integer :: rank, size, i, values(4), total
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status, statuses(4)
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  if (rank == 0) then
    do i = 1, 4
      call MPI_Irecv(values(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests(i))
    end do
    call MPI_Test(requests(1), flag, status)
    if (flag) call MPI_Abort(MPI_COMM_WORLD, 9)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Waitall(4, requests, statuses)
    total = 0
    do i = 1, 4
      if (values(i) /= 10 * statuses(i)%MPI_SOURCE + statuses(i)%MPI_TAG) call MPI_Abort(MPI_COMM_WORLD, 9)
      if (requests(i) /= MPI_REQUEST_NULL) call MPI_Abort(MPI_COMM_WORLD, 9)
      total = total + values(i)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Recv(i, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, status)
    if (status%MPI_SOURCE /= 2 .or. i /= 2) call MPI_Abort(MPI_COMM_WORLD, 9)
    print '(a, i0)', 'wildcards_f08: sum ', total
  else
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank <= 2) then
      do i = 1, 2
        call MPI_Send(10 * rank + i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD)
      end do
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 2) call MPI_Send(rank, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD)
  end if
  call MPI_Finalize()
end program wildcards_f08
