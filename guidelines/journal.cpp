#include "guidelines/journal.hpp"

#include <fstream>
#include <string_view>

namespace nplus1::guidelines {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = "# done ";

struct Left {
  bool same_head = false;
  std::uintmax_t sound = 0;  // bytes up to the last mark
  std::set<std::string> done;
};

Left read(std::ifstream& in, const std::string& head) {
  Left left;
  std::string begin(head.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  left.same_head = in && begin == head;
  if (!left.same_head) return left;
  std::uintmax_t offset = left.sound = head.size();
  for (std::string line; std::getline(in, line) && !in.eof();) {  // at its end: no line break, cut off
    offset += line.size() + 1;
    if (line.rfind(kMark, 0) != 0) continue;
    left.done.insert(line.substr(kMark.size()));
    left.sound = offset;
  }
  return left;
}

bool write(const fs::path& path, const std::string& text, std::ios::openmode mode) {
  std::ofstream out{path, std::ios::binary | mode};
  out << text;
  out.close();  // network file systems report a full disk only here
  return !out.fail();
}

}  // namespace

Result<Journal> Journal::open(const fs::path& path, const std::string& head) {
  Journal journal{path};
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))  // a pipe would wait, a device may never end
    return Error{path.string() + " is no file that can be gone on with",
                 "remove it, or measure into another folder"};
  if (fs::file_size(path, error) < head.size() || error) {  // not there, or killed while its head was written
    std::ifstream in{path, std::ios::binary};
    std::string begin;
    if (in) begin.assign(std::istreambuf_iterator<char>{in}, {});
    if (head.compare(0, begin.size(), begin) == 0) {
      if (write(path, head, std::ios::trunc)) return journal;
      return Error{path.string() + " can't be written", "check the folder's permissions and the disk"};
    }
  }
  std::ifstream in{path, std::ios::binary};
  Left left = read(in, head);
  if (!left.same_head)
    return Error{
        path.string() + " was measured with other settings",
        "repeat the command that began it, or measure anew: into another folder, or without that file"};
  fs::resize_file(path, left.sound, error);
  if (error) return Error{path.string() + " can't be written: " + error.message(), "check its permissions"};
  journal.done_ = std::move(left.done);
  return journal;
}

std::string Journal::behind(const std::string& beginning) const {
  const auto piece = done_.lower_bound(beginning);
  return piece != done_.end() && piece->starts_with(beginning) ? piece->substr(beginning.size())
                                                               : std::string{};
}

Result<std::monostate> Journal::append(const std::string& text, const std::string& piece) {
  if (!write(path_, text + std::string{kMark} + piece + "\n", std::ios::app))
    return Error{path_.string() + " can't be written",
                 "free some space on its disk: the same command goes on"};
  done_.insert(piece);
  return std::monostate{};
}

}  // namespace nplus1::guidelines
