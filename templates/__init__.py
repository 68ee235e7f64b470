"""What generated folders are made of: plain C (`.c`, `.h`), which knows a robot by its `model.h` and `<source>_model.h`, and
Jinja2 templates of what is text (`.jinja`; `_name.jinja` are macros)."""
