#include "simnode/node/acceptor.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "semantics/time_settings.hpp"
#include "support/program_name.hpp"

namespace nplus1::simnode::node {
namespace {

constexpr std::int32_t kMostRanks = 1 << 20;
constexpr std::chrono::seconds kRankPatience{10};  // for a rank of ours to take what it asked for

/// What a process runs.
std::string program_of(std::int32_t pid) {
  const std::filesystem::path about = "/proc/" + std::to_string(pid);
  std::error_code error;
  const auto path = std::filesystem::read_symlink(about / "exe", error);
  if (error) return "app";
  std::ifstream words{about / "cmdline"};
  std::vector<std::string> command;
  for (std::string word; std::getline(words, word, '\0');) command.push_back(word);
  command.resize(std::max<std::size_t>(command.size(), 1));
  command.front() = path.string();
  return program_name(command);
}

/// nplus1-APP-N-K with the first K that is free; made here, so that nobody else takes it.
std::string choose_output(std::int32_t pid, std::int32_t ranks) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  for (int k = 1; k < 100000; ++k) {
    const auto folder = here / fmt::format("nplus1-{}-{}-{}", program_of(pid), ranks, k);
    if (mkdir(folder.c_str(), 0777) == 0) return folder.string();
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

void leave_trouble(const std::string& folder, const Error& error) {
  std::FILE* file = std::fopen((folder + "/error.txt").c_str(), "w");
  if (file == nullptr) return;
  fmt::print(file, "{}\n{}\n", error.what, error.remedy);
  std::fclose(file);
}

Acceptor::Acceptor(Settings& settings, NetworkMaker make_network, Poll& poll, JobRanks& ranks,
                   RunRecording& recording, std::vector<std::string>& notes)
    : settings_{settings},
      make_network_{std::move(make_network)},
      poll_{poll},
      ranks_{ranks},
      recording_{recording},
      notes_{notes} {}

std::optional<transport::Meeting> Acceptor::open() {
  door_.emplace(poll_.epoll());
  if (!door_->open(settings_.hosts)) return std::nullopt;
  return door_->meeting();
}

void Acceptor::serve(int fd) {
  door_->serve(fd);
  for (const Arrival& arrival : door_->arrivals()) welcome(arrival);
}

void Acceptor::tick() {
  if (door_->has_guests()) door_->tick(std::chrono::steady_clock::now());
}

void Acceptor::begin_segment(int ranks) {
  ranks_.expect(ranks);
  memory_ = transport::create_segment_fd(ranks);
  if (memory_ >= 0) segment_ = transport::map_segment(memory_, ranks);
  if (segment_) segment_.initialise();
}

bool Acceptor::make_network(int ranks) {
  auto network = make_network_(ranks);
  if (network) {
    network_ = std::move(network).value();
    if (network_->contention_free() && !settings_.native)
      notes_.push_back("the network model knows no contention: messages never share links");
    return true;
  }
  leave_trouble(settings_.output, network.error());
  return false;
}

/// Of this job, but is it what it says? A rank that is none would size memory, or take another's place.
bool Acceptor::may_be_rank(const transport::Hello& hello) const {
  if (hello.rank < 0 || hello.rank >= hello.ranks || hello.ranks > kMostRanks) return false;
  if (settings_.ranks > 0 && hello.ranks != settings_.ranks) return false;
  return ranks_.empty() || (static_cast<std::size_t>(hello.ranks) == ranks_.size() &&
                            ranks_[RankId{hello.rank}].socket < 0 && !ranks_[RankId{hello.rank}].gone);
}

/// What the first rank tells of the job makes memory, network and recording.
bool Acceptor::is_ready_for(const transport::Hello& hello) {
  if (ranks_.empty()) begin_segment(hello.ranks);
  if (settings_.output.empty()) settings_.output = choose_output(hello.pid, hello.ranks);
  if (application_.empty()) application_ = program_of(hello.pid);
  if (!network_ && !make_network(hello.ranks)) {
    given_up_ = true;
    return false;
  }
  if (settings_.record == Record::kFull && !recording_.is_on())
    recording_.begin(hello.ranks, application_, network_->describe());
  return true;
}

void Acceptor::welcome(const Arrival& guest) {
  const transport::Hello& hello = guest.hello;
  if (given_up_ || !may_be_rank(hello) || !is_ready_for(hello)) {
    ::close(guest.socket);
    return;
  }
  JobRank& rank = ranks_[RankId{hello.rank}];
  rank.socket = guest.socket;
  rank.pid = hello.pid;
  if (!send_settings(rank, RankId{hello.rank}, guest.local))
    return give_up(fmt::format("rank {} did not take its settings", hello.rank));
  poll_.add(rank.socket);
}

bool Acceptor::send_settings(const JobRank& rank, RankId id, bool local) {
  transport::Welcome answer;
  answer.has_segment = local && segment_ ? 1 : 0;
  answer.config = settings_.config();
  answer.config.compute_scale *= network_->compute_scale(id);
  const std::string parts[] = {network_->describe_to_ranks(), settings_.output,
                               settings_.record_region,       semantics::packed(settings_.compute_rules, id),
                               settings_.collectives,         compute_intervals_of(id)};
  std::string texts;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    answer.text_bytes[i] = parts[i].size();
    texts += parts[i];
  }
  const transport::Deadline until = std::chrono::steady_clock::now() + kRankPatience;
  return transport::send_all(rank.socket, &answer, sizeof(answer), until) &&
         transport::send_all(rank.socket, texts.data(), texts.size(), until) &&
         (answer.has_segment == 0 || transport::send_descriptors(rank.socket, memory_, poll_.wake_fd()));
}

/// As they travel; a rank that the recording does not have gets none.
std::string Acceptor::compute_intervals_of(RankId rank) const {
  const auto& all = settings_.compute_intervals.of_rank;
  if (rank.index() >= all.size()) return {};
  const auto& mine = all[rank.index()];
  return {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(mine.front())};
}

/// One that leaves before its Start would be waited for by all others.
bool Acceptor::start(JobRank& rank) {
  const ssize_t n = recv(rank.socket, reinterpret_cast<char*>(&rank.start) + rank.start_bytes,
                         sizeof(rank.start) - rank.start_bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  const std::int32_t index = ranks_.id_of(rank).value;
  if (n <= 0) return give_up(fmt::format("rank {} left while the others were starting", index)), false;
  rank.start_bytes += static_cast<std::size_t>(n);
  if (rank.start_bytes < sizeof(rank.start)) return false;
  if (rank.start.active == 0) return ranks_.let_go(rank), false;  // as the ranks have agreed, all of them
  rank.started = true;
  if (rank.start.shared_memory != 0 && !segment_)
    return give_up(fmt::format("rank {} uses memory that it was not given", index)), false;
  rank.port = rank.start.shared_memory != 0 ? make_shared_memory_port(segment_.rank(index))
                                            : make_tcp_port(rank.socket);
  return ++started_ == static_cast<int>(ranks_.size());
}

void Acceptor::give_up(const std::string& why) {
  given_up_ = true;
  leave_trouble(settings_.output, {"the simulation did not begin: " + why,
                                   "the program ran as if without nplus1; run it again"});
  for (JobRank& rank : ranks_) ranks_.let_go(rank);
}

}  // namespace nplus1::simnode::node
