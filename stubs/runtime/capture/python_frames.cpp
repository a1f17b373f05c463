#include "stubs/runtime/capture/python_frames.hpp"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "stubs/runtime/capture/modules.hpp"

namespace nplus1::stubs {
namespace {

// ---- what all versions have in common -------------------------------------------------------------------------
// These are the public structures of Include/object.h, descrobject.h, bytesobject.h, unicodeobject.h.
constexpr std::ptrdiff_t kType = 8;     // of any object
constexpr std::ptrdiff_t kLength = 16;  // of strings and bytes
constexpr std::ptrdiff_t kBytes = 32;   // of bytes
constexpr std::ptrdiff_t kState = 32;   // of strings: how they are kept
constexpr std::ptrdiff_t kTypeName = 24;
constexpr std::ptrdiff_t kBasicSize = 32;
constexpr std::ptrdiff_t kMembers = 240;

struct Member {
  const char* name;
  int type;
  std::ptrdiff_t offset;
  int flags;
  const char* documentation;
};

/// Longer ones are cut; who has longer ones is not waited for.
constexpr std::int64_t kLongestFile = 4096, kLongestFunction = 512;
/// Of what maps instructions to lines: this much is compared.
constexpr std::size_t kMostOfTable = 65536;
/// Frames whose shape is looked at, and places that are remembered, at most.
constexpr int kLookedAt = 100;
constexpr std::size_t kMostPlaces = 65536;

template <class T>
T load(const void* object, std::ptrdiff_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof(value));
  return value;
}

/// The same of memory that may not be there.
template <class T>
bool peek(const void* object, std::ptrdiff_t offset, T& value) {
  if (object == nullptr) return false;
  const iovec to{&value, sizeof(value)};
  const iovec from{const_cast<char*>(static_cast<const char*>(object)) + offset, sizeof(value)};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof(value));
}

// ---- where frames are, by version -----------------------------------------------------------------------------
// Include/cpython/pystate.h, frameobject.h, Include/internal/pycore_frame.h of each. Offsets of code objects are taken from
// the interpreter itself, which tells them to its inspection of members.
struct Layout {
  int minor;
  std::ptrdiff_t first;     // in the thread's state: its innermost frame, or what points to it
  std::ptrdiff_t in_first;  // in the latter; -1: it is the frame
  std::ptrdiff_t code, previous;
  std::ptrdiff_t instruction;  // a pointer to it, or its number
  int number_unit;             // bytes for each; 0: it is a pointer
  std::ptrdiff_t owner;        // -1: there is none
  std::ptrdiff_t ascii;        // size of the head of strings of ASCII alone, and of others
  std::ptrdiff_t others;
};
constexpr std::array<Layout, 6> kLayouts{{
    {8, 24, -1, 32, 24, 104, 1, -1, 48, 72},
    {9, 24, -1, 32, 24, 104, 1, -1, 48, 72},
    {10, 24, -1, 32, 24, 96, 2, -1, 48, 72},
    {11, 56, 8, 32, 48, 56, 0, -1, 48, 72},
    {12, 56, 0, 0, 8, 56, 0, 70, 40, 56},
    {13, 72, -1, 0, 8, 56, 0, 70, 40, 56},
}};
/// An entry of C's into the interpreter, which is no function of the program's.
constexpr char kOwnedByC = 3;

/// Functions of the interpreter that read and no more: none of them needs its lock.
struct Interpreter {
  Layout layout{};
  void* (*this_thread)() = nullptr;
  int (*is_finalizing)() = nullptr;
  int (*line_of)(const void* code, int at) = nullptr;
  std::ptrdiff_t (*length)(const void* string) = nullptr;
  std::uint32_t (*character)(const void* string, std::ptrdiff_t index) = nullptr;
  const void* code_type = nullptr;
  const void* string_type = nullptr;
  const void* bytes_type = nullptr;
  std::ptrdiff_t file = 0, name = 0, first_line = 0, lines = 0;
  std::ptrdiff_t instructions = 0;  // where they begin in a code object
};

template <class T>
bool find(T& entry, const char* name) {
  entry = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  return entry != nullptr;
}

