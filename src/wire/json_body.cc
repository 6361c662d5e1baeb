// A JSON object as named arguments. Read as it is parsed: what is wrong ends the reading, so that no body is kept
// twice, however it is made.
#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include "base/limits.h"
#include "wire/named_arguments.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

namespace json = boost::json;

// The object, an array in it, and one more that is told to be wrong.
constexpr std::size_t kDepthMax = 3;

// What Boost's parser tells of what it finds. One thread.
class BodyEvents {
 public:
  // Names of Boost's; the body's size is limited before. NOLINTBEGIN(readability-identifier-naming)
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  // NOLINTEND(readability-identifier-naming)
  using Code = boost::system::error_code;

  explicit BodyEvents(NamedArguments& arguments) : arguments_(arguments) {}
  std::optional<Failure> fault;

  static bool on_document_begin(Code& /*code*/) { return true; }
  static bool on_document_end(Code& /*code*/) { return true; }
  bool on_object_begin(Code& code) {
    if (std::exchange(is_in_object_, true)) return found(Found::Type::kObject, "", code);
    return true;
  }
  static bool on_object_end(std::size_t /*count*/, Code& /*code*/) { return true; }
  bool on_array_begin(Code& code) {
    if (!is_in_object_ || is_in_array_) return refuse_type(Found::Type::kArray, code);
    if (auto wrong = arguments_.fault_in_name(name_, Found::Type::kArray)) return refuse(std::move(*wrong), code);
    is_in_array_ = true;
    return true;
  }
  bool on_array_end(std::size_t /*count*/, Code& code) {
    is_in_array_ = false;
    return take({.type = Found::Type::kArray, .strings = std::exchange(strings_, {})}, code);
  }
  bool on_key_part(json::string_view part, std::size_t /*count*/, Code& /*code*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t count, Code& code) {
    on_key_part(part, count, code);
    name_ = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t /*count*/, Code& /*code*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t count, Code& code) {
    on_string_part(part, count, code);
    return found(Found::Type::kString, std::exchange(text_, {}), code);
  }
  bool on_number_part(json::string_view part, Code& /*code*/) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t /*number*/, json::string_view part, Code& code) { return on_number(part, code); }
  bool on_uint64(std::uint64_t /*number*/, json::string_view part, Code& code) { return on_number(part, code); }
  bool on_double(double /*number*/, json::string_view part, Code& code) { return on_number(part, code); }
  bool on_bool(bool yes, Code& code) { return found(Found::Type::kBoolean, yes ? "true" : "false", code); }
  bool on_null(Code& code) { return found(Found::Type::kNull, "null", code); }
  static bool on_comment_part(json::string_view /*part*/, Code& /*code*/) { return true; }
  static bool on_comment(json::string_view /*part*/, Code& /*code*/) { return true; }

 private:
  bool on_number(json::string_view part, Code& code) {
    text_.append(part.data(), part.size());
    return found(Found::Type::kNumber, std::exchange(text_, {}), code);
  }

  bool found(Found::Type type, std::string text, Code& code) {
    if (!is_in_object_) return refuse_type(type, code);
    if (!is_in_array_) return take({.type = type, .text = std::move(text)}, code);
    if (type != Found::Type::kString) return refuse_type(type, code);
    strings_.push_back(std::move(text));
    if (strings_.size() <= static_cast<std::size_t>(kCountMax)) return true;
    return refuse({ErrorCode::kInvalid, fmt::format("{}: expected at most {}, found more", name_, kCountMax)}, code);
  }

  bool take(Found value, Code& code) {
    auto wrong = arguments_.take(name_, std::move(value));
    return wrong ? refuse(std::move(*wrong), code) : true;
  }

  // What is no object, or stands in an array and is no string.
  bool refuse_type(Found::Type type, Code& code) {
    constexpr std::string_view kNames[] = {"text", "a string", "a number", "true or false",
                                           "null", "an array", "an object"};
    const std::string_view what = kNames[static_cast<std::size_t>(type)];
    return refuse(
        {ErrorCode::kErr, is_in_array_ ? fmt::format("{}: expected an array of strings, found {} in it", name_, what)
                                       : fmt::format("body: expected an object, found {}", what)},
        code);
  }

  bool refuse(Failure wrong, Code& code) {
    fault = std::move(wrong);
    code = json::make_error_code(json::error::syntax);
    return false;
  }

  NamedArguments& arguments_;
  std::string name_;
  std::string text_;
  std::vector<std::string> strings_;
  bool is_in_object_ = false;
  bool is_in_array_ = false;
};

}  // namespace

std::optional<Failure> NamedArguments::take_body(std::string_view body) {
  if (body.empty()) return std::nullopt;
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::basic_parser<BodyEvents> parser(options, *this);
  boost::system::error_code error;
  std::size_t read = parser.write_some(false, body.data(), body.size(), error);
  if (parser.handler().fault) return std::move(parser.handler().fault);
  if (!error) {
    read = std::min(body.find_first_not_of(" \t\r\n", read), body.size());
    if (read == body.size()) return std::nullopt;
  }
  return Failure{ErrorCode::kErr,
                 fmt::format("body: expected a JSON object, found {} at byte {}: {}", quote(body.substr(read, 16)),
                             read, error ? error.message() : "more behind it")};
}

}  // namespace tenure::wire
