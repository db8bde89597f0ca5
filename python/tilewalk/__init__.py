# SPDX-License-Identifier: Apache-2.0
"""Tilewalk prices books of derivatives by Monte Carlo, every price with its standard error.

import tilewalk as tw
tw.price("book.yaml", paths=1e6).to_pandas()
"""

from . import shards
from ._core import version as __version__
from .book import Book, Imported, Product, import_ore, product, products
from .decisions import Decision, Decisions, read_decisions
from .differences import Differences
from .errors import (
    Cancelled,
    CompileError,
    DeviceError,
    Error,
    FileError,
    InputError,
    InternalError,
    MachineFailure,
    NumericError,
    RunWarning,
    ShardsMissing,
    UsageError,
)
from .gains import Gains
from .kernels import TunedKernels, WarmedKernels
from .machine import Devices, devices
from .market import Calibration, Market, Numbers, calibrate
from .results import Comparison, Greeks, Results, Row, compare, read_results
from .runs import (
    Dependence,
    Picture,
    Problem,
    Problems,
    Session,
    depends_on,
    differences,
    explain,
    greeks,
    open,
    picture,
    price,
    price_in,
    scenarios,
    settings,
    tune,
    validate,
    warm,
    write_values,
)
from .tables import Table
from .verification import Verification, verify

__all__ = [
    "Book",
    "Calibration",
    "Cancelled",
    "Comparison",
    "CompileError",
    "Decision",
    "Decisions",
    "Dependence",
    "DeviceError",
    "Devices",
    "Differences",
    "Error",
    "FileError",
    "Gains",
    "Greeks",
    "Imported",
    "InputError",
    "InternalError",
    "MachineFailure",
    "Market",
    "Numbers",
    "NumericError",
    "Picture",
    "Problem",
    "Problems",
    "Product",
    "Results",
    "Row",
    "RunWarning",
    "Session",
    "ShardsMissing",
    "Table",
    "TunedKernels",
    "UsageError",
    "Verification",
    "WarmedKernels",
    "__version__",
    "calibrate",
    "compare",
    "depends_on",
    "devices",
    "differences",
    "explain",
    "greeks",
    "import_ore",
    "open",
    "picture",
    "price",
    "price_in",
    "product",
    "products",
    "read_decisions",
    "read_results",
    "scenarios",
    "settings",
    "shards",
    "tune",
    "validate",
    "verify",
    "warm",
    "write_values",
]
