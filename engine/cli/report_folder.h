// SPDX-License-Identifier: Apache-2.0
// The folder of --files: a file for each report in a catalogue.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cli/output.h"

namespace tilewalk::cli {

class report_folder {
  public:
    // Makes the folder and opens its files; an empty name means that none is wanted. Throws tilewalk::error
    // (io).
    template <class report>
    report_folder(const std::string& folder, std::span<const report> reports) : folder_(folder) {
        if (folder.empty()) return;
        make();
        for (const report& one : reports) add(one.file);
    }

    void keep_apart_from(const std::vector<std::filesystem::path>& inputs,
                         std::vector<const output*> others) const;
    // Throws tilewalk::error (io) if the folder has this file from an earlier run. The present run does not
    // write it, for the reason `why`, and the old file would pass for one of its own.
    void refuse_old(std::string_view file, const std::string& why) const;
    // `reports` must be the catalogue given to the constructor.
    template <class report, class told>
    void write(std::span<const report> reports, const told& r) const {
        for (std::size_t k = 0; k < outputs_.size(); ++k) {
            std::ostringstream text;
            reports[k].write(text, r);
            outputs_[k].write(text.view());
        }
    }

  private:
    void make() const;
    void add(std::string_view file);

    std::string folder_;
    std::vector<output> outputs_;  // in the order of the catalogue
};

std::string files_text(const std::vector<std::pair<std::string_view, std::string_view>>& files);
template <class report>
std::string files_text(std::span<const report> reports) {
    std::vector<std::pair<std::string_view, std::string_view>> files;
    for (const report& one : reports) files.emplace_back(one.file, one.meaning);
    return files_text(files);
}

}  // namespace tilewalk::cli
