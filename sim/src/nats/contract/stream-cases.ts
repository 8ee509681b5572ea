import { expect } from 'vitest';
import type { CaseGroup } from './case-group.js';
import type { ContractBox } from './contract-box.js';

export function streamCases({ it }: CaseGroup, c: ContractBox): void {
  it('is asked for its messages from a sequence on', async () => {
    await c.queue();
    for (const [key, text] of [
      ['x', '1'],
      ['y', '2'],
      ['x', '3'],
      ['z.1', '4'],
    ] as const)
      await c.put(key, text);
    expect(await c.run(c.log.next(c.box, `${c.box}.x`, 1))).toMatchObject({ seq: 1, text: '1' });
    expect(await c.run(c.log.next(c.box, `${c.box}.x`, 2))).toMatchObject({ seq: 3, text: '3' });
    expect(await c.run(c.log.next(c.box, `${c.box}.x`, 4))).toBeUndefined();
    expect(await c.run(c.log.next(c.box, `${c.box}.*`, 2))).toMatchObject({ seq: 2 });
    expect(await c.run(c.log.next(c.box, `${c.box}.z.>`, 0))).toMatchObject({ seq: 4 });
    expect(await c.run(c.log.last(c.box, `${c.box}.x`))).toMatchObject({ seq: 3 });
    expect(await c.run(c.log.last(c.box, `${c.box}.none`))).toBeUndefined();
    expect(await c.run(c.log.hasFrom(c.box, 4))).toBe(true);
    expect(await c.run(c.log.hasFrom(c.box, 5))).toBe(false);
    expect((await c.run(c.log.info(c.box, { subjects: `${c.box}.x` }))).subjects).toEqual({ [`${c.box}.x`]: 2 });
  });

  it('says what is in it, also where that is nothing', async () => {
    await c.queue();
    const empty = await c.run(c.log.info(c.box));
    expect(empty).toMatchObject({ messages: 0, bytes: 0, firstSeq: 0, lastSeq: 0, config: { name: c.box } });
    expect(empty.firstTime.getUTCFullYear()).toBe(1);
    expect(await c.run(c.log.hasFrom(c.box, 1))).toBe(false);
    await c.put('x', '1');
    await c.run(c.log.purge(c.box, { subject: `${c.box}.>`, keep: 0 }));
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 0, firstSeq: 2, lastSeq: 1 });
    expect(await c.seqOf('x', '2')).toBe(2);
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 1, firstSeq: 2, lastSeq: 2 });
  });

  it('drops all of a subject but for the newest', async () => {
    await c.queue();
    for (const text of ['1', '2', '3']) await c.put('x', text);
    await c.put('y', '4');
    await c.run(c.log.purge(c.box, { subject: `${c.box}.x`, keep: 1 }));
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 2, firstSeq: 3, lastSeq: 4 });
    expect(await c.run(c.log.last(c.box, `${c.box}.x`))).toMatchObject({ seq: 3 });
  });

  it('may be created twice in one shape, and in no other', async () => {
    const config = await c.queue();
    expect(config).toMatchObject({
      name: c.box,
      subjects: [`${c.box}.>`],
      max_msgs_per_subject: -1,
      num_replicas: 1,
      storage: 'file',
    });
    expect(await c.queue()).toMatchObject({ name: c.box });
    await expect(c.bucket()).rejects.toMatchObject({ name: 'ApiFailure', errCode: 10058, status: 400 });
  });

  it('is refused by name where there is none', async () => {
    const missing = { name: 'ApiFailure', errCode: 10059, status: 404, passing: false };
    await expect(c.run(c.log.info('none'))).rejects.toMatchObject(missing);
    await expect(c.run(c.log.last('none', 'x'))).rejects.toMatchObject(missing);
    await expect(c.run(c.log.hasFrom('none', 1))).rejects.toMatchObject(missing);
    await expect(c.run(c.log.purge('none', { subject: 'x', keep: 0 }))).rejects.toMatchObject(missing);
    await expect(c.put('x', 'nobody takes it')).rejects.toMatchObject({ code: 'NO_RESPONDER' });
  });
}
