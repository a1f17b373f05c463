#include "stubs/runtime/communicators/session_world.hpp"

#include <string_view>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/imports.hpp"

namespace nplus1::stubs {
namespace {

MPI_Session own = MPI_SESSION_NULL;

bool begins_together() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (pmpi::Get_library_version(version, &length) != MPI_SUCCESS) return false;
  const std::string_view text{version};
  const std::size_t name = text.find("MPICH Version:");
  const std::size_t number = text.find_first_of("0123456789", name);
  return name != std::string_view::npos && number != std::string_view::npos &&
         text.substr(number, 4) == "4.0.";
}

MPI_Group group_of(const char* set) {
  MPI_Group group = MPI_GROUP_NULL;
  return pmpi::Group_from_session_pset(own, set, &group) == MPI_SUCCESS ? group : MPI_GROUP_NULL;
}

bool make(const char* set, const char* tag, MPI_Comm& made) {
  MPI_Group group = group_of(set);
  if (group == MPI_GROUP_NULL) return false;
  const int code = pmpi::Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  pmpi::Group_free(&group);
  return code == MPI_SUCCESS;
}

}  // namespace

bool find_place_by_session(int& rank, int& ranks) {
  if (!begins_together() ||
      program_imports({"MPI_Init", "MPI_Init_thread", "PMPI_Init", "PMPI_Init_thread", "mpi_init_",
                       "mpi_init_thread_", "mpi_init_f08_", "mpi_init_thread_f08_"}))
    return false;
  if (pmpi::Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS) return false;
  MPI_Group group = group_of("mpi://WORLD");
  if (group == MPI_GROUP_NULL) return false;
  pmpi::Group_rank(group, &rank);
  pmpi::Group_size(group, &ranks);
  pmpi::Group_free(&group);
  if (ranks > 1) return true;
  free_world_of_sessions();
  return false;
}

bool make_world_of_sessions() {
  return make("mpi://WORLD", "nplus1", detail::session_world) &&
         make("mpi://SELF", "nplus1", detail::session_self);
}

void free_world_of_sessions() {
  for (MPI_Comm* made : {&detail::session_self, &detail::session_world})
    if (*made != MPI_Comm{}) pmpi::Comm_free(made);
  detail::session_self = detail::session_world = MPI_Comm{};
  if (own != MPI_SESSION_NULL) pmpi::Session_finalize(&own);
}

}  // namespace nplus1::stubs