bool find_layout(Layout& layout) {
  const char* (*version)() = nullptr;
  if (!find(version, "Py_GetVersion")) return false;
  const std::optional<int> minor = minor_version(version());
  const auto* known =
      std::find_if(kLayouts.begin(), kLayouts.end(), [&](const Layout& l) { return minor == l.minor; });
  if (known == kLayouts.end()) return false;
  layout = *known;
  return true;
}

bool is_text(const char* at, std::string_view text) {
  std::array<char, 32> found{};
  for (std::size_t i = 0; i <= text.size() && i < found.size(); ++i)
    if (!peek(at, static_cast<std::ptrdiff_t>(i), found[i])) return false;
  return found.data() == text;
}

/// Where the type's objects have `member`.
bool find_member(const void* type, std::string_view member, std::ptrdiff_t& offset) {
  const char* members = nullptr;
  if (!peek(type, kMembers, members) || members == nullptr) return false;
  constexpr int kMost = 64;
  for (int i = 0; i < kMost; ++i) {
    Member m{};
    if (!peek(members, static_cast<std::ptrdiff_t>(sizeof(Member)) * i, m) || m.name == nullptr) return false;
    if (!is_text(m.name, member)) continue;
    offset = m.offset;
    return offset > 0 && offset < 1024;
  }
  return false;
}

bool find_code_members(Interpreter& in) {
  const char* name = nullptr;
  if (!peek(in.code_type, kTypeName, name) || !is_text(name, "code")) return false;
  return find_member(in.code_type, "co_filename", in.file) &&
         find_member(in.code_type, "co_firstlineno", in.first_line) &&
         (find_member(in.code_type, "co_qualname", in.name) ||
          find_member(in.code_type, "co_name", in.name)) &&
         (find_member(in.code_type, "co_linetable", in.lines) ||
          find_member(in.code_type, "co_lnotab", in.lines)) &&
         peek(in.code_type, kBasicSize, in.instructions);
}

std::optional<Interpreter> find_interpreter() {
  Interpreter in;
  if (!find(in.this_thread, "PyGILState_GetThisThreadState") || !find_layout(in.layout)) return std::nullopt;
  if (!find(in.is_finalizing, "_Py_IsFinalizing") && !find(in.is_finalizing, "Py_IsFinalizing"))
    return std::nullopt;
  const bool found = find(in.line_of, "PyCode_Addr2Line") && find(in.length, "PyUnicode_GetLength") &&
                     find(in.character, "PyUnicode_ReadChar") && find(in.code_type, "PyCode_Type") &&
                     find(in.string_type, "PyUnicode_Type") && find(in.bytes_type, "PyBytes_Type");
  return found && find_code_members(in) ? std::optional{in} : std::nullopt;
}

const std::optional<Interpreter>& interpreter() {
  static const std::optional<Interpreter> found = find_interpreter();
  return found;
}

bool is_a(const void* object, const void* type) {
  const void* its = nullptr;
  return peek(object, kType, its) && its == type;
}

// ---- strings --------------------------------------------------------------------------------------------------
void add_utf8(std::string& text, std::uint32_t c) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (c >= 0xdc80 && c <= 0xdcff) return byte(c - 0xdc00);  // bytes of a file's name that were no text
  if (c >= 0xd800 && c <= 0xdfff) c = '?';
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6U), byte(0x80 | (c & 63U));
  if (c < 0x10000) return byte(0xe0 | c >> 12U), byte(0x80 | (c >> 6U & 63U)), byte(0x80 | (c & 63U));
  byte(0xf0 | c >> 18U), byte(0x80 | (c >> 12U & 63U)), byte(0x80 | (c >> 6U & 63U)), byte(0x80 | (c & 63U));
}

/// Of a string object. What would end or divide a frame's text is escaped; `divider` is 0 where only lines end it.
bool read_string(const Interpreter& in, const void* string, std::int64_t longest, char divider,
                 std::string& text) {
  if (!is_a(string, in.string_type)) return false;
  const std::int64_t length = std::min<std::int64_t>(in.length(string), longest);
  if (length < 0) return false;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::uint32_t c = in.character(string, i);
    if (c > 0x10ffff) return false;
    if (c == '\\' || (divider != 0 && c == static_cast<unsigned char>(divider))) text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      add_utf8(text, c);
  }
  return true;
}

