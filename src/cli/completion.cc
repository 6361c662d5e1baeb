#include "cli/completion.h"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::cli {
namespace {

// A command's flags and subcommands, as the scripts need them.
struct Flag {
  std::string name;  // --server
  std::string what;
  std::string type;  // empty: it takes no value
  [[nodiscard]] bool takes_path() const { return type == "FILE" || type == "FOLDER"; }
};
struct Node {
  std::vector<std::string> path;  // below the root; empty: it
  std::string what;
  std::vector<Flag> flags;
  std::vector<std::pair<std::string, std::string>> subcommands;
};

bool is_any(const CLI::App* /*app*/) { return true; }

// Its first sentence, and nothing that a shell would take for something else.
std::string plain(std::string text) {
  text = text.substr(0, text.find_first_of(";\n"));
  for (char& letter : text) {
    if (std::string_view("'\"`$\\[]:").find(letter) != std::string_view::npos) letter = ' ';
  }
  return text;
}

void collect_nodes(const CLI::App& app, const std::vector<std::string>& path, std::vector<Node>& nodes) {
  Node node{.path = path, .what = plain(app.get_description()), .flags = {}, .subcommands = {}};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const bool has_value = option->get_items_expected_max() > 0;
      node.flags.push_back(
          {"--" + name, plain(option->get_description()), has_value ? option->get_type_name() : std::string()});
    }
  }
  for (const CLI::App* sub : app.get_subcommands(is_any)) {
    node.subcommands.emplace_back(sub->get_name(), plain(sub->get_description()));
  }
  nodes.push_back(std::move(node));
  for (const CLI::App* sub : app.get_subcommands(is_any)) {
    std::vector<std::string> below = path;
    below.push_back(sub->get_name());
    collect_nodes(*sub, below, nodes);
  }
}

std::vector<Node> nodes_of(const CLI::App& root) {
  std::vector<Node> nodes;
  collect_nodes(root, {}, nodes);
  return nodes;
}

std::string path_text(const Node& node) { return fmt::format("{}", fmt::join(node.path, " ")); }

// All flags for which `is_wanted` holds, once each, with a bar between.
template <class IsWanted>
std::string flags_joined(const std::vector<Node>& nodes, const IsWanted& is_wanted) {
  std::vector<std::string> names;
  for (const Node& node : nodes) {
    for (const Flag& flag : node.flags) {
      if (is_wanted(flag)) names.push_back(flag.name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, "|"));
}

int print_completion(const Desk& desk, const CLI::App& root, const std::string& shell) {
  if (shell == "bash") desk.out << bash_completion(root);
  if (shell == "zsh") desk.out << zsh_completion(root);
  if (shell == "fish") desk.out << fish_completion(root);
  return finish(desk, Done{});
}

}  // namespace

// The words before the cursor lead down the tree; behind `--` stands another command.
std::string bash_completion(const CLI::App& root) {
  const auto nodes = nodes_of(root);
  std::string paths;
  std::string words;
  for (const Node& node : nodes) {
    if (!node.path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", path_text(node));
    std::string list;
    for (const auto& [name, what] : node.subcommands) list += name + " ";
    for (const Flag& flag : node.flags) list += flag.name + " ";
    words += fmt::format("    '{}') words='{}' ;;\n", path_text(node), list);
  }
  return fmt::format(R"(# Completion of tenure for bash: source <(tenure completion bash)
_tenure() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path='' words='' next i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      if ((i + 1 == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "$current"))
      else
        COMPREPLY=($(compgen -f -- "$current"))
      fi
      return
    fi
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$next" in
    {}) path=$next ;;
    esac
  done
  case "$previous" in
    {}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    {}) return ;;
  esac
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -o bashdefault -F _tenure tenure
)",
                     paths, flags_joined(nodes, [](const Flag& flag) { return flag.takes_path(); }),
                     flags_joined(nodes, [](const Flag& flag) { return !flag.type.empty() && !flag.takes_path(); }),
                     words);
}

std::string zsh_completion(const CLI::App& root) {
  const auto nodes = nodes_of(root);
  std::string paths;
  std::string cases;
  for (const Node& node : nodes) {
    if (!node.path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", path_text(node));
    std::string commands;
    for (const auto& [name, what] : node.subcommands) commands += fmt::format(" '{}:{}'", name, what);
    std::string flags;
    for (const Flag& flag : node.flags) flags += fmt::format(" '{}:{}'", flag.name, flag.what);
    cases += fmt::format("    '{}') commands=({}) flags=({}) ;;\n", path_text(node), commands, flags);
  }
  return fmt::format(R"(#compdef tenure
# Completion of tenure for zsh: tenure completion zsh > a file named _tenure in a folder of $fpath
_tenure() {{
  local tree='' next word
  local -a commands flags
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ $word == -- ]]; then
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    next="${{tree:+$tree }}$word"
    case "$next" in
    {}) tree=$next ;;
    esac
  done
  case "$words[CURRENT-1]" in
    {}) _files; return ;;
    {}) return ;;
  esac
  case "$tree" in
{}  esac
  (($#commands)) && _describe command commands
  _describe option flags
  (($#commands)) || _files
}}
if [[ $funcstack[1] == _tenure ]]; then _tenure "$@"; else compdef _tenure tenure; fi
)",
                     paths, flags_joined(nodes, [](const Flag& flag) { return flag.takes_path(); }),
                     flags_joined(nodes, [](const Flag& flag) { return !flag.type.empty() && !flag.takes_path(); }),
                     cases);
}

std::string fish_completion(const CLI::App& root) {
  std::string text =
      "# Completion of tenure for fish: tenure completion fish > ~/.config/fish/completions/tenure.fish\n"
      "complete -c tenure -f\n";
  for (const Node& node : nodes_of(root)) {
    std::string seen = "__fish_use_subcommand";
    if (!node.path.empty()) {
      seen.clear();
      for (const std::string& word : node.path) {
        seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", word);
      }
    }
    std::string others;
    for (const auto& [name, what] : node.subcommands) others += " " + name;
    const std::string not_below =
        node.path.empty() || others.empty() ? "" : fmt::format("; and not __fish_seen_subcommand_from{}", others);
    for (const auto& [name, what] : node.subcommands) {
      text += fmt::format("complete -c tenure -n '{}{}' -a {} -d '{}'\n", seen, not_below, name, what);
    }
    for (const Flag& flag : node.flags) {
      const char* value = flag.takes_path() ? " -r -F" : flag.type.empty() ? "" : " -x";
      text += fmt::format("complete -c tenure -n '{}' -l {}{} -d '{}'\n", seen, flag.name.substr(2), value, flag.what);
    }
  }
  return text;
}

void add_completion_command(CLI::App& app, Chosen& chosen) {
  const Command<std::string> command{app.add_subcommand("completion", "Print a script with which a shell completes")};
  command.app->add_option("shell", *command.options, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command.app->footer(
      "Examples:\n  source <(tenure completion bash)\n  tenure completion zsh > ~/.zfunc/_tenure\n"
      "  tenure completion fish > ~/.config/fish/completions/tenure.fish");
  command.app->callback([&chosen, &app, kept = command.options] {
    chosen = [&app, kept](const Desk& desk) { return print_completion(desk, app, *kept); };
  });
}

}  // namespace tenure::cli
