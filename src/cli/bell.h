// Wakes whoever waits with poll.
#pragma once

namespace tenure::cli {

// Once rung it stays so. Thread-safe.
class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const;
  // Silences it.
  void clear() const;
  // Readable while it is rung.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace tenure::cli
