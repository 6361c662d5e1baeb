#include "hazelcast/codec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tenure::hazelcast {
namespace {

namespace type {
constexpr std::uint32_t kError = 0x000000;
constexpr std::uint32_t kSignIn = 0x000100;
constexpr std::uint32_t kSignInAnswer = 0x000101;
constexpr std::uint32_t kWatch = 0x000300;
constexpr std::uint32_t kMembersEvent = 0x000302;
constexpr std::uint32_t kPartitionsEvent = 0x000303;
constexpr std::uint32_t kPing = 0x000B00;
constexpr std::uint32_t kTryLock = 0x011100;
constexpr std::uint32_t kIsLocked = 0x011200;
constexpr std::uint32_t kUnlock = 0x011300;
constexpr std::uint32_t kForceUnlock = 0x013300;
}  // namespace type

// As the protocol numbers them.
enum ErrorNumber : std::int32_t {
  kAuthentication = 3,
  kCallerNotMember = 8,
  kInstanceNotActive = 19,
  kOverload = 20,
  kIo = 22,
  kIllegalArgument = 23,
  kIllegalMonitorState = 26,
  kMemberLeft = 33,
  kOperationTimeout = 38,
  kPartitionMigrating = 39,
  kRetryable = 46,
  kRetryableIo = 47,
  kSecurity = 49,
  kTargetDisconnected = 52,
  kTargetNotMember = 53,
  kWrongTarget = 62,
  kAccessControl = 64,
  kNoDataMember = 67,
  kIndeterminateState = 80,
  kTargetNotReplica = 82,
};

// Asking again is harmless, since a reference makes it the same request: so also where it may have been done.
constexpr std::array kPassing = {kCallerNotMember, kInstanceNotActive,  kOverload,           kIo,
                                 kMemberLeft,      kOperationTimeout,   kPartitionMigrating, kRetryable,
                                 kRetryableIo,     kTargetDisconnected, kTargetNotMember,    kWrongTarget,
                                 kNoDataMember,    kIndeterminateState, kTargetNotReplica};

// Members serve clients of other languages, and count them by this.
constexpr std::string_view kClientType = "CPP";
constexpr std::string_view kClientVersion = "5.3.0";
constexpr std::uint8_t kSerializationVersion = 1;

// There is a place for each in memory, so a member is not believed that says any number.
constexpr std::int32_t kPartitionsMax = 1 << 20;
constexpr std::int32_t kPortMax = 65535;
constexpr std::size_t kErrorBytesMax = 1000;

tl::unexpected<Failure> garbled(std::string_view what) {
  return fail_with(ErrorCode::kUnavailable, "{}: not as the protocol has it", what);
}

void write_optional(MessageWriter& writer, std::optional<std::string_view> text) {
  if (text) {
    writer.text(*text);
  } else {
    writer.null();
  }
}

std::string_view refusal_of(std::uint8_t status) {
  switch (status) {
    case 1:
      return "the cluster's name, the user or the password is wrong";
    case 2:
      return "it serializes in another way";
    case 3:
      return "this client is not allowed in the cluster";
    default:
      return "for a reason that this client does not know";
  }
}

}  // namespace

std::string write_sign_in(const SignIn& who, std::int64_t correlation) {
  MessageWriter writer(type::kSignIn);
  writer.uuid(who.client).byte(kSerializationVersion);
  writer.text(who.cluster);
  write_optional(writer, who.user);
  write_optional(writer, who.password);
  writer.text(kClientType).text(kClientVersion).text(who.name);
  writer.begin().end();  // labels
  return writer.take(correlation);
}

Result<Welcome> read_welcome(const Message& answer) {
  if (const auto error = read_error(answer)) return tl::unexpected(error->failure());
  MessageReader reader(answer);
  constexpr std::size_t kMemberAt = kAnswerValues + 1;
  constexpr std::size_t kPartitionsAt = kMemberAt + 18;
  const std::uint8_t status = reader.byte(kAnswerValues);
  if (status != 0) return fail_with(ErrorCode::kNoAuth, "signing in was refused: {}", refusal_of(status));
  const auto member = reader.uuid(kMemberAt);
  const std::int32_t partitions = reader.int32(kPartitionsAt);
  const auto cluster = reader.uuid(kPartitionsAt + 4);
  reader.skip();  // its address: it has just been reached
  reader.text();  // its version
  const bool has_partitions = partitions > 0 && partitions <= kPartitionsMax;
  if (answer.type() != type::kSignInAnswer || !reader.ok() || !member || !cluster || !has_partitions) {
    return garbled("the answer to signing in");
  }
  return Welcome{.member = *member, .cluster = *cluster, .partitions = partitions};
}

