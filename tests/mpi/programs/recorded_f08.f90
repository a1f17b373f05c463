! Rank 0 sends what recording_test.py computes for itself; a line with SEND(tag) marks the call.
program recorded_f08
  use mpi_f08
  implicit none
  integer :: rank, i
  integer, target :: numbers(100)
  double precision :: values(4)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (rank == 0) then
    call send_numbers()
    values = [1d0, 2d0, 3d0, 4d0]
    call MPI_Send(values, 4, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD)   ! SEND(2)
  else
    call MPI_Recv(numbers, 100, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(values, 4, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  call MPI_Finalize()
contains
  subroutine send_numbers()
    do i = 1, 100
      numbers(i) = 3 * i
    end do
    call MPI_Send(numbers, 100, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)   ! SEND(1)
  end subroutine
end program
