# SPDX-License-Identifier: Apache-2.0
"""Writes the source of the documentation site: python docs/generate SITE --command build/release/tilewalk.

The pages of docs/ are copied, and the pages of tables that the engine knows are made from what the command says, so that
none of them is written by hand. Sphinx then reads SITE (docs/conf.py).
"""
import argparse
import os
import pathlib
import shutil
import sys

import api
import catalogue
import grammar
import markdown
import notebooks
from command import command_line
from python_api import python_api_page

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="docs/generate", description="Write the source of the documentation site.")
    parser.add_argument("site", type=pathlib.Path, help="the folder to write; what is in it is removed")
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build/release/tilewalk", help="the command that is documented")
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/release/python",
                        help="the folder of the Python package, with which notebooks are run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="commands to run at once")
    asked = parser.parse_args()
    if not asked.command.exists():
        sys.exit(f"{asked.command} is missing; 'make commands' builds it")
    shutil.rmtree(asked.site, ignore_errors=True)
    asked.site.mkdir(parents=True)
    tilewalk = command_line(asked.command.resolve(), ROOT, asked.jobs)
    if not notebooks.is_built(asked.package):
        print(f"{asked.package} has no package tilewalk, so notebooks are shown without what they print", file=sys.stderr)
    pages = markdown.read_pages(ROOT, asked.package)
    pages |= catalogue.command_pages(tilewalk)
    pages |= catalogue.settings_page(tilewalk)
    pages |= catalogue.market_keys_page(tilewalk)
    pages |= catalogue.product_pages(tilewalk, asked.site)
    pages |= catalogue.model_pages(tilewalk, ROOT, asked.site)
    pages |= grammar.grammar_page(ROOT, asked.site, pages)
    pages |= api.header_pages(ROOT)
    pages |= python_api_page(ROOT)
    markdown.write_pages(ROOT, asked.site, pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
