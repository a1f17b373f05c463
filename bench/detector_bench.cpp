// The detector at scale: 10 million messages of 1024 ranks with 8,835 binomial broadcasts among noise,
// through the same sink that a recording is read into. Prints what was found, and messages per second of CPU
// on one core. With a folder as third argument it writes a recording of them instead, for
// `nplus1 collectives --analysers`.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "detector/findings.hpp"
#include "detector/transfers.hpp"
#include "events/recording/writer.hpp"

using namespace nplus1;

namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Generator {
 public:
  Generator(events::EventSink& sink, std::int32_t ranks)
      : sink_{sink},
        ordinals_(static_cast<std::size_t>(ranks)),
        sequences_(ordinals_.size() * ordinals_.size()) {}

  std::uint64_t random() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 20U;
  }

  void message(std::int32_t from, std::int32_t to, std::uint64_t payload, std::int64_t size,
               std::uint32_t site) {
    events::Detail detail;
    detail.buffer = 0x10000U + static_cast<std::uint64_t>(site) * 0x100000U;
    detail.crc = static_cast<std::uint32_t>(payload * 2654435761U);
    detail.polynomial = payload;
    detail.prefix = payload << 20U;
    detail.content = events::kHasCrc | events::kHasPrefix | events::kHasPolynomial;
    events::Event event;
    event.kind = events::EventKind::kSend;
    event.peer = to;
    event.size = size;
    event.site = CallSiteId{site};
    events::Answer answer;
    answer.sequence =
        sequences_[static_cast<std::size_t>(from) * ordinals_.size() + static_cast<std::size_t>(to)]++;
    emit(from, event, answer, detail);
    event.kind = events::EventKind::kRecv;
    event.peer = answer.source = from;
    event.site = CallSiteId{site + 1};
    answer.size = size;
    emit(to, event, answer, detail);
  }

 private:
  void emit(std::int32_t rank, const events::Event& event, const events::Answer& answer,
            const events::Detail& d) {
    sink_.on_event(
        {RankId{rank}, event, {}, Time{}, answer, {}, &d, ordinals_[static_cast<std::size_t>(rank)]++});
  }

  events::EventSink& sink_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint32_t> sequences_;
  std::uint64_t state_ = 1;
};

void broadcast(Generator& g, std::int32_t p, std::int32_t root, std::uint64_t payload) {
  for (std::int32_t m = p / 2; m > 0; m /= 2)
    for (std::int32_t r = 0; r < p; r += 2 * m)
      g.message((r + root) % p, (r + m + root) % p, payload, 4096, 10);
}

/// The whole run, into any sink.
void generate(events::EventSink& sink, std::int32_t p, long all, long broadcasts) {
  Generator g{sink, p};
  long noise = all - broadcasts * (p - 1);
  std::uint64_t payload = 1'000'000;
  for (long k = 0; k < broadcasts; ++k) {
    broadcast(g, p, static_cast<std::int32_t>(g.random() % static_cast<std::uint64_t>(p)), ++payload);
    // Half of the noise comes from the same lines as the broadcasts.
    for (long n = noise / (broadcasts - k); n > 0; --n, --noise) {
      const auto from = static_cast<std::int32_t>(g.random() % static_cast<std::uint64_t>(p));
      const auto to = static_cast<std::int32_t>(
          (static_cast<std::uint64_t>(from) + 1 + g.random() % static_cast<std::uint64_t>(p - 1)) %
          static_cast<std::uint64_t>(p));
      g.message(from, to, ++payload, 4096, n % 2 == 0 ? 10 : 20);
    }
  }
}

int record(const char* folder, std::int32_t p, long all, long broadcasts) {
  events::recording::Header header;
  header.ranks = p;
  auto writer = events::recording::Writer::create(folder, header);
  if (!writer) {
    std::fprintf(stderr, "%s\n", writer.error().what.c_str());
    return EXIT_FAILURE;
  }
  generate(*writer.value(), p, all, broadcasts);
  return writer.value()->close() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int32_t p = 1024;
  const long all = argc > 1 ? std::atol(argv[1]) : 10'000'000;
  const long broadcasts = argc > 2 ? std::atol(argv[2]) : 8'835;
  if (argc > 3) return record(argv[3], p, all, broadcasts);
  const double start = cpu_seconds();
  detector::TransferCollector collector{p, static_cast<std::size_t>(all)};
  generate(collector, p, all, broadcasts);
  const detector::Transfers transfers = collector.take();
  const double collected = cpu_seconds();
  const auto findings = detector::find_collectives(transfers, collector);
  const double found = cpu_seconds();
  for (const auto& f : findings)
    std::printf("%s %s: %llu times, %llu messages, %zu ranks, %zu roots\n", detector::name(f.certainty),
                detector::name(f.kind), static_cast<unsigned long long>(f.count),
                static_cast<unsigned long long>(f.messages), f.ranks.size(), f.roots.size());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto n = static_cast<double>(transfers.all.size());
  std::printf("%.0f messages; collecting %.2f s, finding %.2f s: %.2f million per second; %.0f bytes each\n",
              n, collected - start, found - collected, 1e-6 * n / (found - start),
              1024.0 * static_cast<double>(usage.ru_maxrss) / n);
}
