// libFuzzer target: any bytes as a recording. Each input is read as it is, and again with the checksum of its
// first blocks made right, so that the fuzzer gets past them. Preset `fuzz`; run: recording_fuzz CORPUS
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "events/definitions_collector.hpp"
#include "events/recording/format.hpp"
#include "events/recording/reader.hpp"

namespace nplus1::events::recording {
namespace {

void read(const ByteVector& bytes) {
  const int descriptor = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  Result<Reader> reader = Reader::open("/proc/self/fd/" + std::to_string(descriptor));
  DefinitionsCollector sink;
  if (reader) static_cast<void>(reader.value().read(sink));
  ::close(descriptor);
}

void seal(ByteVector& bytes) {
  if (bytes.size() < kHeaderBytes) return;
  const HeaderBytes head = file_header(64);
  std::memcpy(bytes.data(), head.data(), head.size());
  std::uint64_t number = 0;
  for (std::size_t at = kHeaderBytes; at + kHeaderBytes < bytes.size();) {
    ByteReader in{ByteSpan{bytes}.subspan(at)};
    in.get<std::uint32_t>();
    BlockHeader header;
    header.type = static_cast<BlockType>(in.get<std::uint16_t>() % 4);
    in.get<std::uint16_t>();
    const std::size_t left = bytes.size() - at - kHeaderBytes;
    header.payload_bytes = static_cast<std::uint32_t>(in.get<std::uint32_t>() % (left + 1));
    header.rows = in.get<std::uint32_t>() % 64;
    header.number = number++;
    header.payload_crc = crc32_of(ByteSpan{bytes}.subspan(at + kHeaderBytes, header.payload_bytes));
    const HeaderBytes sealed = block_header(header);
    std::memcpy(bytes.data() + at, sealed.data(), sealed.size());
    at += kHeaderBytes + header.payload_bytes;
  }
}

}  // namespace
}  // namespace nplus1::events::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nplus1::events::recording;
  ByteVector bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  read(bytes);
  seal(bytes);
  read(bytes);
  return 0;
}
