#include "stubs/runtime/own_part.hpp"

#include "stubs/runtime/private_copy.hpp"
#include "stubs/runtime/regions.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

void record_own_part(const void* buffer, MPI_Count count, MPI_Datatype type, const void* return_address,
                     const void* frame) {
  if (!active() || type == MPI_DATATYPE_NULL || count < 0) return;
  const SiteScope scope{return_address, frame};
  Call call{false};
  if (call.rt.capture() == nullptr) return;
  const Payload own{buffer, count, type};
  events::Event event;
  event.kind = events::EventKind::kLocal;
  event.size = static_cast<std::int64_t>(payload_bytes(count, type));
  const CallData data{own, {}, &own};
  call.emit(event, nullptr, &data);
}

}  // namespace nplus1::stubs
