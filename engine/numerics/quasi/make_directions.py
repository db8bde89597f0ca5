#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of direction numbers beside it, from the parameters in SciPy's wheel.

    pip download scipy --no-deps --dest /tmp/wheel
    engine/numerics/quasi/make_directions.py /tmp/wheel/scipy-*.whl > engine/numerics/quasi/joe_kuo.txt

The parameters of a dimension are a primitive polynomial over two elements, of degree s, and odd numbers m[1] to m[s], of
which m[i] is below 2^i. Dimensions come in the order of their polynomials, which are all there are up to degree 18, and so
the table need not have them. It has the bits of each m[i] above the lowest, i - 1 of them, the most significant first, all
behind each other, six to a character."""
import io
import sys
import zipfile

import numpy

HEAD = """Direction numbers of Sobol points for 21,201 dimensions, without the first, which has none: new-joe-kuo-6.21201 of
S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30,
2635-2654 (2008), https://web.maths.unsw.edu.au/~fkuo/sobol/, as SciPy's wheel has them. Written by make_directions.py, which
says how to read it.

Copyright (c) 2008, Frances Y. Kuo and Stephen Joe. All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following
conditions are met:

  * Redistributions of source code must retain the above copyright notice, this list of conditions and the following
    disclaimer.
  * Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
    disclaimer in the documentation and/or other materials provided with the distribution.
  * Neither the names of the copyright holders nor the names of the University of New South Wales and the University of
    Waikato and its contributors may be used to endorse or promote products derived from this software without specific
    prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED
TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE
COPYRIGHT HOLDERS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING,
BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION)
HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR
OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
LINE = 120


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        tables = numpy.load(io.BytesIO(wheel.read("scipy/stats/_sobol_direction_numbers.npz")))
    bits = []
    before = 0
    for poly, odd in zip(tables["poly"][1:], tables["vinit"][1:]):
        poly = int(poly)
        if poly <= before:
            sys.exit("the polynomials are not in order")
        before = poly
        degree = poly.bit_length() - 1
        for i in range(1, degree + 1):
            m = int(odd[i - 1])
            if m % 2 == 0 or m >= 1 << i:
                sys.exit(f"the polynomial {poly} has m[{i}] = {m}")
            bits += [m >> bit & 1 for bit in range(i - 1, 0, -1)]
    bits += [0] * (-len(bits) % 6)
    text = "".join(DIGITS[int("".join(map(str, bits[i:i + 6])), 2)] for i in range(0, len(bits), 6))
    print(HEAD)
    for i in range(0, len(text), LINE):
        print(text[i:i + LINE])


main()
