/* What a test's program asks of the machine that it runs on. */
int take(void *to, int size);           /* the next bytes of what is given; whether they were there */
void give(const void *from, int size);  /* bytes to what is found */
void paint(void);                       /* marks the stack that is free */
int used(void);                         /* bytes of it that were written since, below the caller */
