// Does on purpose what a sanitizer must report: tenure-test-unsound address|undefined|thread
#include <cstdio>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int beyond_the_end(int size) {
  const std::vector<int> values(static_cast<std::size_t>(size));
  return *(values.data() + size);
}

int too_large(int number) { return std::numeric_limits<int>::max() + number; }

int changed_by_two() {
  int number = 0;
  std::thread other([&number] { ++number; });
  ++number;
  other.join();
  return number;
}

int be_unsound(std::string_view how, int number) {
  if (how == "address") return beyond_the_end(number);
  if (how == "undefined") return too_large(number);
  return changed_by_two();
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  std::printf("nobody has noticed: %d\n", be_unsound(words[1], count));
  return 0;
}
