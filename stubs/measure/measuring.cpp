#include "stubs/measure/measuring.hpp"

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"

namespace nplus1::stubs::measure {

using access::Cells;
using access::Watched;

namespace {

constexpr unsigned kFrames = 4;  // the call's own address and three more, as in the paper
constexpr std::size_t kMostChains = 4096;
constexpr std::size_t kMostMessages = 256;  // of one chain that are under way at a time
/// Below, MPICH copies a message when it is sent and when it is taken, and no peer reaches the program's memory.
constexpr MPI_Count kCopiedByMpi = 8192;

double ns_of(std::int64_t ticks) {
  return static_cast<double>(ticks) * nanoseconds_per_tick();
}

/// What stubs/access has taken so far.
double watching_ns() {
  const access::Cost cost = access::cost();
  return static_cast<double>(cost.fault_ns + cost.step_ns + cost.protect_ns + cost.system_call_ns);
}

int threads_now() {
  int n = 0;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (const dirent* entry = readdir(tasks)) n += entry->d_name[0] != '.';
    closedir(tasks);
  }
  return n;
}

/// In another one an error would come back from another call, and later.
bool errors_are_fatal(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (comm == MPI_COMM_NULL || pmpi::Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
  if (handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN) pmpi::Errhandler_free(&handler);
  return fatal;
}

bool is_builtin(MPI_Datatype type) {
  return static_cast<unsigned>(type) >> 30U == 1;
}

/// Each pair of times in both orders, by chance: a program of two phases in turn is not measured by one of them.
Mode mode_of(std::uint64_t seed, std::uint64_t time) {
  std::uint64_t x = seed + (time - 1) / 2 * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  const bool deferred_first = ((x ^ (x >> 31U)) & 1U) != 0;
  return ((time - 1) % 2 == 0) == deferred_first ? Mode::kDeferred : Mode::kBlocking;
}

}  // namespace

double now_ns() {
  return ns_of(ticks());
}

Measuring::Measuring()
    : paths_{kFrames, [this](CallSiteId id, const std::string& frames) {
               if (frames_.size() < id.value + 1) frames_.resize(id.value + 1);
               frames_[id.value] = frames;
             }} {
  threads_of_mpi_ = threads_now() - 1;
  pmpi::Comm_group(MPI_COMM_WORLD, &world_);
}

void Measuring::stop(const char* why) {
  end(EndedBy::kCall);
  if (stopped_.empty()) stopped_ = why;
}

bool Measuring::may_begin() {
  if (!stopped_.empty()) return false;
  if (!std::exchange(recheck_threads_, false) || threads_now() <= threads_of_mpi_ + 1) return true;
  stop("the program has several threads");
  return false;
}

bool Measuring::may_defer(const Half* halves, std::size_t n, MPI_Comm comm, const MPI_Status* status) {
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    const Half& h = halves[i];
    if (h.peer == MPI_PROC_NULL) continue;
    any = true;
    if (h.buffer == nullptr || h.buffer == MPI_IN_PLACE || h.count <= 0 || !usable(h.type)) return false;
    if (payload_bytes(h.count, h.type) <= 0) return false;
    if (!h.receives && !has_equal_elements(h.type)) return false;  // whose copy is sent packed
    // Which message it is would be known later than the program may ask.
    if (h.receives && (h.peer == MPI_ANY_SOURCE || h.tag == MPI_ANY_TAG) && status != MPI_STATUS_IGNORE)
      return false;
  }
  return any && errors_are_fatal(comm) && running_.pending.size() + n <= kMostMessages;
}

/// The cells of the halves; false if some of their pages cannot be closed.
bool Measuring::watch(const Half* halves, std::size_t n, std::vector<Cells>& cells) {
  for (std::size_t i = 0; i < n; ++i) {
    cells.push_back(halves[i].peer == MPI_PROC_NULL
                        ? Cells{}
                        : typemaps_.cells(halves[i].buffer, halves[i].count, halves[i].type));
    if (cells.back().empty()) {
      if (halves[i].peer != MPI_PROC_NULL) return false;
      continue;
    }
    access::Buffer* const buffer = access::buffer_of(cells.back(), 0, call_frame());
    if (buffer == nullptr || buffer->partly) return false;
  }
  return n < 2 || !cells[0].overlaps(cells[1]);
}

