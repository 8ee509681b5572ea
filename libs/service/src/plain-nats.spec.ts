import { describe, expect, it } from 'vitest';
import { refusedPlain } from './plain-nats.js';

const beyond = ['nats://127.0.0.1:4222', 'nats://10.0.0.1:4222', 'nats://control-1'];

describe('NATS without TLS', () => {
  it('is refused beyond this machine, by the servers that it is about', () => {
    const refusal = refusedPlain({ servers: beyond, plain: false }, {});
    expect(refusal).toMatch(/^NATS at nats:\/\/10\.0\.0\.1:4222, nats:\/\/control-1 would be spoken to without TLS: /);
    expect(refusedPlain({ servers: beyond, plain: false }, undefined)).toBe(refusal);
  });

  it('is no matter on this machine', () => {
    const servers = ['nats://127.0.0.1:4222', 'nats://localhost:4222', 'nats://[::1]:4222', 'nats://127.1.2.3'];
    expect(refusedPlain({ servers, plain: false }, undefined)).toBeUndefined();
  });

  it('may be where the configuration says so, or where there is TLS', () => {
    expect(refusedPlain({ servers: beyond, plain: true }, {})).toBeUndefined();
    expect(refusedPlain({ servers: beyond, plain: false }, { ca: 'PEM' })).toBeUndefined();
  });
});
