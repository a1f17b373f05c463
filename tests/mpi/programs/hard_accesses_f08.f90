! Assumed-size and assumed-shape dummies, sections that are copied in and out, and common blocks; two ranks.
module work
  use mpi_f08
  implicit none
  double precision :: shared(3000)
  common /block/ shared
contains
  subroutine exchange(a, n, rank)
    integer, intent(in) :: n, rank
    double precision, intent(inout) :: a(*)
    if (rank == 0) then
      call MPI_Send(a, n, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD)
    else
      call MPI_Recv(a, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end if
  end subroutine

  function total(a) result(s)
    double precision, intent(in) :: a(:)
    double precision :: s
    s = sum(a)
  end function
end module

program hard
  use work
  implicit none
  double precision :: matrix(60, 70), automatic(2000)
  type(MPI_Request) :: requests(2)
  integer :: rank, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, 4
    matrix = rank + i
    automatic = 1 - rank
    shared = 2 * (1 - rank)
    call exchange(matrix(5, :), 70, rank)
    call exchange(matrix(:, 9), 60, rank)
    call exchange(automatic(2:), 1500, rank)
    call exchange(shared, 3000, rank)
    call MPI_Irecv(matrix(1, 20), 60, MPI_DOUBLE_PRECISION, 1 - rank, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(matrix(1, 30), 60, MPI_DOUBLE_PRECISION, 1 - rank, 3, MPI_COMM_WORLD, requests(2))
    matrix(:, 25) = 5
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    print '(i0, 3(1x, f12.2))', rank, total(matrix(:, 20)), total(reshape(matrix, [4200])), &
      total(automatic) + total(shared)
  end do
  call MPI_Finalize()
end program
