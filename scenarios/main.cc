// tenure-scenarios [--wire] [--rewrite] FILE|FOLDER...
//
// Runs scenarios and compares what the authority answers with what they expect; with --rewrite makes what it answers
// the expectation; with --wire asks through a server. Exits with 1 if anything differs. See README.md for the language.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine_subject.h"
#include "runner.h"
#include "script.h"
#include "wire_subject.h"

namespace tenure::scenario {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsage = "usage: tenure-scenarios [--wire] [--rewrite] FILE|FOLDER...\n";

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ScriptError(fmt::format("{}: cannot be read", path));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw ScriptError(fmt::format("{}: cannot be written", path));
}

// The scripts below a folder, in the order of their names; a file stands for itself.
std::vector<std::string> scripts_of(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> scripts;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    const fs::path& found = entry.path();
    if (found.extension() == ".txt" && found.filename() != "CMakeLists.txt") scripts.push_back(found.string());
  }
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

void print_difference(const Script& script, const Step& step, const std::vector<std::string>& got) {
  fmt::print("{}:{}: not as expected\n", script.path, step.expected_line);
  for (const ScriptLine& command : step.commands) fmt::print("  {}\n", command.text);
  const auto& expected = step.expected;
  for (std::size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
    if (i < expected.size() && i < got.size() && expected[i] == got[i]) {
      fmt::print("    {}\n", got[i]);
      continue;
    }
    if (i < expected.size()) fmt::print("  - {}\n", expected[i]);
    if (i < got.size()) fmt::print("  + {}\n", got[i]);
  }
}

// True if the script holds, or was made to.
bool run_script(const std::string& path, bool wire, bool rewrite) {
  const Script script = parse_script(path, read_file(path));
  const auto subject = wire ? make_wire_subject() : std::make_unique<EngineSubject>();
  const auto transcripts = Runner(*subject).run(script);
  if (rewrite) {
    write_file(path, write_script(script, transcripts));
    return true;
  }
  bool as_expected = true;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (is_as_expected(script.steps[i].expected, transcripts[i])) continue;
    print_difference(script, script.steps[i], transcripts[i]);
    as_expected = false;
  }
  return as_expected;
}

int run(const std::vector<std::string>& arguments) {
  bool wire = false;
  bool rewrite = false;
  std::vector<std::string> scripts;
  for (const std::string& argument : arguments) {
    if (argument == "--rewrite") {
      rewrite = true;
    } else if (argument == "--wire") {
      wire = true;
    } else if (argument.starts_with('-')) {
      fmt::print(stderr, "{}", kUsage);
      return 2;
    } else {
      for (std::string& script : scripts_of(argument)) scripts.push_back(std::move(script));
    }
  }
  if (scripts.empty()) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  int failed = 0;
  for (const std::string& script : scripts) {
    try {
      if (!run_script(script, wire, rewrite)) ++failed;
    } catch (const ScriptError& error) {
      fmt::print("{}\n", error.what());
      ++failed;
    }
  }
  fmt::print("{} scenarios, {} failed\n", scripts.size(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tenure::scenario

int main(int argc, char** argv) { return tenure::scenario::run({argv + 1, argv + argc}); }
