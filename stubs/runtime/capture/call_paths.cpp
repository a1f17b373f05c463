#include "stubs/runtime/capture/call_paths.hpp"

#include <pthread.h>
#include <unwind.h>

#include <algorithm>

namespace nplus1::stubs {
namespace {

/// Return addresses between MPI and the application, at most: the bindings of Fortran.
constexpr unsigned kBindings = 4;

/// The calling thread's stack. A path is remembered only for calls from there: memory of another stack (user
/// level threads, a thread that has ended) may be gone when it is compared.
struct Stack {
  std::uintptr_t low = 1;
  std::uintptr_t high = 0;
};
constinit thread_local Stack stack;

void measure_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  stack.low = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack.low = reinterpret_cast<std::uintptr_t>(low);
    stack.high = stack.low + size;
  }
  pthread_attr_destroy(&attributes);
}

bool on_stack(const void* at) {
  if (stack.low == 1) measure_stack();
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return address >= stack.low && address < stack.high;
}

std::size_t hash(const void* address, const void* frame) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto f = reinterpret_cast<std::uintptr_t>(frame);
  return ((a ^ (f << 20)) * 0x9e3779b97f4a7c15u) >> 40;
}

}  // namespace

bool CallPaths::holds(const Known& known) {
  if (known.slots > 0 && !on_stack(known.outer[known.slots - 1].slot)) return false;
  for (std::uint32_t i = 0; i < known.slots; ++i)
    if (*known.outer[i].slot != known.outer[i].address) return false;
  return true;
}

const CallPaths::Known* CallPaths::find(const Set& set, const void* address, const void* frame) {
  for (const Known& known : set.ways)
    if (known.address == address && known.frame == frame && holds(known)) return &known;
  return nullptr;
}

void CallPaths::remember(const Walk& walk, std::size_t last, const void* frame, CallSiteId id, Known& known) {
  for (std::size_t i = 1; i <= last; ++i)  // not where return addresses live elsewhere
    if (!on_stack(walk.steps[i].slot) || *walk.steps[i].slot != walk.steps[i].address) return;
  known = {walk.innermost, frame, id, static_cast<std::uint32_t>(last), {}};
  std::copy_n(walk.steps.begin() + 1, last, known.outer.begin());
}

CallSiteId CallPaths::id(const void* address, const void* frame) {
  if (python_) {
    const CallSiteId id = python_id(address, frame);
    if (id.value != 0) return id;
  }
  if (frames_ <= 1 || frame == nullptr) return one_frame(address);
  if (!known_) known_ = std::make_unique<Cache>();
  Set& set = (*known_)[hash(address, frame) % kSets];
  const bool cacheable = on_stack(frame);
  if (const Known* known = cacheable ? find(set, address, frame) : nullptr; known != nullptr)
    return known->id;
  return look(address, frame, set.ways[set.next++ % kWays], cacheable);
}

CallSiteId CallPaths::one_frame(const void* address) {
  const auto found = single_.find(address);
  if (found != single_.end()) return found->second;
  const CallSiteId id = intern({address});
  single_.emplace(address, id);
  return id;
}

CallPaths::Walk CallPaths::walk(const void* address, unsigned frames) {
  Walk walk{address, frames + kBindings, {}};
  walk.steps.reserve(walk.wanted);
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        auto& w = *static_cast<Walk*>(argument);
        const auto* at = reinterpret_cast<const void*>(_Unwind_GetIP(context));
        if (w.steps.empty() && at != w.innermost) return _URC_NO_REASON;  // still our own functions
        // On x86-64 the caller's stack begins above the return address.
        w.steps.push_back({at, reinterpret_cast<const void* const*>(_Unwind_GetCFA(context)) - 1});
        return w.steps.size() == w.wanted ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &walk);
  if (walk.steps.empty()) walk.steps.push_back({address, nullptr});
  return walk;
}

ModuleKind CallPaths::kind_of(const void* address) {
  const Module* module = modules_.find(address);
  return module == nullptr ? ModuleKind::kProgram : module->kind;
}

std::pair<std::size_t, std::size_t> CallPaths::part(const Walk& walk) {
  const auto kind = [&](std::size_t i) { return kind_of(walk.steps[i].address); };
  std::size_t first = 0;
  while (first + 1 < walk.steps.size() && first < kBindings && kind(first) == ModuleKind::kMpi) ++first;
  std::size_t end = first + 1;
  while (end < walk.steps.size() && end < first + frames_ && kind(end) != ModuleKind::kSystem) ++end;
  return {first, end};
}

