// A client for tests: what it says goes through the table of verbs to an engine in memory, and comes back as bytes.
#pragma once

#include <map>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "authority/testing.h"
#include "wire/inline_words.h"
#include "wire/replies.h"
#include "wire/resp_writer.h"
#include "wire/server_replies.h"
#include "wire/verbs.h"

namespace tenure::wire {

// Shows replies with a blank for each CR LF, and tokens by their fence: <7>. The same works in what is said. One
// thread.
class Caller {
 public:
  World world;
  Protocol protocol = Protocol::kResp2;

  // The answer to a line of words, or "" if it waits.
  std::string say(const std::string& line) {
    std::string unquoted;
    absl::InlinedVector<std::string_view, 16> words;
    const std::string meant = with_tokens(line);
    EXPECT_TRUE(split_line(meant, 10'000, unquoted, words)) << line;
    return say_words(words);
  }

  std::string say_words(Words words) {
    const auto answer = std::make_shared<std::string>();
    waiting_ = answer;
    const auto verb = find_verb(words);
    Request request;
    std::optional<Failure> fault;
    if (!verb) {
      fault = verb.error();
    } else {
      fault = read_request(**verb, words, world.settings.payload_bytes_max, request);
    }
    if (fault) {
      RespWriter out(*answer, protocol);
      out.error(*fault);
      out.finish();
    } else {
      std::visit([&](const auto& asked) { ask(asked, answer); }, request);
    }
    return heard();
  }

  // What became of the last thing said.
  std::string heard() { return shown(*waiting_); }

 private:
  template <class Reply>
  Callback<Reply> into(const std::shared_ptr<std::string>& answer) const {
    return [answer, version = protocol](const Result<Reply>& result) {
      RespWriter out(*answer, version);
      write_result(out, result);
      out.finish();
    };
  }
  template <BookRequest T>
  void ask(const T& request, const std::shared_ptr<std::string>& answer) {
    if constexpr (requires { request.block; }) {
      if (request.block > Millis{0}) {
        world.engine->wait(engine_request(request), request.block, into<BookReply<T>>(answer));
        return;
      }
    }
    world.engine->ask(engine_request(request), into<BookReply<T>>(answer));
  }
  template <ServerRequest T>
  void ask(const T& request, const std::shared_ptr<std::string>& answer) {
    RespWriter out(*answer, protocol);
    if constexpr (requires { write_reply(out, request); }) {
      write_reply(out, request);
    } else {
      out.simple("OK");
    }
    out.finish();
  }

  std::string with_tokens(std::string line) const {
    for (const auto& [fence, token] : tokens_) {
      const std::string name = "<" + fence + ">";
      for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name)) {
        line.replace(at, name.size(), token);
      }
    }
    return line;
  }

  std::string shown(std::string bytes) {
    static const std::regex token("([0-9]+)-[0-9a-f]{16}");
    for (std::smatch match; std::regex_search(bytes, match, token);) {
      tokens_[match[1]] = match[0];
      bytes = match.prefix().str() + "<" + match[1].str() + ">" + match.suffix().str();
    }
    for (std::size_t at = bytes.find("\r\n"); at != std::string::npos; at = bytes.find("\r\n"))
      bytes.replace(at, 2, " ");
    if (bytes.ends_with(' ')) bytes.pop_back();
    return bytes;
  }

  std::map<std::string, std::string> tokens_;
  std::shared_ptr<std::string> waiting_;
};

class CallerTest : public ::testing::Test {
 protected:
  std::string say(const std::string& line) { return caller.say(line); }
  // The same in RESP3.
  std::string say3(const std::string& line) {
    caller.protocol = Protocol::kResp3;
    std::string answer = caller.say(line);
    caller.protocol = Protocol::kResp2;
    return answer;
  }
  void pass(Millis time) const { caller.world.pass(time); }

  Caller caller;
};

}  // namespace tenure::wire
