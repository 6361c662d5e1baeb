// For tests of files: results that must not fail, and files made and read in one go.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <absl/types/span.h>

#include "base/files.h"
#include "base/result.h"

namespace tenure {

constexpr std::size_t kSector = 512;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

template <class T>
std::string message_of(const Result<T>& result) {
  return result ? "no failure" : result.error().message;
}

inline std::unique_ptr<File> create(Files& files, const std::string& path, std::string_view bytes = "") {
  auto file = must(files.open(path, Files::Mode::kCreate));
  must(file->write_at(0, bytes));
  return file;
}

inline std::string text_of(File& file) {
  std::string text(must(file.size()), '?');
  must(file.read_at(0, absl::MakeSpan(text)));
  return text;
}

// What is there, as far as it goes.
inline std::string text_at(File& file, std::uint64_t offset, std::size_t length) {
  std::string text(length, '?');
  text.resize(must(file.read_at(offset, absl::MakeSpan(text))));
  return text;
}

// Bytes that differ from sector to sector.
inline std::string sectors(char first, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.append(kSector, static_cast<char>(first + static_cast<char>(i)));
  return bytes;
}

}  // namespace tenure
