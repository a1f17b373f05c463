// Reads one location of an archive and makes events of its records: of our own archives by their attributes,
// of others by what Enter, Leave and OTF2's MPI records say (Score-P's event model). Used in the child
// process. Throws Damaged.
#pragma once

#include <otf2/otf2.h>

#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/exchange/stored_event.hpp"
#include "events/mpi_call.hpp"
#include "events/otf2/attributes.hpp"
#include "events/otf2/collectives.hpp"
#include "events/otf2/definition_reader.hpp"

namespace nplus1::events::otf2 {

class LocationReader {
 public:
  /// Both must outlive this; event files must be open.
  LocationReader(OTF2_Reader* reader, const DefinitionReader& definitions, const Place& place);
  LocationReader(const LocationReader&) = delete;
  LocationReader& operator=(const LocationReader&) = delete;

  struct Item {
    Time at;  // when it came out
    exchange::StoredEvent event;
    bool is_match = false;
    Answer match;
    bool open = false;  // a later record says how it went: a posted receive, a collective that goes on
  };
  /// Null at the end. Valid until pop().
  const Item* front();
  void pop() { items_.pop_front(), ++popped_; }
  /// The location's file need not stay open.
  void close();

  /// What this archive could not say, as sentences.
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }

  // Called from the library; must not throw, so trouble_ keeps what is wrong.
  struct Message {
    std::uint32_t peer;
    OTF2_CommRef comm;
    std::uint32_t tag;
    std::uint64_t size;
  };
  struct Collective {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    std::uint32_t root;
    Moved moved;
  };
  OTF2_CallbackCode guarded(OTF2_TimeStamp ticks, auto function) noexcept {
    try {
      advance(ticks);
      function(*this);
      return OTF2_CALLBACK_SUCCESS;
    } catch (const std::exception& error) {
      trouble_ = error.what();
      return OTF2_CALLBACK_ERROR;
    }
  }
  void enter(OTF2_RegionRef region, const OTF2_AttributeList* list);
  void leave(const OTF2_AttributeList* list);
  void parameter(OTF2_ParameterRef parameter, std::uint64_t value);
  void sent(const Message& message);
  void sent(const Message& message, std::uint64_t request);
  void receive_posted(std::uint64_t request);
  void received(const Message& message);
  void received(const Message& message, std::uint64_t request, const OTF2_AttributeList* list);
  void send_completed(std::uint64_t request);
  void tested(std::uint64_t request);
  void cancelled(std::uint64_t request);
  void collective(const Collective& collective);
  void collective_posted(std::uint64_t request);
  void collective(const Collective& collective, std::uint64_t request);

 private:
  using Override = std::pair<std::size_t, std::uint64_t>;  // an attribute and its value
  /// A call that was entered and not left yet.
  struct Call {
    Time entry;
    OTF2_RegionRef region;
    MpiCall call;
    bool ours = false;
    bool instant = false;  // emitted on Enter
    std::vector<Override> overrides;
    exchange::StoredEvent lists;                // ours: words, sizes, completed
    std::vector<exchange::StoredEvent> events;  // others': what the records in it said
    std::vector<std::uint32_t> completed;       // requests
    std::vector<std::uint32_t> tested;
  };

  void fill();
  void advance(OTF2_TimeStamp ticks);
  [[nodiscard]] std::vector<Override> overrides_of(const OTF2_AttributeList* list) const;
  void emit(exchange::StoredEvent event, bool open = false);
  void emit_ours(const Call& call, Time exit);
  void emit_region(EventKind kind, OTF2_RegionRef region);
  void emit_others(Call& call, Time exit);
  void add_completion(Call& call);
  void interpret_silence(Call& call);
  exchange::StoredEvent& add(EventKind kind);
  void set_message(Event& event, const Message& message) const;
  void set_collective(Event& event, const Collective& collective) const;
  std::uint32_t start(std::uint64_t request);
  std::uint32_t complete(std::uint64_t request);
  Event* posted_event(std::uint32_t request);
  Item* open_item(std::uint32_t request);
  void leave_unknown(Item& item);
  void finish();

  OTF2_Reader* reader_;
  const DefinitionReader& definitions_;
  Place place_;
  OTF2_EvtReader* events_ = nullptr;
  std::uint64_t read_ = 0;  // records
  bool ended_ = false;
  std::string trouble_;
  OTF2_TimeStamp last_ticks_ = 0;
  Time now_{};
  Time last_exit_{};
  std::vector<Call> stack_;
  std::deque<Item> items_;
  std::uint64_t popped_ = 0;
  std::uint32_t requests_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> active_;      // others' request -> ours
  std::unordered_map<std::uint32_t, std::uint64_t> open_items_;  // request -> place in the stream
  std::set<std::string> missing_;
};

}  // namespace nplus1::events::otf2
