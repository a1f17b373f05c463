#include "overlap/patch/request.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::array<std::pair<CallKind, std::string_view>, 3> kKinds{
    {{CallKind::kSend, "send"}, {CallKind::kReceive, "receive"}, {CallKind::kSendrecv, "sendrecv"}}};
constexpr std::array<std::pair<WaitPlace, std::string_view>, 3> kWaits{
    {{WaitPlace::kBeforeLine, "before_line"},
     {WaitPlace::kAfterCalls, "after_calls"},
     {WaitPlace::kEndOfBlock, "end_of_block"}}};

template <class Table, class Value>
std::string word_of(const Table& table, Value value) {
  for (const auto& [known, word] : table)
    if (known == value) return std::string{word};
  throw std::logic_error{"a value without a word"};
}

template <class Table>
auto value_of(const Table& table, const Json& json, const char* key) {
  const auto word = json.at(key).get<std::string>();
  for (const auto& [value, known] : table)
    if (known == word) return value;
  throw std::invalid_argument{std::string{key} + " is \"" + word + "\", which is none of its words"};
}

/// `json[key]`. The parser would make a whole number of any: of 1e300 whatever the processor does.
template <class T>
T value_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<T>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    if (!fits)
      throw std::invalid_argument{std::string{key} + " is " + value.dump() + ", not such a whole number"};
  }
  return value.get<T>();
}

/// `json[key]`, or what a missing key means.
template <class T>
T or_default(const Json& json, const char* key, T otherwise = {}) {
  return json.contains(key) ? value_at<T>(json, key) : std::move(otherwise);
}

template <class T>
std::optional<T> optional_of(const Json& json, const char* key) {
  return json.contains(key) ? std::optional<T>{value_at<T>(json, key)} : std::nullopt;
}

Place place_of(const Json& json) {
  return {json.at("file").get<std::string>(), value_at<int>(json, "line")};
}

Json json_of(const Place& place) {
  return {{"file", place.file}, {"line", place.line}};
}

Call call_of(const Json& json) {
  Call call{.place = place_of(json),
            .function = json.at("function").get<std::string>(),
            .kind = value_of(kKinds, json, "kind")};
  call.watched = or_default(json, "watched", false);
  call.any_source = or_default(json, "any_source", false);
  call.post_send_after = or_default(json, "post_send_after", 0);
  call.post_receive_after = or_default(json, "post_receive_after", 0);
  return call;
}

Json json_of(const Call& call) {
  Json json = json_of(call.place);
  json["function"] = call.function;
  json["kind"] = word_of(kKinds, call.kind);
  json["watched"] = call.watched;
  if (call.any_source) json["any_source"] = true;
  if (call.post_send_after != 0) json["post_send_after"] = call.post_send_after;
  if (call.post_receive_after != 0) json["post_receive_after"] = call.post_receive_after;
  return json;
}

Wait wait_of(const Json& json) {
  Wait wait{.where = value_of(kWaits, json, "where"), .place = {}};
  if (wait.where == WaitPlace::kBeforeLine) wait.place = place_of(json);
  return wait;
}

Json json_of(const Wait& wait) {
  Json json = wait.where == WaitPlace::kBeforeLine ? json_of(wait.place) : Json::object();
  json["where"] = word_of(kWaits, wait.where);
  return json;
}

Chain chain_of(const Json& json) {
  Chain chain{
      .id = json.at("id").get<std::string>(), .calls = {}, .wait = wait_of(json.at("wait")), .unit = {}};
  for (const Json& call : json.at("calls")) chain.calls.push_back(call_of(call));
  chain.unit = or_default<std::string>(json, "unit");
  return chain;
}

Json json_of(const Chain& chain) {
  Json json{{"id", chain.id}, {"calls", Json::array()}, {"wait", json_of(chain.wait)}};
  for (const Call& call : chain.calls) json["calls"].push_back(json_of(call));
  if (!chain.unit.empty()) json["unit"] = chain.unit;
  return json;
}

SourceState source_of(const Json& json) {
  return {json.at("file").get<std::string>(), optional_of<double>(json, "not_after"),
          optional_of<std::uint32_t>(json, "crc32")};
}

