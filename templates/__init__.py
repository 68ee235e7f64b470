"""What generated folders are made of, by rooms: plain C (`.c`, `.h`), which knows a robot by its `model.h` and
`<source>_model.h`, text for a GPU (`gpu/`), and Jinja2 templates of what is text (`text/*.jinja`; `_name.jinja` are macros).
A file's name is unique among all rooms: a generated `src/` has them beside each other."""
