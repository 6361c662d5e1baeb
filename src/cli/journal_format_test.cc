// docs/journal-format.md shows a journal byte by byte: it must be the one that is written today.
#include <fstream>

#include "cli/testing.h"
#include "journal/file_names.h"

namespace tenure::cli {
namespace {

using ::testing::HasSubstr;

// One task is submitted, and the journal closed.
std::string example() {
  FaultyFiles files;
  ManualClock clock{Instant{1'800'000'000'000}};
  SeededEntropy entropy{1};
  Writer writer(files, clock, entropy, kFolder, 4096);
  writer.get(Submission{.queue = "mail", .payload = "hello", .id = "T1"});
  TENURE_CHECK(writer.journal().close().has_value(), "not closed");
  return files.contents(path_of(kFolder, numbered_name(1, kSegmentSuffix)));
}

std::string hex_line(std::string_view bytes, std::size_t at) {
  std::string line = fmt::format("{:04x} ", at);
  for (const char byte : bytes.substr(at, 8)) line += fmt::format(" {:02x}", static_cast<unsigned char>(byte));
  return line;
}

TEST(JournalFormatTest, TheDocumentShowsRealBytes) {
  std::ifstream in("docs/journal-format.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  const std::string bytes = example();
  const std::size_t used = bytes.find_last_not_of('\0') + 1;
  ASSERT_GT(used, 150U);
  for (std::size_t at = 0; at < used; at += 8) EXPECT_THAT(document, HasSubstr("\n" + hex_line(bytes, at)));
}

// Its row in the table of records; empty if there is none.
template <class R>
std::string row_of(const std::string& document) {
  const std::size_t begin = document.find(fmt::format("\n| {} | {} | ", R::kName, R::kType));
  if (begin == std::string::npos) return {};
  return document.substr(begin, document.find('\n', begin + 1) - begin);
}

template <class... R>
void expect_every_field(const std::string& document, std::type_identity<std::variant<R...>> /*records*/) {
  const auto expect_fields = [&]<class One>(std::type_identity<One>) {
    const std::string row = row_of<One>(document);
    const auto expect_field = [&](const auto& field) {
      EXPECT_THAT(row, HasSubstr(fmt::format(" {} {}", field.number, field.name))) << One::kName;
    };
    std::apply([&](const auto&... fields) { (expect_field(fields), ...); }, One::table());
  };
  (expect_fields(std::type_identity<R>{}), ...);
}

TEST(JournalFormatTest, TheDocumentNamesEveryFieldOfEveryRecord) {
  std::ifstream in("docs/journal-format.md");
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  expect_every_field(document, std::type_identity<Record>{});
}

}  // namespace
}  // namespace tenure::cli