std::string write_ping(std::int64_t correlation) { return MessageWriter(type::kPing).take(correlation); }

std::string write_watch(std::int64_t correlation) { return MessageWriter(type::kWatch).take(correlation); }

namespace {

Member read_member(MessageReader& reader) {
  Member member;
  reader.begin_with_values();
  member.uuid = reader.uuid(0).value_or(Uuid{});
  member.is_lite = reader.byte(17) != 0;
  reader.begin_with_values();
  member.port = reader.int32(0);
  member.host = reader.text();
  reader.end();
  reader.end();
  return member;
}

std::vector<Member> read_members(MessageReader& reader) {
  std::vector<Member> members;
  reader.begin();
  while (!reader.at_end()) members.push_back(read_member(reader));
  reader.end();
  return members;
}

// First all rows of partitions, then all members.
std::vector<Ownership> read_partitions(MessageReader& reader) {
  std::vector<Ownership> table;
  reader.begin();
  while (!reader.at_end()) table.push_back({.member = {}, .partitions = reader.int32s()});
  reader.end();
  const auto members = reader.uuids();
  table.resize(std::min(table.size(), members.size()));
  for (std::size_t i = 0; i < table.size(); ++i) table[i].member = members[i].value_or(Uuid{});
  return table;
}

}  // namespace

Result<News> read_news(const Message& event) {
  MessageReader reader(event);
  News news;
  if (event.type() == type::kMembersEvent) news.members = read_members(reader);
  if (event.type() == type::kPartitionsEvent) news.partitions = read_partitions(reader);
  const auto has_port = [](const Member& member) { return member.port > 0 && member.port <= kPortMax; };
  if (!reader.ok() || (news.members && !std::all_of(news.members->begin(), news.members->end(), has_port))) {
    return garbled("an event of the cluster");
  }
  return news;
}

namespace {

std::uint32_t type_of(LockVerb verb) {
  switch (verb) {
    case LockVerb::kTryLock:
      return type::kTryLock;
    case LockVerb::kUnlock:
      return type::kUnlock;
    case LockVerb::kForceUnlock:
      return type::kForceUnlock;
    case LockVerb::kIsLocked:
      break;
  }
  return type::kIsLocked;
}

}  // namespace

std::string write_lock_call(const LockCall& call, std::int64_t wait_ms, std::int32_t partition,
                            std::int64_t correlation) {
  MessageWriter writer(type_of(call.verb), partition);
  switch (call.verb) {
    case LockVerb::kTryLock:
      writer.int64(call.thread).int64(call.lease_ms).int64(wait_ms).int64(call.reference);
      break;
    case LockVerb::kUnlock:
      writer.int64(call.thread).int64(call.reference);
      break;
    case LockVerb::kForceUnlock:
      writer.int64(call.reference);
      break;
    case LockVerb::kIsLocked:
      break;
  }
  return writer.text(call.map).text(call.key).take(correlation);
}

Result<bool> read_lock_answer(LockVerb verb, const Message& answer) {
  if (answer.type() != type_of(verb) + 1) return garbled("the type of an answer");
  const bool has_value = verb == LockVerb::kTryLock || verb == LockVerb::kIsLocked;
  if (!has_value) return true;
  MessageReader reader(answer);
  const bool value = reader.byte(kAnswerValues) != 0;
  if (!reader.ok()) return garbled("an answer");
  return value;
}

std::optional<MemberError> read_error(const Message& answer) {
  if (answer.type() != type::kError) return std::nullopt;
  MessageReader reader(answer);
  reader.begin();
  reader.begin_with_values();
  MemberError error{.code = reader.int32(0), .text = {}};
  const std::string name = reader.text();
  const auto message = reader.text_or_null();
  error.text = (message ? fmt::format("{}: {}", name, *message) : name).substr(0, kErrorBytesMax);
  if (!reader.ok()) return MemberError{.code = 0, .text = "an error that is not as the protocol has it"};
  return error;
}

bool MemberError::may_pass() const { return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end(); }

Failure MemberError::failure() const {
  const auto code_of = [&] {
    if (code == kIllegalMonitorState) return ErrorCode::kNotHeld;
    if (code == kIllegalArgument) return ErrorCode::kInvalid;
    if (code == kAuthentication) return ErrorCode::kNoAuth;
    if (code == kSecurity || code == kAccessControl) return ErrorCode::kNoPerm;
    return ErrorCode::kUnavailable;
  };
  return {.code = code_of(), .message = fmt::format("the member says: {}", text)};
}

}  // namespace tenure::hazelcast
