#include "overlap/patch/syntax_tree.hpp"

#include <optional>

namespace nplus1::overlap::patch {
namespace {

std::string taken(CXString string) {
  const char* text = clang_getCString(string);
  std::string copy = text == nullptr ? "" : text;
  clang_disposeString(string);
  return copy;
}

struct Spot {
  CXFile file = nullptr;
  std::size_t offset = 0;
};

/// Where a location is in the text; for what a macro expands to, where the macro stands.
Spot spot_of(CXSourceLocation location) {
  Spot spot;
  unsigned offset = 0;
  clang_getExpansionLocation(location, &spot.file, nullptr, nullptr, &offset);
  spot.offset = offset;
  return spot;
}

bool in_macro(CXSourceLocation location) {
  CXFile file = nullptr;
  unsigned offset = 0;
  clang_getSpellingLocation(location, &file, nullptr, nullptr, &offset);
  const Spot expanded = spot_of(location);
  return offset != expanded.offset || clang_File_isEqual(file, expanded.file) == 0;
}

bool is_function(CXCursorKind kind) {
  switch (kind) {
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction:
    case CXCursor_FunctionTemplate:
      return true;
    default:
      return false;
  }
}

struct Building {
  CXFile file;
  Node* parent;
};

std::unique_ptr<Node> node_of(const CXCursor& cursor, CXFile file, Node* parent);

CXChildVisitResult add_child(CXCursor cursor, CXCursor /*parent*/, CXClientData data) {
  const auto& building = *static_cast<Building*>(data);
  building.parent->children.push_back(node_of(cursor, building.file, building.parent));
  return CXChildVisit_Continue;
}

std::unique_ptr<Node> node_of(const CXCursor& cursor, CXFile file, Node* parent) {
  auto node = std::make_unique<Node>();
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  const Spot begin = spot_of(clang_getRangeStart(extent));
  const Spot end = spot_of(clang_getRangeEnd(extent));
  node->cursor = cursor;
  node->kind = clang_getCursorKind(cursor);
  node->begin = begin.offset;
  node->end = end.offset;
  node->in_file = clang_File_isEqual(begin.file, file) != 0 && clang_File_isEqual(end.file, file) != 0;
  node->from_macro = in_macro(clang_getRangeStart(extent));
  node->parent = parent;
  Building building{file, node.get()};
  clang_visitChildren(cursor, add_child, &building);
  return node;
}

/// The innermost function that holds a byte of a file.
struct Search {
  Spot wanted;
  CXCursor found = clang_getNullCursor();
};

CXChildVisitResult search_function(CXCursor cursor, CXCursor /*parent*/, CXClientData data) {
  auto& search = *static_cast<Search*>(data);
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  const Spot begin = spot_of(clang_getRangeStart(extent));
  const Spot end = spot_of(clang_getRangeEnd(extent));
  if (clang_getCursorKind(cursor) == CXCursor_LinkageSpec) return CXChildVisit_Recurse;
  if (clang_File_isEqual(begin.file, search.wanted.file) == 0 || search.wanted.offset < begin.offset ||
      search.wanted.offset >= end.offset)
    return CXChildVisit_Continue;
  if (is_function(clang_getCursorKind(cursor)) && clang_isCursorDefinition(cursor) != 0)
    search.found = cursor;
  return CXChildVisit_Recurse;
}

std::optional<std::string> first_error(CXTranslationUnit unit) {
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    const bool error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    std::string text = taken(clang_formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation));
    clang_disposeDiagnostic(diagnostic);
    if (error) return text;
  }
  return std::nullopt;
}

}  // namespace

bool Node::is_within(const Node& other) const {
  for (const Node* node = this; node != nullptr; node = node->parent)
    if (node == &other) return true;
  return false;
}

std::string spelling(const CXCursor& cursor) {
  return taken(clang_getCursorSpelling(cursor));
}

CXCursor declaration_of(const CXCursor& cursor) {
  const CXCursor referenced = clang_getCursorReferenced(cursor);
  return clang_Cursor_isNull(referenced) != 0 ? referenced : clang_getCanonicalCursor(referenced);
}

const Node& bare(const Node& node) {
  const Node* at = &node;
  while (!at->children.empty()) {
    const bool wrapper = at->kind == CXCursor_UnexposedExpr || at->kind == CXCursor_ParenExpr;
    if (wrapper && at->children.size() == 1)
      at = at->children.front().get();
    else if (at->kind == CXCursor_CStyleCastExpr || at->kind == CXCursor_CXXStaticCastExpr ||
             at->kind == CXCursor_CXXReinterpretCastExpr || at->kind == CXCursor_CXXConstCastExpr ||
             at->kind == CXCursor_CXXFunctionalCastExpr)
      at = at->children.back().get();
    else
      break;
  }
  return *at;
}

Result<SyntaxTree> SyntaxTree::parse(const std::string& unit, const std::string& file,
                                     const std::string& text, const std::vector<std::string>& arguments) {
  SyntaxTree tree;
  tree.index_.reset(clang_createIndex(0, 0));
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  CXUnsavedFile unsaved{file.c_str(), text.data(), text.size()};
  CXTranslationUnit parsed = nullptr;
  const CXErrorCode code = clang_parseTranslationUnit2(
      tree.index_.get(), unit.c_str(), words.data(), static_cast<int>(words.size()), &unsaved, 1,
      CXTranslationUnit_DetailedPreprocessingRecord, &parsed);
  tree.unit_.reset(parsed);
  if (code != CXError_Success)
    return Error{"libclang cannot read " + unit, "check the flags that it is compiled with"};
  if (const auto error = first_error(parsed))
    return Error{"clang says: " + *error, "give the flags that it is compiled with"};
  tree.file_ = clang_getFile(parsed, file.c_str());
  if (tree.file_ == nullptr)
    return Error{unit + " does not include " + file, "name the file that was compiled"};
  const CXCursor whole = clang_getTranslationUnitCursor(parsed);
  clang_visitChildren(
      whole,
      [](CXCursor cursor, CXCursor, CXClientData data) {
        const CXLanguageKind language = clang_getCursorLanguage(cursor);
        if (language == CXLanguage_CPlusPlus) *static_cast<bool*>(data) = true;
        return language == CXLanguage_CPlusPlus ? CXChildVisit_Break : CXChildVisit_Continue;
      },
      &tree.is_cpp_);
  const auto ends_in = [&](const char* suffix) {
    const std::string_view s{suffix};
    return unit.size() > s.size() && unit.compare(unit.size() - s.size(), s.size(), s) == 0;
  };
  for (const char* suffix : {".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP"})
    tree.is_cpp_ |= ends_in(suffix);
  tree.note_skipped();
  return tree;
}

void SyntaxTree::note_skipped() {
  CXSourceRangeList* ranges = clang_getSkippedRanges(unit_.get(), file_);
  if (ranges == nullptr) return;
  for (unsigned i = 0; i < ranges->count; ++i)
    skipped_.emplace_back(spot_of(clang_getRangeStart(ranges->ranges[i])).offset,
                          spot_of(clang_getRangeEnd(ranges->ranges[i])).offset);
  clang_disposeSourceRangeList(ranges);
}

std::unique_ptr<Node> SyntaxTree::function_around(std::size_t offset) const {
  Search search{.wanted = {file_, offset}};
  clang_visitChildren(clang_getTranslationUnitCursor(unit_.get()), search_function, &search);
  return clang_Cursor_isNull(search.found) != 0 ? nullptr : node_of(search.found, file_, nullptr);
}

}  // namespace nplus1::overlap::patch