bool Measuring::overlaps(const Half* halves, std::size_t n, const std::vector<Cells>& cells) const {
  for (std::size_t i = 0; i < n; ++i) {
    if (cells[i].empty()) continue;
    const auto hits = [&](const Cells& other) { return other.overlaps(cells[i]); };
    if (std::any_of(running_.received.begin(), running_.received.end(), hits)) return true;
    if (halves[i].receives && std::any_of(running_.sent.begin(), running_.sent.end(), hits)) return true;
  }
  return false;
}

void Measuring::begin(const Context& context) {
  Start& start = starts_[context];
  const std::int64_t now = ticks();
  if (start.begun == 0) start.seed = std::hash<std::string>{}(frames_[context.site.value]);
  if (start.last != nullptr)
    start.last->modes[static_cast<std::size_t>(start.last_mode)].round.add(ns_of(now - start.last_tick));
  start.last = nullptr;
  running_.open = true;
  running_.start = &start;
  running_.mode = start.begun == 0 ? Mode::kBlocking : mode_of(start.seed, start.begun);
  ++start.begun;
  start.last_tick = running_.begin_tick = now;
  running_.communication_ns = running_.copies_ns = 0;
  running_.overhead_ns = watching_ns();
}

void Measuring::note(const Half& half, MPI_Comm comm) {
  if (half.peer == MPI_PROC_NULL || running_.start->begun > 1) return;
  Message message{half.receives, -1, payload_bytes(half.count, half.type)};
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  MPI_Group group = MPI_GROUP_NULL;
  if (half.peer >= 0 &&
      (inter != 0 ? pmpi::Comm_remote_group(comm, &group) : pmpi::Comm_group(comm, &group)) == MPI_SUCCESS) {
    pmpi::Group_translate_ranks(group, 1, &half.peer, world_, &message.peer);
    pmpi::Group_free(&group);
  }
  running_.messages.push_back(message);
}

int Measuring::defer(const Half& half, MPI_Comm comm, MPI_Status* status) {
  if (half.peer == MPI_PROC_NULL)
    return half.receives ? pmpi::Recv(const_cast<void*>(half.buffer), 0, MPI_BYTE, MPI_PROC_NULL, half.tag,
                                      comm, status)
                         : pmpi::Send(half.buffer, 0, MPI_BYTE, MPI_PROC_NULL, half.tag, comm);
  Pending p;
  p.receives = half.receives;
  p.buffer = const_cast<void*>(half.buffer);
  p.count = half.count;
  p.bytes = payload_bytes(half.count, half.type);
  const void* address = half.buffer;
  MPI_Count count = half.count;
  MPI_Datatype type = half.type;
  const std::int64_t before = ticks();
  if (p.bytes > kCopiedByMpi) {
    MPI_Count room = 0, packed = 0;
    pmpi::Pack_size(half.count, half.type, quiet_self(), &room);
    p.shadow = own_pages(static_cast<std::size_t>(std::max(room, p.bytes)));
    // What a short message leaves alone, and the gaps of its type, stay as they are.
    const bool whole = half.receives && is_builtin(half.type);
    if (p.shadow && !whole &&
        pack(half.buffer, half.count, half.type, p.shadow.get(), std::max(room, p.bytes), packed) !=
            MPI_SUCCESS)
      p.shadow.reset();
    if (p.shadow) {
      address = p.shadow.get();
      count = p.bytes;
      type = MPI_PACKED;
      p.type = own_types_.of(half.type);
    }
  }
  const std::int64_t copied = ticks();
  running_.copies_ns += ns_of(copied - before);
  const int code = half.receives ? pmpi::Irecv(const_cast<void*>(address), count, type, half.peer, half.tag,
                                               comm, &p.request)
                                 : pmpi::Isend(address, count, type, half.peer, half.tag, comm, &p.request);
  running_.communication_ns += ns_of(ticks() - copied);
  if (half.receives && status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = half.peer;
    status->MPI_TAG = half.tag;
    pmpi::Status_set_elements_x(status, half.type, payload_bytes(half.count, half.type));
    pmpi::Status_set_cancelled(status, 0);
    p.status = status;
    p.told = *status;
  }
  running_.pending.push_back(std::move(p));
  return code;
}

