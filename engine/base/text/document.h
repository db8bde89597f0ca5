// SPDX-License-Identifier: Apache-2.0
// The only reader of YAML: a tree of nodes that keep their line and column, read event by event so that
// duplicate keys, aliases, tags and second documents are refused where they stand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::config {

// A value in a YAML file: knows where it stands and by which keys it was reached, so every accessor can
// complain well.
class node {
  public:
    enum class shape : std::uint8_t { null, scalar, sequence, mapping };
    struct member;

    shape kind() const { return kind_; }
    bool is_scalar() const { return kind_ == shape::scalar; }
    bool is_sequence() const { return kind_ == shape::sequence; }
    bool is_mapping() const { return kind_ == shape::mapping; }
    bool is_quoted() const { return style_ != style::plain; }
    bool is_literal() const { return style_ == style::literal; }  // a block scalar written with '|'
    location where() const;
    // The place where the text of a scalar begins: after the quote, or the indented column below a '|'.
    location content_start() const;
    std::string key_path() const;  // "trades[3].strike"

    // Scalars. Each throws tilewalk::error (input) saying what was found and what was expected.
    const std::string& text() const;
    double number() const;  // finite, plain decimal
    std::int64_t integer() const;
    bool boolean() const;  // true or false, nothing else

    // Sequences.
    const std::vector<node>& items() const;

    // Mappings, in the order of the file.
    const std::vector<member>& members() const;
    const node* find(std::string_view key) const;
    const node& at(std::string_view key) const;  // throws if missing, naming the mapping's place
    // Refuses members that are not in `known`, with the nearest known one suggested.
    void only(const std::vector<std::string>& known) const;

    // Copies of a mapping: without a member; with a member, in the place of the one of the same name or at
    // the end. The parts that were read keep their places.
    node without(std::string_view key) const;
    node with(std::string_view key, node value) const;

    // The value to which the numbers of children lead, from here on.
    const node& descendant(std::span<const std::size_t> place) const;
    // A copy in which scalars below say something else, as plain texts.
    struct new_text {
        std::span<const std::size_t> place;
        std::string text;
    };
    node with(std::span<const new_text> texts) const;

    [[noreturn]] void fail(const std::string& message) const;  // an input error at this place
    // The same for a text that is none of these words.
    [[noreturn]] void fail_word(const std::vector<std::string>& known) const;
    // The same for a mapping without a key, `what` being the key in quotes and what it would say. The
    // message adds that the file may have been cut short, where it ends with the mapping.
    [[noreturn]] void fail_missing(const std::string& what) const;
    // The same where one of several keys is missing, in the words of `message`.
    [[noreturn]] void fail_incomplete(const std::string& message) const;
    // True if a file that is cut short might end with this value: nothing follows it, nothing closes it, and
    // no "..." says that the file is whole.
    bool may_be_cut() const;
    std::string found() const;  // "'abc'", "a list", "nothing", ... for messages
    // The same without a word of the text: a file that was taken for ours may be anybody's.
    std::string found_kind() const;

  private:
    friend class builder;
    friend class entry_tree;
    struct source;  // what all nodes of a file share
    struct scope;   // a sequence or mapping, as its members see it
    enum class style : std::uint8_t { plain, quoted, literal, folded };

    // A book has millions of nodes, so a node holds no path of its own: it knows its container's scope and
    // its place there.
    shape kind_ = shape::null;
    style style_ = style::plain;
    bool is_closed_ = false;  // by a quote or a bracket
    int line_ = 0, column_ = 0;
    int content_column_ = 0;            // block scalars only
    int index_ = -1;                    // in a sequence
    const std::string* key_ = nullptr;  // in a mapping; owned by the source
    std::shared_ptr<const scope> scope_;
    std::variant<std::string, std::vector<node>, std::vector<member>> content_;
};
struct node::member {
    std::string key;
    node value;
    location where() const;  // of the key
    // Refuses the key, not its value.
    [[noreturn]] void fail(const std::string& message) const;

    int line = 0, column = 0;
};

// Bounds that are checked while a file is read, so that a hostile file costs little: all but the first three
// keep the memory used before the refusal within a few tens of megabytes.
struct limits {
    std::size_t bytes = bounds::file_bytes;
    std::size_t nodes = bounds::file_values;
    std::size_t entries = bounds::entries;
    std::size_t part_nodes = bounds::part_values;
    int depth = bounds::nesting;
    std::size_t line_bytes = bounds::line_bytes;
    std::size_t scalar_bytes = bounds::text_bytes;
    std::size_t key_bytes = bounds::key_bytes;
    // From one value to the next, as many bytes and signs of YAML's: a bracket or a quote without end.
    std::size_t gap_bytes = std::size_t{1} << 20;
    std::size_t gap_signs = 131'072;
    // Lines that are plain entries are read without yaml-cpp, and those of a long list by several threads,
    // which changes nothing but the time it takes.
    bool reads_entries = true;
    int threads = 1;
};

struct document {
    node root;
    std::string hash;                         // SHA-256 of the bytes
    bool has_end_marker = false;              // "...": nothing is missing
    location end;                             // of the text
    std::shared_ptr<const std::string> text;  // all of it
};
// The folder from which the names of files in a file count.
std::filesystem::path folder_of_file(const std::filesystem::path& file);
// Throws tilewalk::error (input) for a document without "...", which may have been cut short.
void demand_end(const document& read);

// `name` is the text's name in errors.
document read_document(std::string_view text, const std::string& name, const limits& within = {});
// Reads a regular file; the error says why it could not be read. The file has to be in `inside` or below it,
// where that is a folder, symbolic links followed.
document read_document(const std::filesystem::path& file, const limits& within = {},
                       const std::filesystem::path& inside = {});
// The roots of the documents alone.
node parse(std::string_view text, const std::string& name, const limits& within = {});
node load(const std::filesystem::path& file, const limits& within = {});

}  // namespace tilewalk::config
