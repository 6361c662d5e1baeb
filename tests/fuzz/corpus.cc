// Gives a fuzzer every file of the folders named: corpus_<fuzzer> FOLDER...
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "fuzz.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      fmt::print(stderr, "{}\n", entry.path().filename().string());  // the last one is what stopped it
      tenure::fuzz(read(entry.path()));
      ++files;
    }
  }
  fmt::print("{} files\n", files);
  return files > 0 ? 0 : 1;  // a corpus that is not there tests nothing
}
