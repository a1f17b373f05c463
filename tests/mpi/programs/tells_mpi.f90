! tells.c in Fortran, with use mpi.
include 'nplus1.f90'

program tells_mpi
  use mpi
  use nplus1
  implicit none
  integer :: ierr
  integer :: rank, i, integers(4)
  double precision :: reals(12)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  do i = 1, 12
    reals(i) = rank + (i - 1) / 10d0
  end do
  do i = 1, 4
    integers(i) = 10 * rank + i - 1
  end do
  call nplus1_send_to_self(reals, 12, MPI_DOUBLE_PRECISION)  ! TELLS(1)
  call nplus1_send_to_self(integers, 4, MPI_INTEGER)  ! TELLS(2)
  call MPI_Finalize(ierr)
end program
