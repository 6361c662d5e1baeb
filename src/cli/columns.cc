#include "cli/columns.h"

#include <algorithm>

namespace tenure::cli {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::string padded(const std::string& text, std::size_t columns, bool to_right) {
  const std::size_t found = columns_of(text);
  const std::string blanks(columns > found ? columns - found : 0, ' ');
  return to_right ? blanks + text : text + blanks;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(std::string_view text, std::size_t columns) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && found++ == columns) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

Columns::Columns(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    is_right_.push_back(heading.starts_with('>'));
    if (is_right_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void Columns::add(std::vector<std::string> cells) {
  cells.resize(is_right_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> Columns::lines(std::size_t width) const {
  std::vector<std::size_t> widths(is_right_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::vector<std::string> made;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(row[i], widths[i], is_right_[i]);
    }
    line = without_trailing_blanks(std::move(line));
    made.push_back(width == 0 ? line : cut_to(line, width));
  }
  return made;
}

std::string Columns::text() const {
  std::string all;
  for (const std::string& line : lines()) all += line + "\n";
  return all;
}

std::string fields_text(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::size_t width = 0;
  for (const auto& [name, what] : fields) {
    if (!what.empty()) width = std::max(width, columns_of(name));
  }
  std::string all;
  for (const auto& [name, what] : fields) {
    if (!what.empty()) all += padded(name, width + 2, false) + what + "\n";
  }
  return all;
}

}  // namespace tenure::cli