// ---- frames ---------------------------------------------------------------------------------------------------
/// Null: the thread executes no Python.
const void* first_frame(const Layout& layout, const void* thread) {
  const auto* first = load<const void*>(thread, layout.first);
  return first == nullptr || layout.in_first < 0 ? first : load<const void*>(first, layout.in_first);
}

/// Bytes into the instructions of `code`.
std::int64_t position(const Interpreter& in, const void* frame, const void* code) {
  const Layout& l = in.layout;
  if (l.number_unit != 0) return std::int64_t{load<int>(frame, l.instruction)} * l.number_unit;
  return load<const char*>(frame, l.instruction) - (static_cast<const char*>(code) + in.instructions);
}

bool is_entry_of_c(const Layout& layout, const void* frame) {
  return layout.owner >= 0 && load<char>(frame, layout.owner) == kOwnedByC;
}

}  // namespace

std::optional<int> minor_version(std::string_view version) {
  if (version.substr(0, 2) != "3." || version.find("free-threading") != version.npos) return std::nullopt;
  int minor = 0;
  std::size_t at = 2;
  const auto digit = [&] { return at < version.size() && version[at] >= '0' && version[at] <= '9'; };
  for (; digit() && minor < 1000; ++at) minor = 10 * minor + (version[at] - '0');
  if (at >= version.size() || version[at] != '.') return std::nullopt;
  ++at;
  while (digit()) ++at;
  const bool released =
      at >= version.size() || version[at] == ' ' || version[at] == '+' || version.substr(at, 2) == "rc";
  return released ? std::optional{minor} : std::nullopt;
}

/// A string or bytes as it was, to be compared with what is at the same address later: the object may be another then.
class PythonFrames::Copy {
 public:
  /// False where it cannot be told how the string is kept.
  bool take_string(const Interpreter& in, const void* string) {
    object_ = string;
    length_ = load<std::int64_t>(string, kLength);
    state_ = load<std::uint32_t>(string, kState);
    const std::uint32_t kind = state_ >> 2U & 7U;
    const bool compact = (state_ >> 5U & 1U) != 0, ascii = (state_ >> 6U & 1U) != 0;
    if (!compact || (kind != 1 && kind != 2 && kind != 4) || length_ < 0 || length_ > kLongestFile)
      return false;
    data_ = ascii ? in.layout.ascii : in.layout.others;
    bytes_.assign(static_cast<const char*>(string) + data_, static_cast<std::size_t>(length_) * kind);
    for (std::int64_t i = 0; i < length_; ++i) {
      std::uint32_t c = 0;
      std::memcpy(&c, bytes_.data() + i * kind, kind);
      if (c != in.character(string, i)) return false;
    }
    return true;
  }
  bool take_bytes(const Interpreter& in, const void* bytes) {
    if (!is_a(bytes, in.bytes_type)) return false;
    object_ = bytes;
    length_ = load<std::int64_t>(bytes, kLength);
    if (length_ < 0) return false;
    data_ = kBytes;
    bytes_.assign(static_cast<const char*>(bytes) + data_,
                  std::min(kMostOfTable, static_cast<std::size_t>(length_)));
    return true;
  }
  /// Whether `object` is what was copied. It must be of the same type.
  [[nodiscard]] bool is_string(const void* object) const {
    return load_is(object) && load<std::uint32_t>(object, kState) == state_ && equal();
  }
  [[nodiscard]] bool is_bytes(const void* object) const { return load_is(object) && equal(); }

 private:
  [[nodiscard]] bool load_is(const void* object) const {
    return object == object_ && load<std::int64_t>(object, kLength) == length_;
  }
  [[nodiscard]] bool equal() const {
    return std::memcmp(static_cast<const char*>(object_) + data_, bytes_.data(), bytes_.size()) == 0;
  }

  const void* object_ = nullptr;
  std::int64_t length_ = 0;
  std::uint32_t state_ = 0;
  std::ptrdiff_t data_ = 0;
  std::string bytes_;
};

/// What a place was made of, so that other code that has come to lie at the same address is not taken for it.
struct PythonFrames::Place {
  std::uint32_t number = 0;
  int first_line = 0;
  Copy file, name, lines;
};

PythonFrames::PythonFrames() : texts_(1) {
  Modules modules;
  if (const Module* module = modules.find(reinterpret_cast<const void*>(interpreter()->this_thread));
      module != nullptr) {
    begin_ = module->begin;
    end_ = module->end;
  }
}

