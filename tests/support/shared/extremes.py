"""A C program that calls every function on numbers that nobody would send."""

from __future__ import annotations

from diffpbd.runtime.folder.manifest import Function, Manifest

STEPS = (0, 1, 3)


HEAD = """
#include "{name}.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double extremes[] = {{
    0.0, -0.0, 1.0, -1.0, 0.01, 1e-3, 4.9e-324, -4.9e-324, DBL_MIN, DBL_EPSILON, 1e8, -1e8, 1e150, -1e150, 1.1e150, 1e300,
    DBL_MAX, -DBL_MAX, 3.141592653589793, 1e22, INFINITY, -INFINITY, NAN, 2147483647.0, 2147483648.0, -2147483649.0, 1e19}};
enum {{ EXTREMES = sizeof extremes / sizeof extremes[0], MIXED = 40, KINDS = EXTREMES + MIXED }};
static const double alpha[] = {{ {alpha} }};

/* The same number everywhere, then mixtures: mostly ordinary numbers, one argument in four with extremes among them. */
static void fill(double *x, size_t count, int kind, int is_alpha) {{
  size_t k;
  const int wild = kind >= EXTREMES && rand() % 4 == 0;
  for (k = 0; k < count; k++) {{
    if (kind < EXTREMES) x[k] = extremes[kind];
    else if (wild && rand() % 3 == 0) x[k] = extremes[rand() % EXTREMES];
    else if (is_alpha) x[k] = alpha[k];
    else x[k] = 2.0 * rand() / RAND_MAX - 1.0;
  }}
}}

static long calls, refused;

int main(void) {{
  int kind;
"""


CALL = """
  for (kind = 0; kind < KINDS; kind++) {{
    double *in[{inputs}], *out[{outputs}], *work = malloc(sizeof(double) * (size_t){work});
    const double *given[{inputs}];
    int k;
    {allocate_in}
    {allocate_out}
    for (k = 0; k < {inputs}; k++) given[k] = in[k];
    memset(work, 0xff, sizeof(double) * (size_t){work});
    refused += {symbol}({steps}given, out, work) != 0;
    calls++;
    for (k = 0; k < {inputs}; k++) free(in[k]);
    for (k = 0; k < {outputs}; k++) free(out[k]);
    free(work);
  }}
"""


def call(function: Function, steps: int) -> str:
    sizes_in = [argument.size(steps) for argument in function.inputs]
    sizes_out = [argument.size(steps) for argument in function.outputs]
    return CALL.format(
        inputs=len(sizes_in), outputs=len(sizes_out), symbol=function.symbol,
        work=f"{function.symbol}_work_size({steps if function.rollout else ''})",
        steps=f"{steps}, " if function.rollout else "",
        allocate_in="\n    ".join(
            f"in[{k}] = malloc({size} * sizeof(double)); fill(in[{k}], {size}, kind, {int(argument.name == 'alpha')});"
            for k, (size, argument) in enumerate(zip(sizes_in, function.inputs, strict=True))
        ),
        allocate_out="\n    ".join(
            f"out[{k}] = malloc({size} * sizeof(double)); memset(out[{k}], 0xff, {size} * sizeof(double));"
            for k, size in enumerate(sizes_out)
        ),
    )  # fmt: skip


def driver(manifest: Manifest) -> str:
    text = HEAD.format(name=manifest.name, alpha=", ".join(repr(entry.default) for entry in manifest.alpha))
    for function in manifest.functions:
        text += "".join(call(function, steps) for steps in (STEPS if function.rollout else (0,)))
    return text + '  printf("%ld calls, %ld refused\\n", calls, refused);\n  return 0;\n}\n'
