// What FaultyFiles has instead of a disk: a tree of files and folders that knows what a loss of power may do to it.
//
// Each file has the bytes that the process sees, those that are surely stored, and the changes in between, in order;
// each folder has names in the same way. A sync settles the changes of one file or one folder, nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <absl/container/btree_map.h>
#include <tl/expected.hpp>

namespace tenure {

// A value; copies share the bytes that neither has changed. Errors are errnos, 0 if there is none. One thread.
class FaultyDisk {
 public:
  using Id = std::uint64_t;

  // What a crash does to changes that were not synced.
  enum class Damage : std::uint8_t {
    kLoseAll,  // none arrives
    kKeepAll,  // all arrive
    kTear,     // the first ones arrive, in the order they were made; a write is cut at a sector's end or at any byte
    kReorder,  // each name and each 512-byte sector of each write arrives or not
    kGarbage,  // like kReorder, but where a sector did not arrive there may be zeros or random bytes
    kZero,     // names and sizes arrive, bytes do not: what a file grew by is zeros
  };

  // Where a path leads: a name in a folder that exists, and what it names, if anything. The root has no name.
  struct Place {
    Id folder = 0;
    std::string name;
    std::optional<Id> node;
  };
  // Fails if the way to the last name leads through what is no folder.
  [[nodiscard]] tl::expected<Place, int> find(std::string_view path) const;
  enum class Kind : bool { kFile, kFolder };
  // What is there, if it is of this kind.
  [[nodiscard]] tl::expected<Id, int> find(std::string_view path, Kind kind) const;

  [[nodiscard]] bool is_folder(Id id) const { return nodes_.at(id).kind == Kind::kFolder; }
  [[nodiscard]] const std::map<std::string, Id>& names(Id folder) const { return nodes_.at(folder).seen.names; }
  [[nodiscard]] std::uint64_t size(Id file) const { return nodes_.at(file).seen.bytes.size(); }
  // At most `length` bytes: what there is.
  [[nodiscard]] std::string read(Id file, std::uint64_t offset, std::uint64_t length) const {
    return nodes_.at(file).seen.bytes.read(offset, length);
  }

  Id create(const Place& place, Kind kind);
  // Both in one folder.
  void rename(const Place& from, const Place& to);
  void remove(const Place& place);
  // Writes what there is room for.
  int write(Id file, std::uint64_t offset, std::string_view bytes);
  int resize(Id file, std::uint64_t size);

  void sync(Id id);
  // Leaves in doubt what a sync would have settled: no later one will.
  void sync_failed(Id id);
  void crash(Damage damage, std::uint64_t seed);

  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t free() const;

  // Makes a file or folder durable at once, in a folder that is.
  Id put(const Place& place, Kind kind);
  // Makes these the file's bytes, durable at once.
  void put_bytes(Id file, std::uint64_t offset, std::string_view bytes);
  void put_size(Id file, std::uint64_t size);

  // Path -> contents, as seen; "/a/b" is a file, "/a/" a folder.
  [[nodiscard]] std::map<std::string, std::string> state() const;

 private:
  friend class Wreck;

  // Bytes in blocks that never change once they are made. A hole has no block.
  class Extent {
   public:
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] std::uint64_t block_count() const { return blocks_.size(); }
    [[nodiscard]] bool is_hole(std::uint64_t index) const { return !blocks_.contains(index); }
    [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t length) const;
    void write(std::uint64_t offset, std::string_view bytes);
    void resize(std::uint64_t size);

   private:
    absl::btree_map<std::uint64_t, std::shared_ptr<const std::string>> blocks_;
    std::uint64_t size_ = 0;
  };

  // A file has bytes, a folder names.
  struct Content {
    Extent bytes;
    std::map<std::string, Id> names;
  };

  struct Change {
    enum class What : std::uint8_t { kWrite, kResize, kName, kUnname };
    enum class State : std::uint8_t { kUnsynced, kInDoubt, kSynced };

    What what;
    std::uint64_t offset = 0;  // of kWrite; the size of kResize
    std::string text{};        // the bytes, or the name
    std::string from{};        // the name before; the same as `text` but in a rename
    Id node = 0;               // what is named
    std::uint64_t number = 0;  // counts the changes of the whole disk
    State state = State::kUnsynced;

    void apply_to(Content& content) const;
  };

  struct Node {
    Kind kind = Kind::kFile;
    Content seen{};
    Content durable{};
    std::deque<Change> changes{};  // `durable` with all of them applied is `seen`
  };

  void change(Id id, Change what);
  [[nodiscard]] std::set<Id> reachable() const;
  void add_state(std::map<std::string, std::string>& out, const std::string& path, Id folder) const;

  std::map<Id, Node> nodes_{{0, Node{.kind = Kind::kFolder}}};  // 0 is the root
  Id next_id_ = 1;
  std::uint64_t change_count_ = 0;
  std::uint64_t capacity_ = std::uint64_t{1} << 50;
};

}  // namespace tenure
