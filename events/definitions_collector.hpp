// Keeps the definitions of a run for look-ups by id: what analyses and exporters ask for names. A sink like
// any other; events pass it by. What was never defined is null. One thread.
#pragma once

#include <map>

#include "events/sink.hpp"

namespace nplus1::events {

class DefinitionsCollector : public EventSink {
 public:
  void on_event(const TimedEvent& /*event*/) override {}
  void on_communicator(const Communicator& c) override { communicators_.insert_or_assign(c.id, c); }
  void on_call_path(const CallPath& p) override { call_paths_.insert_or_assign(p.id, p); }
  void on_region(const Region& r) override { regions_.insert_or_assign(r.id, r); }
  void on_datatype(const Datatype& d) override { datatypes_.insert_or_assign(d.id, d); }

  [[nodiscard]] const Communicator* communicator(CommId id) const { return find(communicators_, id); }
  [[nodiscard]] const CallPath* call_path(CallSiteId id) const { return find(call_paths_, id); }
  [[nodiscard]] const Region* region(RegionId id) const { return find(regions_, id); }
  [[nodiscard]] const Datatype* datatype(DatatypeId id) const { return find(datatypes_, id); }

  /// All of a kind, in the order of their ids.
  [[nodiscard]] const std::map<CommId, Communicator>& communicators() const { return communicators_; }
  [[nodiscard]] const std::map<CallSiteId, CallPath>& call_paths() const { return call_paths_; }
  [[nodiscard]] const std::map<RegionId, Region>& regions() const { return regions_; }
  [[nodiscard]] const std::map<DatatypeId, Datatype>& datatypes() const { return datatypes_; }

 private:
  template <class Id, class Definition>
  static const Definition* find(const std::map<Id, Definition>& all, Id id) {
    const auto found = all.find(id);
    return found == all.end() ? nullptr : &found->second;
  }

  std::map<CommId, Communicator> communicators_;
  std::map<CallSiteId, CallPath> call_paths_;
  std::map<RegionId, Region> regions_;
  std::map<DatatypeId, Datatype> datatypes_;
};

}  // namespace nplus1::events
