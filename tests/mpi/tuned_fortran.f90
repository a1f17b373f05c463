! Allreduce, in place too, and Scan in each of the three bindings, with results in closed form. Prints "ok" on rank 0.
subroutine with_f08(wrong)
  use mpi_f08
  integer, intent(inout) :: wrong
  integer :: rank, ranks, i
  integer :: mine(100), all(100)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  mine = [(rank + i, i = 1, 100)]
  call MPI_Allreduce(mine, all, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  wrong = wrong + count(all /= [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, 100)])
  call MPI_Allreduce(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  wrong = wrong + count(all /= mine)
  mine = rank
  call MPI_Scan(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  wrong = wrong + count(mine /= rank * (rank + 1) / 2)
end subroutine

subroutine with_module(wrong)
  use mpi
  integer, intent(inout) :: wrong
  integer :: rank, ranks, i, error
  integer :: mine(100), all(100)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = [(rank + i, i = 1, 100)]
  call MPI_Allreduce(mine, all, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(all /= [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, 100)])
  call MPI_Allreduce(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(all /= mine)
  mine = rank
  call MPI_Scan(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(mine /= rank * (rank + 1) / 2)
end subroutine

subroutine with_include(wrong)
  include 'mpif.h'
  integer, intent(inout) :: wrong
  integer :: rank, ranks, i, error
  integer :: mine(100), all(100)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = [(rank + i, i = 1, 100)]
  call MPI_Allreduce(mine, all, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(all /= [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, 100)])
  call MPI_Allreduce(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(all /= mine)
  mine = rank
  call MPI_Scan(MPI_IN_PLACE, mine, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong + count(mine /= rank * (rank + 1) / 2)
end subroutine

program tuned_fortran
  use mpi_f08, only: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_COMM_WORLD
  integer :: wrong = 0, rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call with_f08(wrong)
  call with_module(wrong)
  call with_include(wrong)
  if (wrong /= 0) print *, 'rank', rank, 'has', wrong, 'wrong numbers'
  if (rank == 0 .and. wrong == 0) print '(a)', 'ok'
  call MPI_Finalize()
end program
