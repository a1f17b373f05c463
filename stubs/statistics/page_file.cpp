// A rank's page as a file: made in MPI_Init, gathered to one file of the job's in MPI_Finalize.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/statistics/recorder.hpp"
#include "stubs/statistics/tables.hpp"
#include "support/program_name.hpp"

namespace nplus1::stubs::statistics {

using page::TableKind;

namespace {

bool quiet() {
  const char* set = std::getenv("NPLUS1_QUIET");
  return set != nullptr && *set != '\0';
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The words that this process was started with.
std::vector<std::string> own_command() {
  std::ifstream file{"/proc/self/cmdline"};
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// The program's path; of what Python runs, the name.
std::string program() {
  char path[sizeof(page::Header::program)] = "";
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return "program";
  if (!is_python(file_name_of(path))) return path;
  std::vector<std::string> command = own_command();
  if (command.empty()) return path;
  command.front() = path;
  const std::string name = program_name(command);
  return name == file_name_of(path) ? path : name;
}

std::string absolute(const std::string& path) {
  char here[4096];
  if (path.empty() || path.front() == '/' || getcwd(here, sizeof here) == nullptr) return path;
  return std::string{here} + "/" + path;
}

bool exists(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0;
}

/// Where the job's file goes, without ending: as asked for, or named after the batch job, or the first free number.
std::string choose_base(int ranks) {
  if (const std::string asked = variable("NPLUS1_STATISTICS"); !asked.empty()) return absolute(asked);
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}) {
    std::string job = variable(name);
    if (job.empty()) continue;
    if (const std::string step = variable("SLURM_STEP_ID"); !step.empty()) job += "-" + step;
    std::replace(job.begin(), job.end(), '/', '-');
    const std::string base = absolute("nplus1-statistics-" + job);
    if (!exists(base) && !exists(base + page::kFileEnding)) return base;
  }
  const std::string path = program();
  const std::string name = path.substr(path.find_last_of('/') + 1);
  for (int k = 1;; ++k) {
    const std::string base =
        absolute("nplus1-statistics-" + name + "-" + std::to_string(ranks) + "-" + std::to_string(k));
    if (!exists(base) && !exists(base + page::kFileEnding)) return base;
  }
}

void copy(char* to, std::size_t size, const std::string& text) {
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

/// Room on the disk is taken at once: a page that cannot be written when it is touched would end the program (SIGBUS).
void* map_file(const std::string& file, std::size_t bytes) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  const int trouble = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  void* at = trouble == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (at != MAP_FAILED) return at;
  unlink(file.c_str());
  errno = trouble != 0 ? trouble : errno;
  return nullptr;
}

/// One for the job, by rank 0, with the error of the first rank that has one.
void say_trouble(MPI_Comm comm, int rank, int trouble, const std::string& folder) {
  int worst = 0;
  pmpi::Reduce(&trouble, &worst, 1, MPI_INT, MPI_MAX, 0, comm);
  if (rank != 0 || worst == 0) return;
  std::fprintf(
      stderr,
      "nplus1: statistics cannot be kept in %s: %s\n"
      "  so:   they are kept in memory; a job that is killed leaves none, and `nplus1 where` sees nothing\n"
      "  next: name another place with NPLUS1_STATISTICS\n",
      folder.c_str(), std::strerror(worst));
}

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// The entries in use, for a page of its own size: tables by number of entries, keys by what is not 0.
template <class Entry>
void squeeze(const Entry* from, std::uint32_t entries, std::uint64_t Entry::*key, std::string& to,
             page::Table& table) {
  table = {to.size(), 0, sizeof(Entry)};
  for (std::uint32_t i = 0; i < entries; ++i) {
    if (from[i].*key == 0) continue;
    to.append(reinterpret_cast<const char*>(&from[i]), sizeof(Entry));
    ++table.entries;
  }
}

void keep(const char* from, std::uint32_t entries, std::uint32_t entry_bytes, std::string& to,
          page::Table& table) {
  table = {to.size(), entries, entry_bytes};
  to.append(from, std::size_t{entries} * entry_bytes);
}

}  // namespace

bool Recorder::map_page(int rank, int ranks) {
  page::Table tables[page::kTables];
  const std::uint64_t bytes = page::lay_out(static_cast<std::uint32_t>(ranks), tables);
  mkdir(folder_.c_str(), 0700);  // another rank of the host may have
  file_ = folder_ + "/" + std::to_string(rank);
  void* at = map_file(file_, bytes);
  const int trouble = at == nullptr ? errno : 0;
  say_trouble(own_, rank, trouble, folder_);
  if (at == nullptr) {
    file_.clear();
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
  }
  header_ = static_cast<page::Header*>(at);
  std::memcpy(header_->tables, tables, sizeof tables);
  header_->version = page::kVersion;
  header_->state = page::PageState::kRunning;
  header_->page_bytes = bytes;
  header_->rank = rank;
  header_->ranks = ranks;
  header_->process = getpid();
  header_->ns_per_tick = nanoseconds_per_tick();
  gethostname(header_->host, sizeof header_->host - 1);
  copy(header_->program, sizeof header_->program, program());
  copy(header_->job, sizeof header_->job, base_.substr(base_.find_last_of('/') + 1));
  const TimePair begin = time_pair_of([] { return reading_of(CLOCK_REALTIME); });
  header_->begin_tick = begin.tick;
  header_->begin_real_ns = begin.ns;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  std::memcpy(header_->magic, page::kMagic, sizeof page::kMagic);
  return true;
}

Recorder* Recorder::make(int thread_level) {
  auto* made = new Recorder;
  calibrate_ticks();
  pmpi::Comm_dup(world(), &made->own_);
  int rank = 0, ranks = 1;
  pmpi::Comm_rank(made->own_, &rank);
  pmpi::Comm_size(made->own_, &ranks);
  char base[4096] = "";
  if (rank == 0) copy(base, sizeof base, choose_base(ranks));
  pmpi::Bcast(base, int{sizeof base}, MPI_CHAR, 0, made->own_);
  made->base_ = base;
  made->folder_ = base;
  const bool mapped = made->map_page(rank, ranks);
  if (!mapped) return nullptr;  // out of memory: others count on
  shared_counts.store(thread_level == MPI_THREAD_MULTIPLE, std::memory_order_relaxed);
  made->requests_.emplace(thread_level == MPI_THREAD_MULTIPLE);
  made->add_communicator(world(), stubs::Origin{0}, 0);
  made->add_communicator(world_of_one(), stubs::Origin{0}, 1);
  return made;
}

/// This rank's page without what is empty.
std::string Recorder::squeezed() {
  std::string text(sizeof(page::Header), '\0');
  page::Header header = *header_;
  auto& tables = header.tables;
  const auto at = [&](TableKind kind) -> page::Table& { return tables[static_cast<std::size_t>(kind)]; };
  keep(nullptr, 0, sizeof(page::ThreadState), text, at(TableKind::kThreads));
  squeeze(table<page::Site>(TableKind::kSites), entries(TableKind::kSites), &page::Site::key, text,
          at(TableKind::kSites));
  squeeze(table<page::Peer>(TableKind::kPeers), entries(TableKind::kPeers), &page::Peer::key, text,
          at(TableKind::kPeers));
  squeeze(table<page::Size>(TableKind::kSizes), entries(TableKind::kSizes), &page::Size::layer, text,
          at(TableKind::kSizes));
  squeeze(table<page::Collective>(TableKind::kCollectives), entries(TableKind::kCollectives),
          &page::Collective::key, text, at(TableKind::kCollectives));
  squeeze(table<page::Communicator>(TableKind::kCommunicators), entries(TableKind::kCommunicators),
          &page::Communicator::key, text, at(TableKind::kCommunicators));
  keep(nullptr, 0, sizeof(page::Live), text, at(TableKind::kLive));
  keep(table<char>(TableKind::kMembers), header.member_ranges, sizeof(page::MemberRange), text,
       at(TableKind::kMembers));
  keep(table<char>(TableKind::kPaths), header.paths, sizeof(page::Path), text, at(TableKind::kPaths));
  keep(table<char>(TableKind::kText), header.text, 1, text, at(TableKind::kText));
  text.resize((text.size() + 7) / 8 * 8);
  header.page_bytes = text.size();
  std::memcpy(text.data(), &header, sizeof header);
  return text;
}

/// On rank 0: one page after the other, so that no rank needs memory for all.
bool Recorder::write_joined(const std::string& own, int ranks) {
  const std::string part = base_ + page::kFileEnding + ".part";
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool sound = fd >= 0 && write_all(fd, own.data(), own.size());
  int trouble = sound ? 0 : errno;
  std::string other;
  for (int r = 1; r < ranks; ++r) {
    int size = 0;
    pmpi::Recv(&size, 1, MPI_INT, r, 1, own_, MPI_STATUS_IGNORE);
    other.resize(static_cast<std::size_t>(size));
    pmpi::Recv(other.data(), size, MPI_BYTE, r, 2, own_, MPI_STATUS_IGNORE);
    if (!sound) continue;
    sound = write_all(fd, other.data(), other.size());
    trouble = sound ? 0 : errno;
  }
  if (fd >= 0 && close(fd) != 0 && sound) {
    sound = false;
    trouble = errno;
  }
  if (sound && std::rename(part.c_str(), (base_ + page::kFileEnding).c_str()) != 0) {
    sound = false;
    trouble = errno;
  }
  if (!sound) {
    unlink(part.c_str());
    std::fprintf(stderr,
                 "nplus1: the statistics cannot be written to %s%s: %s\n"
                 "  so:   what each rank has counted stays in %s, if it is there\n"
                 "  next: nplus1 patterns %s, or name another place with NPLUS1_STATISTICS\n",
                 base_.c_str(), page::kFileEnding, std::strerror(trouble), folder_.c_str(), folder_.c_str());
  } else if (!quiet()) {
    std::fprintf(stderr, "nplus1: statistics: %s%s\n", base_.c_str(), page::kFileEnding);
  }
  return sound;
}

void Recorder::finish() {
  int rank = header_->rank, ranks = header_->ranks, sound = 0;
  header_->end_tick = ticks();
  header_->state = page::PageState::kFinalized;
  const std::string own = squeezed();
  if (rank == 0) {
    sound = write_joined(own, ranks) ? 1 : 0;
  } else {
    const int size = static_cast<int>(own.size());
    pmpi::Send(&size, 1, MPI_INT, 0, 1, own_);
    pmpi::Send(own.data(), size, MPI_BYTE, 0, 2, own_);
  }
  pmpi::Bcast(&sound, 1, MPI_INT, 0, own_);
  if (sound != 0 && !file_.empty()) unlink(file_.c_str());
  pmpi::Barrier(own_);
  if (sound != 0) {
    unlink((folder_ + "/said").c_str());  // of nplus1 where, if the job has said where it is
    rmdir(folder_.c_str());               // by the last rank of each host
  }
  pmpi::Comm_free(&own_);
}

}  // namespace nplus1::stubs::statistics
