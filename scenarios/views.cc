// What is behind the answers: the state, the journal, the digest.
#include <fmt/format.h>

#include "answers.h"
#include "base/bytes.h"
#include "books_text.h"
#include "core/record_codec.h"
#include "engine_subject.h"
#include "record_text.h"

namespace tenure::scenario {
namespace {

// Calls visit(frame, record, first) for every record; `first` of its frame.
template <class Visit>
void visit_records(const Journal& journal, const Visit& visit) {
  const auto read = journal.read({}, [&](const Frame& frame) -> Result<Done> {
    ByteReader in(frame.payload);
    bool first = true;
    while (!in.at_end()) {
      const auto record = decode(in);
      if (!record) throw ScriptError(record.error().message);
      visit(frame, *record, first);
      first = false;
    }
    return Done{};
  });
  if (!read) throw ScriptError(read.error().message);
}

void add(Answer& answer, const Portrait& shown) {
  answer.lines.push_back(plain_line(shown.title + ":"));
  if (shown.lines.empty()) answer.lines.push_back(plain_line("  none"));
  for (const std::string& line : shown.lines) answer.lines.push_back(plain_line("  " + line));
}

}  // namespace

// state [name]
void EngineSubject::state(Arguments& args, const Answered& done) {
  Answer answer;
  engine_->inspect([&](const State& state) {
    if (args.at_end()) {
      for (const Portrait& shown : portraits(state)) add(answer, shown);
      answer.lines.push_back(plain_line(fmt::format("fence = {}", state.fence().value)));
    }
    while (!args.at_end()) add(answer, portrait_of(state, args.next("name")));
  });
  done(std::move(answer));
}

// The records since this was last asked: sequence number, stamp, record; further records of one frame behind a '+'.
void EngineSubject::journal(Arguments& args, const Answered& done) {
  args.finish();
  std::vector<AnswerLine> lines;
  std::uint64_t last = shown_;
  visit_records(*journal_, [&](const Frame& frame, const Record& record, bool first) {
    if (frame.sequence <= shown_) return;
    last = frame.sequence;
    AnswerLine line;
    if (first) {
      line = {{"", std::to_string(frame.sequence)}, {"", std::to_string(frame.stamp.ms)}};
    } else {
      line = plain_line("  +");
    }
    for (AnswerField& field : record_line(record)) line.push_back(std::move(field));
    lines.push_back(std::move(line));
  });
  shown_ = last;
  done(list_of(std::move(lines)));
}

void EngineSubject::digest(Arguments& args, const Answered& done) {
  args.finish();
  const Digest digest = engine_->inspect([](const State& state) { return state.digest(); });
  done(say(fmt::format("{:016x}{:016x}", digest.high(), digest.low())));
}

// replay-prefixes name: the named thing after each record of the journal, replayed from the first.
void EngineSubject::replay_prefixes(Arguments& args, const Answered& done) {
  const std::string_view name = args.next("name");
  args.finish();
  Answer answer;
  State state;
  visit_records(*journal_, [&](const Frame& frame, const Record& record, bool) {
    if (const Broken broken = state.apply(frame.stamp, record)) throw ScriptError(broken);
    if (state.digest() != state.recompute_digest()) throw ScriptError("a prefix's digest differs when recomputed");
    std::string text;
    for (const std::string& line : portrait_of(state, name).lines) text += (text.empty() ? "" : ", ") + line;
    answer.lines.push_back(
        plain_line(fmt::format("{} {} -> {}", answer.lines.size() + 1, name_of(record), text.empty() ? "none" : text)));
  });
  done(std::move(answer));
}

}  // namespace tenure::scenario
