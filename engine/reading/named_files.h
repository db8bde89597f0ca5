// SPDX-License-Identifier: Apache-2.0
// Files that a file names: found from its folder, confined to it where its reader says so, and noted as
// inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/text/checked_source.h"
#include "engine/base/text/document.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"
#include "tilewalk/load_options.h"
#include "tilewalk/manifest.h"

namespace tilewalk::reading {

// A text whose bytes were checked.
struct checked_text {
    std::string name, text;
};

// Reads a file that another names: what can't be read is an error of that one, at the place of the name.
template <class reader>
auto read_named(const config::node& named, const std::filesystem::path& file, reader&& from) {
    try {
        return from(file);
    } catch (const error& e) {
        if (e.kind() != error_kind::io) throw;
        throw error(error_kind::io, config::shown(file.string()) + ": " + e.message(), named.where(),
                    named.key_path());
    }
}

class named_files {
  public:
    named_files(std::filesystem::path folder, const load_options& options);

    bool is_strict() const { return strict_; }
    const std::filesystem::path& folder() const { return folder_; }
    void note(const std::string& name, const std::string& hash) { inputs_.push_back({name, hash}); }
    std::vector<input_file> take_inputs() { return std::move(inputs_); }

    // Each reads the file that stands at `named` and notes it. A file that can't be read is an error there.
    config::document yaml(const config::node& named);
    checked_text csv(const config::node& named);
    // The same by its path.
    config::document yaml(const std::filesystem::path& file);

  private:
    template <class read>
    auto at(const config::node& named, read&& from);

    std::filesystem::path folder_;
    bool strict_ = false;
    std::filesystem::path inside_;  // what they are confined to, if they are
    std::vector<input_file> inputs_;
};

// All of a source but a byte order mark.
checked_text whole(config::checked_source& from);

}  // namespace tilewalk::reading