CallSiteId CallPaths::look(const void* address, const void* frame, Known& known, bool may_remember) {
  const Walk found = walk(address, frames_);
  const auto [first, end] = part(found);
  std::vector<const void*> addresses;
  for (std::size_t i = first; i < end; ++i) addresses.push_back(found.steps[i].address);
  const CallSiteId id = intern(std::move(addresses));
  if (may_remember) remember(found, end - 1, frame, id, known);
  return id;
}

CallSiteId CallPaths::id_of(const void* const* addresses, std::size_t size) {
  if (size == 0) return CallSiteId{};
  const auto is_system = [&](std::size_t i) {
    const ModuleKind kind = kind_of(addresses[i]);
    return kind == ModuleKind::kMpi || kind == ModuleKind::kSystem;
  };
  std::size_t first = 0;
  while (first < size && is_system(first)) ++first;
  if (first == size) first = 0;
  std::vector<const void*> kept{addresses[first]};
  for (std::size_t i = first + 1; i < size && kept.size() < frames_ && !is_system(i); ++i)
    kept.push_back(addresses[i]);
  return intern(std::move(kept));
}

CallSiteId CallPaths::intern(std::vector<const void*> addresses) {
  const auto known = ids_.find(addresses);
  if (known != ids_.end()) return known->second;
  const CallSiteId id{++last_};
  std::string frames;
  for (const void* a : addresses) frames += (frames.empty() ? "" : "\n") + modules_.frame(a);
  ids_.emplace(std::move(addresses), id);
  define_(id, frames);
  return id;
}

CallSiteId CallPaths::python_id(const void* address, const void* frame) {
  key_.resize(1 + frames_);
  const std::size_t places = python_->read(key_.data() + 1, frames_);
  if (places == 0) return {};
  const std::optional<std::uint32_t> way = way_from_python(address, frame);
  if (!way) return {};
  const std::size_t own = std::min<std::size_t>(ways_[*way].size(), frames_);
  key_[0] = *way;
  key_.resize(1 + std::min(places, frames_ - own));
  const auto known = python_ids_.find(key_);
  if (known != python_ids_.end()) return known->second;
  const CallSiteId id{++last_};
  std::string frames;
  for (std::size_t i = 0; i < own; ++i)
    frames += (frames.empty() ? "" : "\n") + modules_.frame(ways_[*way][i]);
  for (std::size_t i = 1; i < key_.size(); ++i)
    frames += (frames.empty() ? "" : "\n") + python_->text(key_[i]);
  python_ids_.emplace(key_, id);
  define_(id, frames);
  return id;
}

std::optional<std::uint32_t> CallPaths::way_from_python(const void* address, const void* frame) {
  constexpr std::uint32_t kNotByPython = 0;
  if (ways_.empty()) ways_.resize(1);
  if (frames_ <= 1 || frame == nullptr) {
    const auto [known, fresh] = bindings_.try_emplace(address);
    if (fresh) known->second = kind_of(address) == ModuleKind::kPythonBinding;
    return known->second ? std::optional{intern_way({})} : std::nullopt;
  }
  if (!known_ways_) known_ways_ = std::make_unique<Cache>();
  Set& set = (*known_ways_)[hash(address, frame) % kSets];
  const bool cacheable = on_stack(frame);
  const Known* known = cacheable ? find(set, address, frame) : nullptr;
  const std::uint32_t way = known != nullptr
                                ? known->id.value
                                : look_from_python(address, frame, set.ways[set.next++ % kWays], cacheable);
  return way == kNotByPython ? std::nullopt : std::optional{way};
}

std::uint32_t CallPaths::look_from_python(const void* address, const void* frame, Known& known,
                                          bool may_remember) {
  const Walk found = walk(address, kMostFrames);
  std::vector<const void*> addresses;
  std::size_t at = 0;
  for (; at < found.steps.size() && !python_->in_interpreter(found.steps[at].address); ++at)
    if (kind_of(found.steps[at].address) == ModuleKind::kProgram)
      addresses.push_back(found.steps[at].address);
  // Where the interpreter itself calls MPI, whoever linked it with a program knows better what that is.
  const bool by_python = at > 0 && at < found.steps.size();
  const std::uint32_t way = by_python ? intern_way(std::move(addresses)) : 0;
  if (may_remember) remember(found, std::min(at, found.steps.size() - 1), frame, CallSiteId{way}, known);
  return way;
}

std::uint32_t CallPaths::intern_way(std::vector<const void*> addresses) {
  const auto [known, fresh] =
      way_numbers_.try_emplace(std::move(addresses), static_cast<std::uint32_t>(ways_.size()));
  if (fresh) ways_.push_back(known->first);
  return known->second;
}

const std::string& CallPaths::place(const void* address) {
  std::string& place = places_[address];
  if (place.empty()) place = modules_.place(address);
  return place;
}

}  // namespace nplus1::stubs
