"""diffpbd: differentiable position-based dynamics of robots.

`diffpbd.runtime` loads and runs what `diffpbd.codegen` derives and `diffpbd.templates` shape. In a checkout the three are links
to the folders at the top; in a wheel and in a source distribution the folders themselves.
"""
