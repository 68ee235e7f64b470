/* The same on the machine that compiles. */
#include <stdio.h>

#include "board.h"

int take(void *to, int size) { return fread(to, (size_t)size, 1, stdin) == 1; }
void give(const void *from, int size) { fwrite(from, (size_t)size, 1, stdout); }
void paint(void) {}
int used(void) { return 0; }
