import { setFlagsFromString } from 'node:v8';

/**
 * Imported first, for its effect: the young generation stays at its first size. It would grow to 2 × 16 MiB under the
 * steady trickle of short-lived datagrams, which is a third of the memory that the agent may take; 31 peers on two
 * networks then need 56 MB in all.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/** No optimizing compiler: it takes 5 MB to make code faster that uses three hundredths of a core without it. */
setFlagsFromString('--no-opt');
