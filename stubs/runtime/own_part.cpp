#include "stubs/runtime/own_part.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/regions.hpp"

namespace nplus1::stubs {
namespace {

using events::OwnPart;

/// Longer parts are not looked at: a copy would cost more than it tells.
constexpr std::uint64_t kLongestPart = 1U << 22U;
/// Bytes whose reading costs more than reading the CPU clock.
constexpr std::uint64_t kMuchToRead = 8192;

void tell(Call& call, OwnPart how, const CallData& data) {
  events::Event event;
  event.kind = events::EventKind::kLocal;
  event.operation = static_cast<std::uint8_t>(how);
  event.size = static_cast<std::int64_t>(payload_bytes(data.sent->count, data.sent->type));
  call.emit(event, nullptr, &data);
}

/// Where parts are inferred: null elsewhere.
Capture* inferring(Call& call) {
  Capture* capture = call.rt.capture();
  return capture != nullptr && capture->infers() && capture->records() ? capture : nullptr;
}

/// A persistent request's type is a copy that will be freed behind our back: what is known of the original
/// counts.
KnownDatatype type_of(Capture& capture, const Transfer& t) {
  return t.datatype.id.value != 0 ? t.datatype : capture.datatype(t.type, true);
}

/// The data of a transfer, if they lie in one piece.
std::optional<KeptParts::Data> data_of(const Transfer& t, const KnownDatatype& type) {
  if (!type.plain || t.count <= 0) return std::nullopt;
  return KeptParts::Data{reinterpret_cast<std::uintptr_t>(t.buffer),
                         static_cast<std::uint64_t>(type.size * t.count), type.id.value};
}

/// A copy of memory that need not be there: the kernel reads it, and refuses bad addresses.
bool read_memory(std::uint64_t address, std::uint64_t bytes, std::vector<std::byte>& copy) {
  if (bytes > kLongestPart) return false;
  copy.resize(bytes);
  const iovec to{copy.data(), bytes};
  const iovec from{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes);
}

/// An inferred part at `address`, of the type and count of `like`.
void tell_copy(Call& call, OwnPart how, const Transfer& like, const KnownDatatype& type,
               std::uint64_t address, const std::vector<std::byte>& copy) {
  const Payload sent{copy.data(), like.count, like.type};
  tell(call, how, {{reinterpret_cast<const void*>(address), like.count, like.type}, type, &sent});
}

}  // namespace

void record_own_part(const void* buffer, MPI_Count count, MPI_Datatype type, const void* return_address,
                     const void* frame) {
  if (!active() || type == MPI_DATATYPE_NULL || count < 0) return;
  const SiteScope scope{return_address, frame};
  Call call{false, Clock::kAdrift};
  if (call.rt.capture() == nullptr) return;
  const Payload own{buffer, count, type};
  tell(call, OwnPart::kTold, {own, {}, &own});
}

void infer_block_kept(Call& call, const Transfer& send) {
  Capture* capture = inferring(call);
  if (capture == nullptr || send.peer == MPI_PROC_NULL || send.comm->inter) return;
  const KnownDatatype type = type_of(*capture, send);
  const auto block = data_of(send, type);
  if (!block) return;
  const auto kept = capture->kept_parts().block_sent(send.comm->key, send.comm->my_index,
                                                     send.comm->members(), send.peer, *block);
  std::vector<std::byte>& copy = capture->scratch();
  if (kept && read_memory(*kept, block->bytes, copy))
    tell_copy(call, OwnPart::kBetween, send, type, *kept, copy);
}

void infer_parts_added_to(Call& call, const Transfer& receive) {
  Capture* capture = inferring(call);
  if (capture == nullptr || receive.peer == MPI_PROC_NULL) return;
  const KnownDatatype type = type_of(*capture, receive);
  const auto data = data_of(receive, type);
  if (!data || type.element == events::payload::ElementType::kWords) return;
  std::vector<std::byte>& copy = capture->scratch();
  const auto look = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
    // As with hashes of what is sent: none of it must be taken for the program's.
    if (data->bytes > kMuchToRead) call.thread.clock.start_exactly();
    if (!read_memory(address, data->bytes, copy)) return std::nullopt;
    return capture->content_of({copy.data(), receive.count, receive.type}, type);
  };
  capture->kept_parts().receives(*data, look, [&](std::uint64_t address) {
    tell_copy(call, OwnPart::kAddedTo, receive, type, address, copy);
  });
}

}  // namespace nplus1::stubs
