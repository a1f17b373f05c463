// A file of results that a measurement can be killed over at any moment: it grows by whole pieces, each ended
// by a comment line that names it ("# done 3 Allreduce 1024"). What follows the last such line was cut off by
// a kill, and is taken away when the file is opened again. One writer; one thread.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <variant>

#include "support/result.hpp"

namespace nplus1::guidelines {

class Journal {
 public:
  /// A new file that begins with `head`, or the one that was left. Fails if that begins otherwise (it belongs
  /// to another measurement) or can't be written.
  [[nodiscard]] static Result<Journal> open(const std::filesystem::path& path, const std::string& head);

  [[nodiscard]] bool has(const std::string& piece) const { return done_.count(piece) != 0; }
  [[nodiscard]] std::size_t pieces() const { return done_.size(); }
  /// What follows `beginning` in the first piece that begins so; empty if none does.
  [[nodiscard]] std::string behind(const std::string& beginning) const;

  /// Adds a piece and its mark. Fails if the disk is full; what was there stays.
  [[nodiscard]] Result<std::monostate> append(const std::string& text, const std::string& piece);

 private:
  explicit Journal(std::filesystem::path path) : path_{std::move(path)} {}

  std::filesystem::path path_;
  std::set<std::string> done_;
};

}  // namespace nplus1::guidelines
