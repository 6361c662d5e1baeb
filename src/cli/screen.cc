#include "cli/screen.h"

#include <cerrno>
#include <csignal>
#include <string_view>
#include <unistd.h>

namespace tenure::cli {
namespace {

constexpr std::string_view kSecondScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kFirstScreen = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kTop = "\x1b[H";
constexpr std::string_view kRestOfLine = "\x1b[K";
constexpr std::string_view kRestOfScreen = "\x1b[J";

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Screen::Screen() {
  ::tcgetattr(STDIN_FILENO, &before_);
  take();
}

Screen::~Screen() { give_back(); }

void Screen::take() {
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  write_out(kSecondScreen);
}

void Screen::give_back() const {
  write_out(kFirstScreen);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Screen::suspend() {
  give_back();
  ::kill(::getpid(), SIGSTOP);
  take();
}

void Screen::draw(const std::vector<std::string>& lines) const {
  std::string all(kTop);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) all += "\n";
    all += lines[i];
    all += kRestOfLine;
  }
  all += kRestOfScreen;
  write_out(all);
}

int Screen::key() const {
  char pressed = 0;
  const ssize_t count = ::read(STDIN_FILENO, &pressed, 1);
  if (count == 1) return static_cast<unsigned char>(pressed);
  return count < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : -1;
}

}  // namespace tenure::cli
