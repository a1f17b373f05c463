! nplus1's public interface for Fortran programs: what nplus1.h is for C. Compile this file with the program;
! nothing needs to be linked, and in a run without nplus1 all routines do nothing.
!
!   use nplus1
!   call nplus1_compute(1d-3)          ! the virtual clock advances by a millisecond
!   call nplus1_region_begin('solver')
!   call nplus1_region_end('solver')
!   call nplus1_send_to_self(x, n, MPI_DOUBLE_PRECISION)   ! data that this rank keeps (mpi_f08: ...%MPI_VAL)
!   if (nplus1_active()) ...
module nplus1
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: nplus1_compute, nplus1_region_begin, nplus1_region_end, nplus1_send_to_self, nplus1_active

  abstract interface
    subroutine takes_seconds(seconds) bind(c)
      import :: c_double
      real(c_double), value :: seconds
    end subroutine
    subroutine takes_name(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine takes_data(buffer, count, datatype) bind(c)
      import :: c_int
      type(*), intent(in) :: buffer(*)
      integer(c_int), value :: count, datatype
    end subroutine
    function gives_int() bind(c) result(value)
      import :: c_int
      integer(c_int) :: value
    end function
  end interface

  interface
    function dlsym(handle, name) bind(c, name='dlsym') result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface

contains

  function lookup(name) result(address)
    character(*), intent(in) :: name
    type(c_funptr) :: address
    address = dlsym(c_null_ptr, name // c_null_char)
  end function

  subroutine nplus1_compute(seconds)
    double precision, intent(in) :: seconds
    procedure(takes_seconds), pointer :: f
    type(c_funptr) :: address
    address = lookup('nplus1_compute')
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, f)
    call f(real(seconds, c_double))
  end subroutine

  subroutine nplus1_region_begin(name)
    character(*), intent(in) :: name
    call with_name('nplus1_region_begin', name)
  end subroutine

  subroutine nplus1_region_end(name)
    character(*), intent(in) :: name
    call with_name('nplus1_region_end', name)
  end subroutine

  subroutine with_name(symbol, name)
    character(*), intent(in) :: symbol, name
    procedure(takes_name), pointer :: f
    type(c_funptr) :: address
    address = lookup(symbol)
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, f)
    call f(trim(name) // c_null_char)
  end subroutine

  subroutine nplus1_send_to_self(buffer, count, datatype)
    type(*), intent(in) :: buffer(*)
    integer, intent(in) :: count, datatype
    procedure(takes_data), pointer :: f
    type(c_funptr) :: address
    address = lookup('nplus1_send_to_self_f')
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, f)
    call f(buffer, int(count, c_int), int(datatype, c_int))
  end subroutine

  logical function nplus1_active()
    procedure(gives_int), pointer :: f
    type(c_funptr) :: address
    nplus1_active = .false.
    address = lookup('nplus1_active')
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, f)
    nplus1_active = f() /= 0
  end function

end module nplus1
