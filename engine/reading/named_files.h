// SPDX-License-Identifier: Apache-2.0
// Files that another file names: relative to its folder, confined to a folder if asked, recorded as inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/text/checked_source.h"
#include "engine/base/text/document.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"
#include "tilewalk/manifest.h"
#include "tilewalk/options.h"

namespace tilewalk::reading {

struct checked_text {
    std::string name, text;
};

// If `file` can't be opened, throws an error at the place of its name in the other file.
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

    // Read the file that `named` names, and record it as an input. Errors are placed at `named`.
    config::document yaml(const config::node& named);
    checked_text csv(const config::node& named);
    config::document yaml(const std::filesystem::path& file);

  private:
    template <class read>
    auto at(const config::node& named, read&& from);

    std::filesystem::path folder_;
    bool strict_ = false;
    std::filesystem::path inside_;  // files must lie in here; empty for no limit
    std::vector<input_file> inputs_;
};

// Reads the rest of the file and returns its text without a byte order mark.
checked_text whole(config::checked_source& from);

}  // namespace tilewalk::reading
