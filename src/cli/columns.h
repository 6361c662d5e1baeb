// Text in columns, for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenure::cli {

// Columns as wide as their widest cell. One thread.
class Columns {
 public:
  // A heading that begins with '>' has its cells on the right.
  explicit Columns(std::vector<std::string> headings);
  void add(std::vector<std::string> cells);
  // One line for the headings and one for each row, cut to so many characters; 0: uncut.
  [[nodiscard]] std::vector<std::string> lines(std::size_t width = 0) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_empty() const { return rows_.size() == 1; }

 private:
  std::vector<bool> is_right_;
  std::vector<std::vector<std::string>> rows_;
};

// A line for each: the name, and what it is. Those that are empty are left out.
std::string fields_text(const std::vector<std::pair<std::string, std::string>>& fields);

// How many columns of a terminal the text takes: its characters, as far as UTF-8 tells.
std::size_t columns_of(std::string_view text);
// No longer than so many.
std::string cut_to(std::string_view text, std::size_t columns);

}  // namespace tenure::cli
