#include "cli/password_prompt.h"

#include <iostream>
#include <string>
#include <termios.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

// Nothing that is typed is shown while there is one. Keys that would end the process are read like others: it would
// leave the terminal mute.
class MuteTerminal {
 public:
  MuteTerminal() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios mute = before_;
    mute.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &mute);
  }
  ~MuteTerminal() { ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  MuteTerminal(const MuteTerminal&) = delete;
  MuteTerminal& operator=(const MuteTerminal&) = delete;

 private:
  termios before_{};
};

Result<users::Secret> read_line() {
  std::string line;
  if (!std::getline(std::cin, line)) {
    return fail_with(ErrorCode::kInvalid, "password: expected a line on standard input, found its end");
  }
  if (line.find('\x03') != std::string::npos) return fail_with(ErrorCode::kInvalid, "password: given up");
  users::Secret secret(line);
  line.assign(line.size(), '\0');
  return secret;
}

Result<users::Secret> prompt(const char* text) {
  const MuteTerminal mute;
  std::cerr << text << std::flush;
  auto line = read_line();
  std::cerr << '\n';
  return line;
}

}  // namespace

Result<users::Secret> ask_password() {
  if (::isatty(STDIN_FILENO) == 0) return read_line();
  auto password = prompt("Password: ");
  if (!password) return password;
  const auto again = prompt("Once more: ");
  if (!again) return tl::unexpected(again.error());
  if (password->view() == again->view()) return password;
  return fail_with(ErrorCode::kInvalid, "password: expected the same twice, found two");
}

Result<users::Secret> ask_known_password() {
  if (::isatty(STDIN_FILENO) != 0) return prompt("Password: ");
  return fail_with(
      ErrorCode::kInvalid,
      "password: expected --password-file (or TENURE_PASSWORD_FILE), found none, and no terminal to ask at");
}

}  // namespace tenure::cli
