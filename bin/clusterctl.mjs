#!/usr/bin/env node
// The program under its old name: it sees how it was called.
await import('./muster.mjs');