int Measuring::call(const Half* halves, std::size_t n, MPI_Comm comm, MPI_Status* status,
                    const std::function<int()>& plain) {
  std::vector<Cells> cells;
  if (!may_begin() || !may_defer(halves, n, comm, status) || !watch(halves, n, cells)) {
    end(EndedBy::kCall);
    access::release_all();
    ++not_deferrable_;
    return plain();
  }
  const Context context{current_call(), paths_.id(call_site(), call_frame())};
  if (running_.open && overlaps(halves, n, cells)) {
    end(EndedBy::kOverlap);
    cells.clear();
    static_cast<void>(watch(halves, n, cells));  // the buffers were forgotten with the chain
  }
  if (!running_.open) begin(context);
  running_.contexts.push_back(context);
  for (std::size_t i = 0; i < n; ++i) note(halves[i], comm);
  int code = MPI_SUCCESS;
  if (running_.mode == Mode::kBlocking) {
    const std::int64_t before = ticks();
    code = plain();
    running_.communication_ns += ns_of(ticks() - before);
  } else {
    for (std::size_t i = 0; i < n && code == MPI_SUCCESS; ++i) code = defer(halves[i], comm, status);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (cells[i].empty()) continue;
    (halves[i].receives ? running_.received : running_.sent).push_back(cells[i]);
    if (access::Buffer* buffer = access::buffer_of(cells[i], 0, call_frame()))
      access::watch_after(*buffer, halves[i].receives ? Watched::kAll : Watched::kWrites,
                          running_.contexts.size(), 0);
  }
  running_.exit_tick = ticks();
  return code;
}

void Measuring::give_back(Pending& p, const MPI_Status& status) {
  if (p.receives && p.shadow) {
    MPI_Count received = p.bytes, position = 0;
    pmpi::Get_elements_x(&status, MPI_PACKED, &received);
    if (received > 0 && is_builtin(*p.type))
      std::memcpy(p.buffer, p.shadow.get(), static_cast<std::size_t>(received));
    else if (received > 0)
      pmpi::Unpack(p.shadow.get(), p.bytes, &position, p.buffer, p.count, *p.type, quiet_self());
  }
  if (p.status != MPI_STATUS_IGNORE) {
    // As long as was expected in nearly all cases. Else it is told where the program's status still is: its frame may
    // be gone.
    MPI_Status told = p.told;
    MPI_Count bytes = 0;
    pmpi::Get_elements_x(&status, MPI_BYTE, &bytes);
    pmpi::Status_set_elements_x(&told, MPI_BYTE, bytes);
    if (std::memcmp(&told, &p.told, sizeof told) != 0 && std::memcmp(p.status, &p.told, sizeof told) == 0)
      *p.status = told;
  }
}

void Measuring::complete() {
  if (running_.pending.empty()) return;
  std::vector<MPI_Request> requests;
  for (const Pending& p : running_.pending) requests.push_back(p.request);
  std::vector<MPI_Status> statuses(requests.size());
  const std::int64_t before = ticks();
  pmpi::Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data());
  const std::int64_t after = ticks();
  running_.communication_ns += ns_of(after - before);
  for (std::size_t i = 0; i < statuses.size(); ++i) give_back(running_.pending[i], statuses[i]);
  running_.copies_ns += ns_of(ticks() - after);
}

void Measuring::end(EndedBy why, const access::Hit* hit) {
  if (why == EndedBy::kFinalize) own_types_.clear();
  if (!running_.open) return;
  running_.open = false;
  const std::int64_t end_tick = ticks();
  access::release_all();
  complete();
  note_end(why, hit, end_tick);
  running_.contexts.clear();
  running_.messages.clear();
  running_.pending.clear();
  running_.sent.clear();
  running_.received.clear();
}

