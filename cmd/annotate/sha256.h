/*
 * sha256.h - the hash of a text, as a Content-Security-Policy has it
 */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

/* SHA-256 in base64, 44 characters and a zero; valid until the next call. */
const char *sha256_base64(const void *, size_t len);

#endif
