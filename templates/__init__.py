"""Jinja2 templates of the emitted files, named as those with `.jinja` appended; `_name.jinja` are macros."""