void Measuring::note_end(EndedBy why, const access::Hit* hit, std::int64_t end_tick) {
  auto found = chains_.find(running_.contexts);
  if (found == chains_.end()) {
    if (chains_.size() == kMostChains) {
      ++chains_lost_;
      return;
    }
    found = chains_.emplace(running_.contexts, ChainTimes{}).first;
    found->second.messages = running_.messages;
    if (hit != nullptr) {
      found->second.ending = paths_.id_of(hit->path.at, hit->path.size);
      found->second.offset = hit->offset;
      found->second.inexact = hit->inexact;
    } else if (call_site() != nullptr) {
      found->second.ending = paths_.id(call_site(), call_frame());
    }
  }
  ChainTimes& chain = found->second;
  ++chain.ended_by[static_cast<std::size_t>(why)];
  running_.start->last = &chain;
  running_.start->last_mode = running_.mode;
  // The first time connections are made, and pages touched that never were.
  if (chain.seen++ == 0) {
    running_.start->last = nullptr;
    return;
  }
  ModeTimes& times = chain.modes[static_cast<std::size_t>(running_.mode)];
  const double overhead = watching_ns() - running_.overhead_ns + running_.copies_ns;
  const double whole = running_.communication_ns + (running_.mode == Mode::kDeferred ? overhead : 0);
  times.least = times.communication.count() == 0 ? whole : std::min(times.least, whole);
  times.communication.add(running_.communication_ns);
  times.overhead.add(overhead);
  chain.between.add(ns_of(end_tick - running_.exit_tick));
}

void Measuring::works_on(const void* buffer, MPI_Count count, MPI_Datatype type, bool writes) {
  if (!running_.open || buffer == MPI_IN_PLACE || count <= 0) return;
  const Half half{writes, buffer, count, type, 0, 0};
  const std::vector<Cells> cells{typemaps_.cells(buffer, count, type)};
  if (buffer == nullptr || overlaps(&half, 1, cells)) end(EndedBy::kCall);
}

void Measuring::frees(const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uint64_t>(begin);
  const Cells gone{at, bytes};
  const auto hits = [&](const Cells& cells) { return cells.overlaps(gone); };
  if (!running_.open || bytes == 0) return;
  if (std::any_of(running_.received.begin(), running_.received.end(), hits) ||
      std::any_of(running_.sent.begin(), running_.sent.end(), hits))
    end(EndedBy::kTouch);
}

// ---- what was measured ----------------------------------------------------------------------------------------

namespace {

constexpr const char* kEndNames[] = {"touch", "overlap", "call", "finalize"};

std::string text_of(const Sample& s) {
  char text[96];
  std::snprintf(text, sizeof text, "%llu %.17g %.17g", static_cast<unsigned long long>(s.count()), s.mean(),
                s.squares());
  return text;
}

/// "WORD A B\n".
template <class... Parts>
std::string line(const char* word, const Parts&... parts) {
  std::string text = word;
  const auto add = [&text](const auto& part) {
    text += ' ';
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>)
      text += std::to_string(part);
    else
      text += part;
  };
  (add(parts), ...);
  return text + '\n';
}

std::string lines_of(const char* word, const std::string& frames) {
  std::string text;
  std::size_t begin = 0;
  while (begin < frames.size()) {
    const std::size_t end = std::min(frames.find('\n', begin), frames.size());
    text += line(word, frames.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string Measuring::messages_text(const ChainTimes& chain) const {
  std::string text;
  for (const Message& m : chain.messages)
    text += line("message", m.receives ? "receive" : "send", m.peer, m.bytes);
  return text;
}

std::string Measuring::text() const {
  std::string text;
  if (!stopped_.empty()) text += line("stopped", stopped_);
  text += line("not-deferrable", not_deferrable_);
  if (chains_lost_ > 0) text += line("lost", chains_lost_);
  for (const auto& [contexts, chain] : chains_) {
    text += line("chain", chain.seen);
    for (const Context& c : contexts) {
      text += line("call", std::string{events::name(c.call)});
      text += lines_of("frame", frames_[c.site.value]);
    }
    text += messages_text(chain);
    for (std::size_t end = 0; end < kEnds; ++end)
      if (chain.ended_by[end] > 0) text += line("ended", kEndNames[end], chain.ended_by[end]);
    if (chain.ending.value != 0) {
      text += line("ending", chain.offset, chain.inexact ? 1 : 0);
      text += lines_of("at", frames_[chain.ending.value]);
    }
    for (std::size_t mode = 0; mode < kModes; ++mode)
      text += line(mode == 0 ? "blocking" : "deferred", text_of(chain.modes[mode].communication),
                   text_of(chain.modes[mode].overhead), text_of(chain.modes[mode].round));
    if (std::all_of(chain.modes.begin(), chain.modes.end(),
                    [](const ModeTimes& m) { return m.communication.count() > 0; }))
      text += line("least", chain.modes[0].least, chain.modes[1].least);
    text += line("between", text_of(chain.between));
  }
  return text;
}

}  // namespace nplus1::stubs::measure
