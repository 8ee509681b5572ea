import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import {
  AlarmCodes,
  alarmGuides,
  alarmRemedy,
  GateCodes,
  gateGuides,
  gateRemedy,
  outGuides,
  type OutReason,
  type Remedy,
} from '#contracts';
import { parsedCommand } from '../testing/parsed-command.js';
import { alarmsPage, exampleNodes, gatesPage } from './remedy-pages.js';

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');

const reasons = Object.keys(outGuides) as OutReason['code'][];
const remedies: [name: string, remedy: Remedy][] = [
  ...AlarmCodes.flatMap((code) =>
    [alarmGuides[code].subject, 'fleet', 'host1-SN1~host2-SN2'].map((subject): [string, Remedy] => [
      `alarm ${code} of ${subject}`,
      alarmRemedy({ code, subject }),
    ]),
  ),
  ...GateCodes.map((gate): [string, Remedy] => [`gate ${gate}`, gateRemedy(gate, 'host1-SN1')]),
  ...reasons.flatMap((code) =>
    exampleNodes.map((n, i): [string, Remedy] => [`out ${code} ${i}`, outGuides[code].remedy(n)]),
  ),
];

describe('a remedy', () => {
  it.each(remedies)('of %s is a sentence and a command that the program itself takes', async (_, remedy) => {
    expect(remedy.text).toMatch(/^[A-Z].*\.$/);
    expect(remedy.command).toMatch(/^muster /);
    const command = await parsedCommand(remedy.command);
    expect(remedy.command.startsWith(command.split(' list')[0] ?? '')).toBe(true);
  });

  it('names whose it is, and as one word of a shell', () => {
    expect(alarmRemedy({ code: 'fencing-failed', subject: 'host1-SN1' }).command).toBe(
      'muster node power-device test host1-SN1',
    );
    expect(alarmRemedy({ code: 'drift', subject: "a; rm -rf '/'" }).command).toBe(
      `muster node check 'a; rm -rf '\\''/'\\''' --diff`,
    );
    expect(alarmRemedy({ code: 'link-down', subject: 'a-1~b-2' }).command).toBe('muster node why a-1');
  });

  it.each([
    ['came and went', { held: 'flapping: 4 returns in ten minutes' }, 'muster node check NODE --wait'],
    ['waits with another configuration', { held: 'drift: web' }, 'muster node check NODE --diff'],
    [
      'waits for what runs there',
      { held: 'drift', heldBy: 'work' as const },
      'muster node resetup NODE --force --wait',
    ],
    ['ssh does not get to', { unreached: { tries: 9, why: 'refused' } }, 'muster node get NODE'],
    ['cannot be checked', { failedTries: 9 }, 'muster node check NODE --wait'],
    ['is being checked', {}, 'muster job get active'],
  ])('of a node that is back and %s is that of its alarm, and one that is taken', (_, pending, command) => {
    const n = { ...exampleNodes[3]!, pendingReturn: { reason: 'rebooted' as const, at: 0, ...pending } };
    expect(outGuides.PENDING_RETURN.remedy(n).command).toBe(command);
  });

  it.each([gateRemedy('PAUSED', 'host1-SN1').text, alarmRemedy({ code: 'store-loaded', subject: '7' }).text])(
    'of a pause names both modes, for who only observed: %s',
    (text) => {
      expect(text).toMatch(/enforce\b.*\bobserve\b/);
    },
  );

  it('stands on a page, each under its code: muster manual alarms, muster manual gates', () => {
    expect(page('alarms.md')).toBe(alarmsPage());
    expect(page('gates.md')).toBe(gatesPage());
    for (const code of [...AlarmCodes, ...reasons]) expect(page('alarms.md')).toContain(`## \`${code}\`\n`);
    for (const gate of GateCodes) expect(page('gates.md')).toContain(`## \`${gate}\`\n\n${gateGuides[gate].meaning}`);
  });
});
