#include "wire/json_writer.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tenure::wire {

void JsonWriter::name(std::string_view text) {
  separate();
  append_json_string(out_, text);
  out_ += ':';
  is_first_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
}

void JsonWriter::bytes(std::string_view text, std::optional<std::string_view> what) {
  if (!what || is_utf8(*what)) return field(text, what);
  field(fmt::format("{}_base64", text), std::string_view(base64(*what)));
}

void JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  is_first_ = true;
}

void JsonWriter::end(char bracket) {
  out_ += bracket;
  is_first_ = false;
}

void JsonWriter::literal(std::string_view text) {
  separate();
  out_ += text;
}

void JsonWriter::separate() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
}

std::string JsonWriter::number_text(double number) { return fmt::format("{}", number); }

}  // namespace tenure::wire
