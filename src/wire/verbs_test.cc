#include "wire/verbs.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenure::wire {
namespace {

using ::testing::HasSubstr;

std::optional<Failure> read(const std::vector<std::string_view>& words, Request& request) {
  const auto verb = find_verb(words);
  if (!verb) return verb.error();
  return read_request(**verb, words, 1 << 20, request);
}
std::string fault_in(const std::vector<std::string_view>& words) {
  Request request;
  const auto fault = read(words, request);
  return fault ? fmt::format("{} {}", to_string(fault->code), fault->message) : "none";
}
template <class T>
T request_of(const std::vector<std::string_view>& words) {
  Request request;
  EXPECT_EQ(read(words, request), std::nullopt);
  return std::get<T>(request);
}

// A value that the field takes, as words.
std::vector<std::string_view> sample(Field field) {
  switch (traits_of(field).kind) {
    case Kind::kInteger:
      return {field == Field::kDatabase ? "0" : "1"};
    case Kind::kVersion:
      return {"3"};
    case Kind::kBackoff:
    case Kind::kPair:
      return {"1", "2"};
    case Kind::kQueues:
      return {"2", "q", "r"};
    case Kind::kState:
      return {"WAITING"};
    case Kind::kFlag:
      return {};
    case Kind::kTaskCursor:
    case Kind::kNameCursor:
    case Kind::kOffsetCursor:
    case Kind::kTableCursor:
      return {"0"};
    default:
      return {"x"};
  }
}

std::vector<std::string_view> name_of(const Verb& verb) {
  const std::size_t blank = verb.name.find(' ');
  if (blank == std::string_view::npos) return {verb.name};
  return {verb.name.substr(0, blank), verb.name.substr(blank + 1)};
}

void append(std::vector<std::string_view>& words, const Argument& argument) {
  if (argument.is_option()) words.push_back(argument.word);
  for (const std::string_view word : sample(argument.field)) words.push_back(word);
}

std::vector<std::string_view> least(const Verb& verb) {
  std::vector<std::string_view> words = name_of(verb);
  for (const Argument& argument : verb.arguments) {
    if (argument.form == Form::kRequired || argument.form == Form::kMany) append(words, argument);
  }
  return words;
}

TEST(VerbTableTest, EveryVerbIsFoundByItsNameInAnyCase) {
  std::set<std::string_view> names;
  for (const Verb* verb : all_verbs()) {
    EXPECT_TRUE(names.insert(verb->name).second) << verb->name << " is there twice";
    std::vector<std::string> lower;
    for (const std::string_view word : name_of(*verb)) {
      lower.emplace_back(word);
      for (char& c : lower.back()) c = static_cast<char>(std::tolower(c));
    }
    const std::vector<std::string_view> words(lower.begin(), lower.end());
    ASSERT_TRUE(find_verb(words).has_value()) << verb->name;
    EXPECT_EQ(*find_verb(words), verb);
    ASSERT_TRUE(find_verb(name_of(*verb)).has_value()) << verb->name;
    EXPECT_EQ(*find_verb(name_of(*verb)), verb);
    EXPECT_EQ(find_verb_named(verb->name), verb);
  }
  EXPECT_EQ(names.size(), 15U + 10U + 6U + 24U);
}

TEST(VerbTableTest, AVerbIsNotFoundByANameThatIsNearlyItsOwn) {
  for (const Verb* verb : all_verbs()) {
    for (std::size_t at = 0; at < verb->name.size(); ++at) {
      std::string name(verb->name);
      name[at] = '#';
      EXPECT_FALSE(find_verb(std::vector<std::string_view>{name}).has_value()) << name;
    }
    const std::string longer = std::string(verb->name) + "#";
    EXPECT_FALSE(find_verb(std::vector<std::string_view>{longer}).has_value()) << longer;
  }
}

TEST(VerbTableTest, EveryVerbIsDescribed) {
  for (const Verb* verb : all_verbs()) {
    EXPECT_TRUE(verb->summary.ends_with('.')) << verb->name;
    EXPECT_FALSE(verb->reply.empty()) << verb->name;
    EXPECT_EQ(verb->route.path.empty(), verb->group == Group::kServer) << verb->name;
  }
}

TEST(VerbTableTest, EveryVerbTakesWhatItDeclaresAndNothingElse) {
  for (const Verb* verb : all_verbs()) {
    const auto words = least(*verb);
    EXPECT_EQ(fault_in(words), "none") << verb->name;
    const auto arity = verb->arity();
    if (arity > 0) {
      EXPECT_EQ(words.size(), static_cast<std::size_t>(arity)) << verb->name;
    }
    if (words.size() > verb->name_words) {
      auto fewer = words;
      fewer.pop_back();
      EXPECT_THAT(fault_in(fewer), HasSubstr("ERR wrong number of arguments: expected ")) << verb->name;
    }
  }
}

TEST(VerbTableTest, EveryOptionIsTakenOnceInAnyPlaceAndWithItsValues) {
  for (const Verb* verb : all_verbs()) {
    std::vector<std::string_view> all = least(*verb);
    for (auto argument = verb->arguments.rbegin(); argument != verb->arguments.rend(); ++argument) {
      if (!argument->is_option() || argument->form == Form::kRequired) continue;
      auto once = least(*verb);
      append(once, *argument);
      EXPECT_EQ(fault_in(once), "none") << verb->name << " " << argument->word;
      append(once, *argument);
      EXPECT_EQ(fault_in(once), fmt::format("ERR {}: expected once, found twice", argument->word)) << verb->name;
      append(all, *argument);
      if (sample(argument->field).empty()) continue;
      auto bare = least(*verb);
      bare.push_back(argument->word);
      EXPECT_THAT(fault_in(bare), HasSubstr("found nothing more")) << verb->name;
    }
    EXPECT_EQ(fault_in(all), "none") << verb->name;
  }
}

TEST(VerbTableTest, EveryPathNamesArguments) {
  for (const Verb* verb : all_verbs()) {
    for (std::string_view path : {verb->route.path, verb->route.longer_path}) {
      for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{')) {
        path.remove_prefix(open + 1);
        const std::string_view name = path.substr(0, path.find('}'));
        EXPECT_TRUE(std::any_of(
            verb->arguments.begin(), verb->arguments.end(),
            [&](const Argument& argument) { return !argument.is_option() && traits_of(argument.field).json == name; }))
            << verb->name << " has no " << name;
      }
    }
  }
}

TEST(VerbTableTest, NoVerbHasTwoArgumentsOfOneJsonName) {
  for (const Verb* verb : all_verbs()) {
    if (verb->group == Group::kServer) continue;
    std::set<std::string_view> names;
    for (const Argument& argument : verb->arguments) {
      EXPECT_TRUE(names.insert(traits_of(argument.field).json).second) << verb->name;
    }
  }
}

TEST(VerbTableTest, UsageIsMadeFromTheArguments) {
  const std::vector<std::string_view> submit{"TASK.SUBMIT"};
  EXPECT_EQ((*find_verb(submit))->usage(),
            "TASK.SUBMIT queue payload [ID id] [REQUEST id] [WINDOW ms] [RETRIES n] [BACKOFF initial_ms max_ms] "
            "[ATTEMPTS n] [DELAY ms] [PRIORITY 0-9] [KEY key]");
  EXPECT_EQ(find_verb_named("task.lease")->usage(),
            "TASK.LEASE worker numqueues queue [queue ...] [COUNT n] [LEASE ms] [BLOCK ms] [REQUEST id]");
  EXPECT_EQ(find_verb_named("lock.list")->usage(), "LOCK.LIST [domain] [COUNT n] [CURSOR c] [SPACE space]");
  EXPECT_EQ(find_verb_named("work.extend")->usage(), "WORK.EXTEND domain token LEASE ms");
  EXPECT_EQ(find_verb_named("config|get")->usage(), "CONFIG GET pattern [pattern ...]");
  EXPECT_EQ(find_verb_named("quit")->usage(), "QUIT");
  EXPECT_EQ(find_verb_named("nonsense"), nullptr);
}

TEST(VerbTableTest, ArityIsExactOrTheLeast) {
  EXPECT_EQ(find_verb_named("TASK.KILL")->arity(), 3);
  EXPECT_EQ(find_verb_named("TASK.SUBMIT")->arity(), -3);
  EXPECT_EQ(find_verb_named("TASK.LEASE")->arity(), -4);
  EXPECT_EQ(find_verb_named("CLIENT ID")->arity(), 2);
  EXPECT_EQ(find_verb_named("WORK.EXTEND")->arity(), 5);
}

TEST(VerbTableTest, UnknownNamesAreAnError) {
  EXPECT_EQ(fault_in({"NONSENSE"}), "ERR unknown command 'NONSENSE': expected one that COMMAND lists");
  EXPECT_EQ(fault_in({""}), "ERR unknown command '': expected one that COMMAND lists");
  EXPECT_EQ(fault_in({"ping~"}), "ERR unknown command 'ping~': expected one that COMMAND lists");
  EXPECT_EQ(fault_in({"TASK"}), "ERR unknown command 'TASK': expected one that COMMAND lists");
  EXPECT_EQ(fault_in({"CLIENT ID"}), "ERR unknown command 'CLIENT ID': expected one that COMMAND lists");
  EXPECT_EQ(fault_in({"CLIENT", "ID ID"}).substr(0, 34), "ERR unknown subcommand of 'CLIENT'");
  EXPECT_EQ(fault_in({"CONFIG", "SET", "a", "b"}), "ERR unknown subcommand of 'CONFIG': expected GET, found 'SET'");
  EXPECT_EQ(fault_in({"config"}), "ERR unknown subcommand of 'config': expected GET, found ''");
  EXPECT_EQ(fault_in({"COMMAND", "x"}), "ERR unknown subcommand of 'COMMAND': expected COUNT, DOCS, INFO, found 'x'");
}

TEST(VerbTableTest, ServerRequestsAreRead) {
  EXPECT_EQ(request_of<Ping>({"PING"}).message, std::nullopt);
  EXPECT_EQ(request_of<Ping>({"PING", "x"}).message, "x");
  EXPECT_EQ(request_of<Echo>({"ECHO", "x"}).message, "x");
  const auto hello = request_of<Hello>({"HELLO", "3", "AUTH", "u", "p", "SETNAME", "n"});
  EXPECT_EQ(hello.version, 3);
  EXPECT_EQ(hello.credentials->user, "u");
  EXPECT_EQ(hello.credentials->password, "p");
  EXPECT_EQ(hello.name, "n");
  EXPECT_EQ(request_of<Hello>({"HELLO"}).version, std::nullopt);
  EXPECT_EQ(request_of<Auth>({"AUTH", "p"}).credentials.user, std::nullopt);
  EXPECT_EQ(request_of<Auth>({"AUTH", "u", "p"}).credentials.user, "u");
  EXPECT_EQ(request_of<Auth>({"AUTH", "u", "p"}).credentials.password, "p");
  EXPECT_EQ(request_of<NameClient>({"CLIENT", "setname", ""}).name, "");
  EXPECT_EQ(request_of<DescribeClient>({"CLIENT", "SETINFO", "LIB-VER", "1.0"}).value, "1.0");
  EXPECT_EQ(request_of<KillClient>({"CLIENT", "KILL", "127.0.0.1:5"}).address, "127.0.0.1:5");
  EXPECT_FALSE(request_of<KillClient>({"CLIENT", "KILL", "127.0.0.1:5"}).counts);
  EXPECT_EQ(request_of<KillClient>({"CLIENT", "KILL", "ID", "7"}).id, 7);
  EXPECT_EQ(request_of<KillClient>({"CLIENT", "KILL", "ADDR", "x"}).address, "x");
  EXPECT_TRUE(request_of<KillClient>({"CLIENT", "KILL", "ADDR", "x"}).counts);
  EXPECT_EQ(request_of<JoinSession>({"CLIENT", "SESSION", "s"}).grace, std::nullopt);
  EXPECT_EQ(request_of<JoinSession>({"CLIENT", "SESSION", "s", "GRACE", "5"}).grace, Millis{5});
  EXPECT_EQ(request_of<DescribeServer>({"INFO"}).sections.size(), 0U);
  EXPECT_EQ(request_of<DescribeServer>({"INFO", "a", "b"}).sections.size(), 2U);
  const std::vector<std::string_view> config{"CONFIG", "GET", "save", "app*"};
  EXPECT_EQ(request_of<GetConfig>(config).patterns[1], "app*");
  const std::vector<std::string_view> docs{"COMMAND", "DOCS", "ping"};
  EXPECT_EQ(request_of<DocumentCommands>(docs).names[0], "ping");
}

TEST(VerbTableTest, OnlyTwoProtocolsAreSpoken) {
  EXPECT_EQ(fault_in({"HELLO", "4"}), "NOPROTO protocol version: expected 2 or 3, found 4");
  EXPECT_EQ(fault_in({"HELLO", "x"}), "ERR protocol version: expected an integer, found 'x'");
  EXPECT_EQ(fault_in({"HELLO", "2", "AUTH", "u"}),
            "ERR AUTH: expected username password behind it, found nothing more");
  EXPECT_EQ(fault_in({"SELECT", "1"}), "INVALID database: expected 0 to 0, found 1");
  EXPECT_EQ(fault_in({"CLIENT", "SETNAME", "a b"}), "INVALID connection name: expected no blanks, found 'a b'");
}

RC_GTEST_PROP(VerbTablePropertyTest, AnyWordsAreARequestOrACodedFault, ()) {
  const auto verb = *rc::gen::elementOf(std::vector<const Verb*>(all_verbs().begin(), all_verbs().end()));
  std::vector<std::string> texts;
  for (const std::string_view word : least(*verb)) texts.emplace_back(word);
  const auto more = *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::string<std::string>(),
      rc::gen::element<std::string>("ID", "COUNT", "1", "-1", "0", "CURSOR", "BLOCK", "x", "LEASE", "")));
  texts.insert(texts.end(), more.begin(), more.end());
  const std::vector<std::string_view> words(texts.begin(), texts.end());
  Request request;
  const auto fault = read(words, request);
  const ErrorCode code = fault ? fault->code : ErrorCode::kErr;
  RC_ASSERT(code == ErrorCode::kErr || code == ErrorCode::kInvalid || code == ErrorCode::kNoProto);
}

}  // namespace
}  // namespace tenure::wire
