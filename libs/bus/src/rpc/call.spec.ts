import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import type { Link } from '../ports/link.js';
import type { WireMessage } from '../ports/wire.js';
import { answer } from './call.js';

describe('an answer to whoever asks on NATS', () => {
  const asked = async (thrown: unknown): Promise<{ told: unknown; logged: unknown[] }> => {
    const logged: unknown[] = [];
    let take: (msg: WireMessage) => void = () => undefined;
    const wire = {
      subscribe: (_subject: string, o: { onMessage: typeof take }) => {
        take = o.onMessage;
        return { close: () => undefined };
      },
    };
    const log = { error: (facts: { err: unknown }) => void logged.push(facts.err) };
    answer({ wire, log } as unknown as Link, 's', () => Promise.reject(thrown as Error));
    const told = new Promise<string>((respond) =>
      take({ text: '{}', subject: 's', respond } as unknown as WireMessage),
    );
    return { told: JSON.parse(await told), logged };
  };

  it('is a refusal in its own words, and nothing that the program said of itself', async () => {
    const refusal = new MusterError('NODE_UNKNOWN', 'no such node', { node: 'a' });
    expect((await asked(refusal)).told).toEqual({ ok: false, ...refusal.toJSON() });
    const runtime = new TypeError("Cannot read properties of undefined (reading 'plan')");
    const { told, logged } = await asked(runtime);
    expect(told).toMatchObject({ ok: false, code: 'INTERNAL' });
    expect(JSON.stringify(told)).not.toContain('plan');
    expect(logged).toEqual([runtime]);
  });
});
