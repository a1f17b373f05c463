// Where in a Python program MPI was called: the calling thread's Python frames, read from the interpreter's own structures.
// mpi4py gives up the interpreter's lock around MPI's functions, and waiting for it there could wait for ever (its holder may
// itself be inside MPI), so nothing is called that needs the lock, takes a reference or makes an object. The thread's own
// frames hold still meanwhile, and keep alive what they lead to: only the thread itself could change them.
// CPython 3.8 to 3.13 on x86-64; where a frame lies in memory is known of these alone. Of another interpreter, a build of
// another shape (free threads, tracing of references), or one whose first frames are not what they should be, there are no
// frames, and call paths are those of the C stack, as ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nplus1::stubs {

/// Of "3.11.2 (main, ...", as an interpreter tells its version: 11. Nothing of alphas and betas, whose structures still
/// change, and of free threads.
[[nodiscard]] std::optional<int> minor_version(std::string_view version);

class PythonFrames {
 public:
  /// Null where there is no interpreter in the process that is known.
  [[nodiscard]] static std::unique_ptr<PythonFrames> make();
  ~PythonFrames();

  /// The calling thread's frames, innermost first, at most `most`: numbers of places. Places of equal file, function and
  /// line are one. Returns how many; 0 where the thread executes no Python, or its frames cannot be read.
  std::size_t read(std::uint32_t* places, std::size_t most);
  /// Of a place that read() gave: as frames are told (events/frame_text.hpp).
  [[nodiscard]] const std::string& text(std::uint32_t place) const { return texts_[place]; }
  /// Whether `address` is in the interpreter's own code.
  [[nodiscard]] bool in_interpreter(const void* address) const;

 private:
  class Copy;
  struct Place;
  struct Key {
    const void* code = nullptr;
    std::int64_t at = 0;  // bytes into its instructions
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const {
      return (reinterpret_cast<std::uintptr_t>(key.code) ^ static_cast<std::uintptr_t>(key.at) << 32U) *
                 0x9e3779b97f4a7c15U >>
             16U;
    }
  };
  PythonFrames();
  /// True once the calling thread's frames have been found to be of the expected shape; from then on they are trusted.
  bool are_sound(const void* thread);
  bool look_up(const void* code, std::int64_t at, std::uint32_t& place);
  bool describe(const void* code, std::int64_t at, Place& place);
  [[nodiscard]] std::uint32_t intern(std::string text);

  bool sound_ = false;
  bool broken_ = false;
  std::uintptr_t begin_ = 0;  // of the interpreter's code
  std::uintptr_t end_ = 0;
  std::unordered_map<Key, Place, HashOfKey> places_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace nplus1::stubs