PythonFrames::~PythonFrames() = default;

std::unique_ptr<PythonFrames> PythonFrames::make() {
  return interpreter() ? std::unique_ptr<PythonFrames>{new PythonFrames} : nullptr;
}

bool PythonFrames::in_interpreter(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= begin_ && at < end_;
}

bool PythonFrames::are_sound(const void* thread) {
  if (sound_ || broken_) return sound_;
  const Interpreter& in = *interpreter();
  const Layout& l = in.layout;
  const void* frame = nullptr;
  broken_ = true;
  if (!peek(thread, l.first, frame)) return false;
  if (frame != nullptr && l.in_first >= 0 && !peek(frame, l.in_first, frame)) return false;
  bool any = false;
  for (int i = 0; frame != nullptr && i < kLookedAt; ++i) {
    const void *code = nullptr, *string = nullptr;
    std::int64_t instruction = 0;
    char owner = 0;
    if (!peek(frame, l.code, code) || !peek(frame, l.instruction, instruction)) return false;
    if (l.owner >= 0 && !peek(frame, l.owner, owner)) return false;
    if (!is_entry_of_c(l, frame)) {
      if (!is_a(code, in.code_type) || !peek(code, in.file, string) || !is_a(string, in.string_type))
        return false;
      if (!peek(code, in.name, string) || !is_a(string, in.string_type)) return false;
      any = true;
    }
    if (!peek(frame, l.previous, frame)) return false;
  }
  broken_ = false;
  return sound_ = any;
}

std::size_t PythonFrames::read(std::uint32_t* places, std::size_t most) {
  const Interpreter& in = *interpreter();
  const void* thread = in.this_thread();
  if (broken_ || thread == nullptr || in.is_finalizing() != 0 || !are_sound(thread)) return 0;
  std::size_t n = 0;
  for (const void* frame = first_frame(in.layout, thread); frame != nullptr && n < most;
       frame = load<const void*>(frame, in.layout.previous)) {
    if (is_entry_of_c(in.layout, frame)) continue;
    const auto* code = load<const void*>(frame, in.layout.code);
    if (!look_up(code, position(in, frame, code), places[n])) break;
    ++n;
  }
  return n;
}

bool PythonFrames::look_up(const void* code, std::int64_t at, std::uint32_t& place) {
  const Interpreter& in = *interpreter();
  const Key key{code, at};
  const auto known = places_.find(key);
  if (known != places_.end()) {
    const Place& p = known->second;
    if (load<int>(code, in.first_line) == p.first_line &&
        p.name.is_string(load<const void*>(code, in.name)) &&
        p.file.is_string(load<const void*>(code, in.file)) &&
        p.lines.is_bytes(load<const void*>(code, in.lines))) {
      place = p.number;
      return true;
    }
    places_.erase(known);
  }
  Place fresh;
  const bool may_be_kept = describe(code, at, fresh);
  place = fresh.number;
  if (place == 0) return false;
  if (places_.size() >= kMostPlaces) places_.clear();
  if (may_be_kept) places_.emplace(key, std::move(fresh));
  return true;
}

bool PythonFrames::describe(const void* code, std::int64_t at, Place& place) {
  const Interpreter& in = *interpreter();
  if (!is_a(code, in.code_type)) return false;
  const auto* file = load<const void*>(code, in.file);
  const auto* name = load<const void*>(code, in.name);
  std::string its_file, its_name;
  if (!read_string(in, file, kLongestFile, 0, its_file) ||
      !read_string(in, name, kLongestFunction, ':', its_name))
    return false;
  place.first_line = load<int>(code, in.first_line);
  // Before its first instruction a frame is at the function's head.
  const int line = at < 0 || at > INT32_MAX ? place.first_line : in.line_of(code, static_cast<int>(at));
  place.number = intern("python:" + std::to_string(std::max(0, line)) + ":" + its_name + ":" + its_file);
  return place.name.take_string(in, name) && place.file.take_string(in, file) &&
         place.lines.take_bytes(in, load<const void*>(code, in.lines));
}

std::uint32_t PythonFrames::intern(std::string text) {
  const auto [known, fresh] =
      numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(known->first);
  return known->second;
}

}  // namespace nplus1::stubs
