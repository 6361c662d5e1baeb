#include "fleet.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <deque>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster_world.h"

namespace tenure::sim {
namespace {

constexpr std::size_t kStoryLines = 40;  // of a seed that failed

// What a process tells its parent, a line each: "begin SEED", "broken SEED WHAT", "count LINE".
class Crew {
 public:
  Crew(const WorldKind& kind, Seeds seeds, unsigned jobs) {
    for (unsigned job = 0; job < jobs; ++job) members_.push_back(start(kind, seeds, job, jobs));
  }

  // Calls hear(line) for every line, until all have ended; then ended(seed, status) for each.
  template <class Hear, class Ended>
  void listen(const Hear& hear, const Ended& ended) {
    while (true) {
      std::vector<pollfd> waiting;
      for (const Member& member : members_) {
        if (member.pipe >= 0) waiting.push_back({member.pipe, POLLIN, 0});
      }
      if (waiting.empty()) break;
      poll(waiting.data(), waiting.size(), -1);
      for (Member& member : members_) {
        for (const pollfd& ready : waiting) {
          if (ready.fd == member.pipe && ready.revents != 0) read_from(member, hear);
        }
      }
    }
    for (const Member& member : members_) {
      int status = 0;
      waitpid(member.process, &status, 0);
      ended(member.seed, status);
    }
  }

 private:
  struct Member {
    pid_t process = 0;
    int pipe = -1;
    std::string text{};
    std::uint64_t seed = 0;  // the one it is at
  };

  static Member start(const WorldKind& kind, Seeds seeds, unsigned job, unsigned jobs) {
    std::array<int, 2> ends{};
    TENURE_CHECK(pipe(ends.data()) == 0, "no pipe: {}", errno);
    std::fflush(nullptr);
    const pid_t process = fork();
    TENURE_CHECK(process >= 0, "no process: {}", errno);
    if (process == 0) {
      close(ends[0]);
      work(kind, seeds, job, jobs, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    return {.process = process, .pipe = ends[0]};
  }

  static void work(const WorldKind& kind, Seeds seeds, unsigned job, unsigned jobs, int pipe) {
    const auto say = [pipe](const std::string& line) {
      const std::string text = line + "\n";
      for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = write(pipe, text.data() + done, text.size() - done);
        if (written <= 0) _exit(1);
        done += static_cast<std::size_t>(written);
      }
    };
    Tally sum;
    for (std::uint64_t seed = seeds.first + job; seed <= seeds.last; seed += jobs) {
      say(fmt::format("begin {}", seed));
      const Outcome outcome = kind.run_seed(seed, {});
      if (!outcome.breach.empty()) say(fmt::format("broken {} {}", seed, outcome.breach));
      for (const std::string& line : outcome.tally.lines()) sum.add(line);
    }
    for (const std::string& line : sum.lines()) say("count " + line);
    say("begin 0");
  }

  template <class Hear>
  static void read_from(Member& member, const Hear& hear) {
    std::array<char, 4096> buffer{};
    const ssize_t got = read(member.pipe, buffer.data(), buffer.size());
    if (got <= 0) {
      close(member.pipe);
      member.pipe = -1;
      return;
    }
    member.text.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = member.text.find('\n'); end != std::string::npos; end = member.text.find('\n')) {
      const std::string line = member.text.substr(0, end);
      member.text.erase(0, end + 1);
      if (line.starts_with("begin ")) member.seed = std::stoull(line.substr(6));
      hear(line);
    }
  }

  std::vector<Member> members_;
};

std::string cause_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("the process ended by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("the process ended with status {}", WEXITSTATUS(status));
}

// The last lines of its story.
void print_story(const WorldKind& kind, std::uint64_t seed) {
  std::deque<std::string> lines;
  kind.run_seed(seed, [&](const std::string& line) {
    lines.push_back(line);
    if (lines.size() > kStoryLines) lines.pop_front();
  });
  for (const std::string& line : lines) fmt::print("    {}\n", line);
}

}  // namespace

std::optional<Seeds> parse_seeds(std::string_view text) {
  const auto number = [](std::string_view digits, std::uint64_t& into) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  };
  const std::size_t dots = text.find("..");
  Seeds seeds;
  const bool is_read = dots == std::string_view::npos
                           ? number(text, seeds.first) && number(text, seeds.last)
                           : number(text.substr(0, dots), seeds.first) && number(text.substr(dots + 2), seeds.last);
  return is_read && seeds.first <= seeds.last ? std::optional(seeds) : std::nullopt;
}

WorldKind world_kind(bool is_cluster) {
  return is_cluster ? WorldKind{Where::kCluster, run_cluster_seed} : WorldKind{Where::kServer, run_seed};
}

int run_fleet(const WorldKind& kind, Seeds seeds, unsigned jobs, const std::string& program) {
  Tally sum;
  std::uint64_t begun = 0;
  std::uint64_t broken = 0;
  const std::uint64_t tell_every = std::max<std::uint64_t>(seeds.count() / 20, 500);
  Crew crew(kind, seeds, jobs);
  crew.listen(
      [&](const std::string& line) {
        if (line.starts_with("begin ")) {
          if (++begun % tell_every == 0)
            fmt::print(stderr, "{} of {} seeds, {} broken\n", begun, seeds.count(), broken);
        } else if (line.starts_with("count ")) {
          sum.add(std::string_view(line).substr(6));
        } else {
          ++broken;
          const std::uint64_t seed = std::stoull(line.substr(7));
          fmt::print("seed {}: {}\n  repeat: {} {}\n", seed, line.substr(line.find(' ', 7) + 1), program, seed);
          if (broken <= 3) print_story(kind, seed);
        }
      },
      [&](std::uint64_t seed, int status) {
        const std::string cause = cause_of(status);
        if (cause.empty()) return;
        ++broken;
        fmt::print("seed {}: {}\n  repeat: {} {}\n", seed, cause, program, seed);
      });
  fmt::print("{}", sum.table());
  const auto missing = sum.missing(kind.where);
  const bool lacks = seeds.count() >= kSeedsForAll && !missing.empty();
  if (lacks) fmt::print("never occurred: {}\n", fmt::join(missing, ", "));
  fmt::print("{} seeds, {} events, {} broken\n", seeds.count(), sum.events(), broken);
  return broken > 0 || lacks ? 1 : 0;
}

std::string run_apart(const WorldKind& kind, std::uint64_t seed) {
  std::string breach;
  Crew crew(kind, {.first = seed, .last = seed}, 1);
  crew.listen(
      [&](const std::string& line) {
        if (line.starts_with("broken ")) breach = line.substr(line.find(' ', 7) + 1);
      },
      [&](std::uint64_t /*seed*/, int status) {
        if (breach.empty()) breach = cause_of(status);
      });
  return breach;
}

}  // namespace tenure::sim
