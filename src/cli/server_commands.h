// The commands about a server as a whole; see docs/cli.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/errand.h"

namespace tenure::cli {

int show_status(const Errand& errand);

// INFO's text taken apart: sections with their fields, in order.
struct InfoSection {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> fields{};
};
class ServerFigures {
 public:
  explicit ServerFigures(std::string_view info);
  [[nodiscard]] const std::vector<InfoSection>& sections() const { return sections_; }
  // Of the first section that has it; empty: none has.
  [[nodiscard]] std::string_view text(std::string_view field) const;
  // 0 where there is none.
  [[nodiscard]] double number(std::string_view field) const;
  // All parts of `a=1,b=2` together, or the number that stands alone.
  [[nodiscard]] double sum(std::string_view field) const;

 private:
  std::vector<InfoSection> sections_;
};

}  // namespace tenure::cli