Json json_of(const SourceState& source) {
  Json json{{"file", source.file}};
  if (source.not_after) json["not_after"] = *source.not_after;
  if (source.crc32) json["crc32"] = *source.crc32;
  return json;
}

ChainAnswer chain_answer_of(const Json& json) {
  ChainAnswer answer;
  answer.id = json.at("id").get<std::string>();
  answer.diff = or_default<std::string>(json, "diff");
  if (json.contains("wait")) answer.wait = place_of(json.at("wait"));
  answer.notes = or_default<std::vector<std::string>>(json, "notes");
  if (json.contains("refusal")) {
    const Json& refusal = json.at("refusal");
    answer.refusal = Refusal{place_of(refusal), refusal.at("code").get<std::string>(),
                             refusal.at("reason").get<std::string>()};
  }
  answer.advice = or_default<std::string>(json, "advice");
  return answer;
}

Json json_of(const ChainAnswer& answer) {
  Json json{{"id", answer.id}};
  if (answer.refusal) {
    json["refusal"] = json_of(answer.refusal->place);
    json["refusal"]["code"] = answer.refusal->code;
    json["refusal"]["reason"] = answer.refusal->reason;
    if (!answer.advice.empty()) json["advice"] = answer.advice;
  } else {
    json["diff"] = answer.diff;
    json["wait"] = json_of(answer.wait);
  }
  if (!answer.notes.empty()) json["notes"] = answer.notes;
  return json;
}

void check_version(const Json& json) {
  if (const int version = value_at<int>(json, "version"); version != kVersion)
    throw std::invalid_argument{"version is " + std::to_string(version) + ", not " +
                                std::to_string(kVersion)};
}

/// What `read` makes of the text; whatever it throws becomes an Error that begins with `what`.
template <class Read>
auto parsed(const std::string& text, const char* what, Read read) -> Result<decltype(read(Json{}))> {
  try {
    const Json json = Json::parse(text);
    check_version(json);
    return read(json);
  } catch (const std::exception& failure) {
    return Error{std::string{what} + ": " + failure.what(), "see docs/formats/patch.md"};
  }
}

std::string printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Request> parse_request(const std::string& json) {
  return parsed(json, "this is no request for a patch", [](const Json& root) {
    Request request;
    request.root = or_default<std::string>(root, "root");
    request.compile_commands = or_default<std::string>(root, "compile_commands");
    request.flags = optional_of<std::string>(root, "flags");
    request.compiler = or_default<std::string>(root, "compiler");
    if (root.contains("sources"))
      for (const Json& source : root.at("sources")) request.sources.push_back(source_of(source));
    for (const Json& chain : root.at("chains")) request.chains.push_back(chain_of(chain));
    return request;
  });
}

std::string to_json(const Request& request) {
  Json json{{"version", kVersion}};
  if (!request.root.empty()) json["root"] = request.root;
  if (!request.compile_commands.empty()) json["compile_commands"] = request.compile_commands;
  if (request.flags) json["flags"] = *request.flags;
  if (!request.compiler.empty()) json["compiler"] = request.compiler;
  json["sources"] = Json::array();
  for (const SourceState& source : request.sources) json["sources"].push_back(json_of(source));
  json["chains"] = Json::array();
  for (const Chain& chain : request.chains) json["chains"].push_back(json_of(chain));
  return printed(json);
}

Result<Answer> parse_answer(const std::string& json) {
  return parsed(json, "this is no answer of nplus1-patch", [](const Json& root) {
    Answer answer;
    answer.root = root.at("root").get<std::string>();
    answer.diff = root.at("diff").get<std::string>();
    for (const Json& chain : root.at("chains")) answer.chains.push_back(chain_answer_of(chain));
    return answer;
  });
}

std::string to_json(const Answer& answer) {
  Json json{{"version", kVersion}, {"root", answer.root}, {"diff", answer.diff}, {"chains", Json::array()}};
  for (const ChainAnswer& chain : answer.chains) json["chains"].push_back(json_of(chain));
  return printed(json);
}

}  // namespace nplus1::overlap::patch
