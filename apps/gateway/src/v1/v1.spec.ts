import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request as httpRequest } from 'node:http';
import { MusterError, type Verdict } from '#contracts';
import { quickest } from '#contracts/testing/quickest.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { job, node, status } from '../testing/records.js';

describe('/v1', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    sut.answer('inventory.nodes.text', () => ({
      text: '{"name":"host1-SN1"},{"name":"host2-SN2"}',
      count: 2,
      next: 'x',
    }));
    sut.answerNodes((name) => {
      if (name === 'host1-SN1') return node('host1', 'SN1');
      throw new MusterError('NODE_UNKNOWN', `no node "${name}"`, { node: name });
    });
    sut.answer('inventory.nodes.create', ({ node: n }) => {
      if (n.provisionDriver === 'odd')
        throw new MusterError('DRIVER_UNAVAILABLE', 'nobody offers "odd"; on offer: ansible', { offered: ['ansible'] });
      return node(n.label, n.serial);
    });
    sut.answer('inventory.nodes.delete', () => ({}));
    sut.answer('inventory.operations.submit', () => ({ job: 'j1' }));
    sut.answer('inventory.jobs.get', ({ id }) => job(id === 'last' ? 'j1' : id));
    sut.answer('inventory.status', () => status());
    sut.answer('inventory.alarms.list', () => ({ items: status().alarms }));
    sut.answer('inventory.alarms.ack', () => ({ ...status().alarms[0]!, acknowledged: { by: 'local', at: 2 } }));
  });
  afterAll(() => sut.stop());

  it('edits by merge patch on the revision that was seen, and replaces likewise', async () => {
    sut.answer('inventory.nodes.patch', () => node('host1', 'SN1', { revision: 8 }));
    sut.answer('inventory.nodes.replace', () => node('host1', 'SN9'));
    const headers = { 'if-match': '"7"', 'content-type': 'application/merge-patch+json' };
    const edited = await sut.send('PATCH', '/v1/nodes/host1-SN1', { vars: { rack: null } }, headers);
    expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"8"']);
    expect(sut.last('inventory.nodes.patch')).toMatchObject({
      name: 'host1-SN1',
      revision: 7,
      patch: { vars: { rack: null } },
    });
    expect((await sut.send('PATCH', '/v1/nodes/host1-SN1', { serial: 'x' })).status).toBe(400);
    await sut.send('POST', '/v1/nodes/host1-SN1/replace', { serial: 'SN9' }, { 'if-match': '"7"' });
    expect(sut.last('inventory.nodes.replace')).toMatchObject({ revision: 7, replacement: { serial: 'SN9' } });
  });

  it('reports an incident with what was told of its node, and the jobs that it ordered', async () => {
    const openedAt = sut.bus.clock.wallMs();
    sut.answer('inventory.incidents.get', () => ({
      ...{
        id: 'i-1',
        node: 'host1-SN1',
        phase: 'closed',
        cause: 'auto',
        reason: 'DOWN',
        openedAt,
        updatedAt: openedAt,
      },
      ...{ gates: [], conductor: 1, level: 0, attempt: 1, commands: [], steps: [], revision: 1 },
      recovery: [{ workload: 'db', from: 'host1-SN1', to: 'host2-SN2', job: 'j7', state: 'running' }],
    }));
    const detail = 'seen it dark';
    await sut.bus.emit('audit', 'host1-SN1', {
      ...{ by: 'ann', action: 'release', subject: 'host1-SN1', detail, outcome: 'accepted' },
    });
    const answer = await sut.get('/v1/incidents/host1-SN1/report');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      incident: 'i-1',
      people: [{ what: 'ann: release: seen it dark' }],
      jobs: [{ id: 'j7' }],
      moved: [{ workload: 'db', to: 'host2-SN2', state: 'running' }],
    });
  });

  it('hands out a file of all pages, and takes one in', async () => {
    sut.answer('inventory.nodes.export', ({ cursor }) =>
      cursor === undefined ? { text: 'name\na\n', next: 'a' } : { text: 'b\n' },
    );
    sut.answer('inventory.nodes.import', () => ({ dryRun: true, created: ['a'], updated: [], unchanged: [] }));
    const file = await sut.get('/v1/nodes/export?format=csv&selector=vars.rack%3Dr1');
    expect(await file.text()).toBe('name\na\nb\n');
    expect(file.headers.get('content-type')).toContain('text/csv');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="nodes.csv"');
    expect(sut.last('inventory.nodes.export')).toEqual({ format: 'csv', selector: 'vars.rack=r1', cursor: 'a' });
    expect((await sut.get('/v1/nodes/export')).status).toBe(400);
    const taken = await sut.send('POST', '/v1/nodes/import', { format: 'csv', content: 'name\na\n', dryRun: true });
    expect([taken.status, await taken.json()]).toEqual([
      200,
      { dryRun: true, created: ['a'], updated: [], unchanged: [] },
    ]);
  });

  it('lists with filters, pages and only the fields that were asked for', async () => {
    const answer = await sut.get('/v1/nodes?names=a-1,b-2&status=Allocated&inService=false&limit=2&fields=name,status');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      items: [{ name: 'host1-SN1' }, { name: 'host2-SN2' }],
      next: 'x',
    });
    expect(sut.last('inventory.nodes.text')).toEqual({
      names: ['a-1', 'b-2'],
      status: 'Allocated',
      inService: false,
      limit: 2,
      fields: ['name', 'status'],
    });
  });

  it('refuses a field that the route never answers, by name and with those that there are', async () => {
    const before = sut.asked.length;
    const list = await sut.get('/v1/nodes?fields=name,nosuch');
    expect(list.status).toBe(400);
    const problem = (await list.json()) as { code: string; detail: string; field: string };
    expect(problem).toMatchObject({ code: 'BAD_REQUEST', field: 'nosuch' });
    expect(problem.detail).toMatch(/^fields: there is no member "nosuch", but .*\bcordon, .*\bname, .*\breasons, /);
    for (const path of ['nodes/host1-SN1', 'nodes/host1-SN1/history', 'jobs', 'incidents', 'workloads/w', 'status'])
      expect([path, (await sut.get(`/v1/${path}?fields=nosuch`)).status]).toEqual([path, 400]);
    expect(sut.asked.length).toBe(before);
    expect(await (await sut.get('/v1/nodes/host1-SN1?fields=name,cordon,revision')).json()).toEqual({
      name: 'host1-SN1',
      revision: 7,
    });
  });

  it('answers a record with its revision as ETag, and takes it back in If-Match', async () => {
    const answer = await sut.get('/v1/nodes/host1-SN1');
    expect(answer.headers.get('etag')).toBe('"7"');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.text()).toBe(JSON.stringify(node('host1', 'SN1')));
    const gone = await sut.send('DELETE', '/v1/nodes/host1-SN1', undefined, { 'if-match': '"7"' });
    expect(gone.status).toBe(204);
    expect(sut.last('inventory.nodes.delete')).toMatchObject({ name: 'host1-SN1', revision: 7, by: 'local' });
  });

  it('answers an error as problem+json with its code and facts', async () => {
    const answer = await sut.get('/v1/nodes/nope');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toEqual({
      type: 'urn:muster:error:NODE_UNKNOWN',
      title: 'node unknown',
      status: 404,
      code: 'NODE_UNKNOWN',
      detail: 'no node "nope"',
      node: 'nope',
    });
    expect((await sut.get('/v1/nothing')).status).toBe(404);
  });

  it('answers the plan of all or of one node, and 503 with Retry-After where no conductor answers', async () => {
    const plan = { at: 1, conductor: 'inventory-1', token: 2, mode: 'observe' as const, items: [] };
    let refuse: 'NOT_LEADER' | 'CONDUCTOR_SLOW' | undefined;
    sut.answer('inventory.plan', () => {
      if (refuse === undefined) return plan;
      throw new MusterError(refuse, 'why');
    });
    expect(await (await sut.get('/v1/plan')).json()).toEqual(plan);
    expect(sut.last('inventory.plan')).toEqual({});
    await sut.get('/v1/plan?node=host1-SN1');
    expect(sut.last('inventory.plan')).toEqual({ node: 'host1-SN1' });
    expect((await sut.get('/v1/plan?node=*')).status).toBe(400);
    expect((await sut.get('/v1/plan?nodes=host1-SN1')).status).toBe(400);
    for (refuse of ['NOT_LEADER', 'CONDUCTOR_SLOW'] as const) {
      const refused = await sut.get('/v1/plan');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ code: refuse });
    }
  });

  it('sends Retry-After with a 503', async () => {
    const body = { label: 'a', serial: 'b', networks: { management: { address: '10.0.0.1' } }, provisionDriver: 'odd' };
    const answer = await sut.send('POST', '/v1/nodes', body);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await answer.json()).toMatchObject({ code: 'DRIVER_UNAVAILABLE', offered: ['ansible'] });
  });

  it('starts an operation, answers 202 with the job, and names who asked', async () => {
    const body = { kind: 'commission', nodes: ['host1-SN1'], hostGroup: 'service-master', extraVars: { a: { b: 1 } } };
    const answer = await sut.send('POST', '/v1/operations', body, { 'x-muster-user': 'ann' });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ job: 'j1' });
    expect(sut.last('inventory.operations.submit')).toEqual({ ...body, by: 'local:ann', from: '127.0.0.1' });
  });

  it.each([
    ['a member that nobody knows', { kind: 'check', nodes: ['a-b'], extra: 1 }, 'extra'],
    ['a kind that is the system’s own', { kind: 'recover', nodes: ['a-b'] }, 'kind'],
    ['a node name with a newline', { kind: 'check', nodes: ['a\nb'] }, 'nodes'],
    ['a list instead of an object', [], 'object'],
    ['no object at all', '"x"', 'object'],
    ['text that is not JSON', '{"kind":', 'JSON'],
    [
      'a key that reaches the prototype',
      '{"kind":"check","nodes":["a-b"],"extraVars":{"__proto__":{"x":1}}}',
      '__proto__',
    ],
    ['nesting without end', `{"kind":"check","extraVars":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, 'deep'],
  ])('refuses %s, whole, before anybody is asked', async (_, body, word) => {
    const before = sut.asked.length;
    const answer = await sut.send('POST', '/v1/operations', body);
    expect(answer.status).toBe(400);
    const problem = (await answer.json()) as { code: string; detail: string };
    expect(problem.code).toBe('BAD_REQUEST');
    expect(problem.detail).toContain(word);
    expect(sut.asked.length).toBe(before);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it('takes null for absent, but where it removes', async () => {
    const absent = { kind: 'check', nodes: ['a-b'], extraVars: null, hostGroup: null };
    expect((await sut.send('POST', '/v1/operations', absent)).status).toBe(202);
    expect(sut.last('inventory.operations.submit')).toEqual({
      by: 'local',
      from: '127.0.0.1',
      kind: 'check',
      nodes: ['a-b'],
    });
    sut.answer('inventory.nodes.patch', () => node('host1', 'SN1'));
    await sut.send('PATCH', '/v1/nodes/host1-SN1', { hostGroup: null, vars: { rack: null } });
    expect(sut.last('inventory.nodes.patch')?.patch).toEqual({ hostGroup: null, vars: { rack: null } });
  });

  it.each([[{}], [{ reason: '' }], [{ reason: '  ' }], [{ reason: 'r', until: 'soon' }], [{ reason: 'r', of: 'web' }]])(
    'accepts no drift by %j',
    async (body) => {
      const answer = await sut.send('PUT', '/v1/nodes/host1-SN1/accepted-drift', body);
      expect(answer.status).toBe(400);
      expect(sut.last('inventory.nodes.acceptDrift')).toBeUndefined();
    },
  );

  it('refuses a date that nobody can name', async () => {
    const answer = await sut.send('PUT', '/v1/nodes/host1-SN1/cordon', { reason: 'r', until: 1e21 });
    expect(answer.status).toBe(400);
  });

  it.each([
    ['PUT', '/v1/nodes/host1-SN1/cordon', {}],
    ['PUT', '/v1/nodes/host1-SN1/life-sign-waiver', {}],
    ['PUT', '/v1/nodes/host1-SN1/accepted-drift', {}],
    ['POST', '/v1/records/delete', { bucket: 'nodes', key: 'x' }],
    ['POST', '/v1/storms/s1/release', {}],
    ['POST', '/v1/storms/s1/confirm', {}],
  ])('refuses a reason that would be two lines wherever it is shown: %s %s', async (method, path, more) => {
    const answer = await sut.send(method, path, { ...more, reason: 'disk\nhost1-SN1: in service' });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      'reason must be one line',
    ]);
  });

  it('refuses a body over 1 MB, another media type, and an odd query', async () => {
    const big = JSON.stringify({ kind: 'check', extraVars: { a: 'x'.repeat(1_100_000) } });
    expect((await sut.send('POST', '/v1/operations', big)).status).toBe(413);
    const text = await sut.send('POST', '/v1/operations', '{}', { 'content-type': 'text/plain' });
    expect(text.status).toBe(415);
    expect((await sut.get('/v1/nodes?limit=0')).status).toBe(400);
    expect((await sut.get('/v1/nodes?odd=1')).status).toBe(400);
  });

  it('shows drivers on offer and missing, and alarms with an id that can be acknowledged', async () => {
    expect(await (await sut.get('/v1/drivers')).json()).toEqual({
      items: [{ driver: 'ipmitool', service: 'fencer', workers: ['fencer-1'] }],
      missing: [{ driver: 'ipmitool', nodes: ['host2-SN2'] }],
    });
    const { items } = (await (await sut.get('/v1/alarms')).json()) as { items: { id: string }[] };
    expect(items[0]?.id).toBe('brake=fleet');
    const ack = `/v1/alarms/${items[0]?.id}/ack`;
    expect((await sut.send('POST', ack)).status).toBe(200);
    expect(sut.last('inventory.alarms.ack')).toMatchObject({ id: 'brake=fleet' });
    await sut.send('POST', ack, { note: 'somebody is on the way' });
    expect(sut.last('inventory.alarms.ack')).toMatchObject({ note: 'somebody is on the way' });
  });

  it('streams the log of a job until its end', async () => {
    await sut.bus.appendLog('j1', 'PLAY [all]\n');
    const answer = await sut.get('/v1/jobs/last/log?follow=true');
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('PLAY [all]\n');
    await sut.bus.appendLog('j1', 'ok: [host1-SN1]\n');
    expect((await reader.read()).value).toBe('ok: [host1-SN1]\n');
    await sut.bus.endLog('j1');
    expect((await reader.read()).done).toBe(true);
  });

  it.each(['/v1/jobs/j-new/log?follow=true', '/info/logs/j-newer'])(
    'answers who follows %s at once, also while nothing is logged yet',
    async (path) => {
      const answer = await fetch(sut.url + path, { signal: AbortSignal.timeout(10_000) });
      expect(answer.headers.get('content-type')).toContain('text/plain');
      await sut.bus.endLog(/j-\w+/.exec(path)?.[0] ?? '');
      expect(await answer.text()).toBe('');
    },
  );

  it('serves a unix socket too', async () => {
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest({ socketPath: sut.socket, path: '/v1/status' }, (res) => resolve(res.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(answer).toBe(200);
  });

  it('refuses a page of a stranger in the operator’s browser', async () => {
    const foreign = await sut.send('POST', '/v1/jobs/j1/cancel', undefined, { origin: 'http://evil.example' });
    expect(foreign.status).toBe(403);
    const own = await sut.get('/v1/status', { origin: sut.url });
    expect(own.status).toBe(200);
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      httpRequest(`${sut.url}/v1/status`, { headers: { host: 'evil.example' } }, (res) =>
        resolve(res.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(rebound).toBe(403);
  });

  it('is alive, ready and measured', async () => {
    expect((await sut.get('/healthz')).status).toBe(200);
    expect((await sut.get('/readyz')).status).toBe(503);
    sut.answer('inventory.settings.get', () => ({ globals: {}, revision: 1 }) as never);
    expect((await sut.get('/readyz')).status).toBe(200);
    const text = await (await sut.get('/metrics')).text();
    expect(text).toContain('muster_nodes_in_service 1');
    expect(text).toContain('muster_jobs{status="Complete"} 40');
    expect(text).toContain('muster_alarm_active{code="brake"} 1');
    expect(text).toContain('muster_lease_held{name="conductor"} 1');
    expect(text).toContain('muster_lease_age_seconds{name="conductor"} 0.25');
  });

  it('counts what is told on the bus', async () => {
    const told = { node: 'a-1', incident: 'i1', phase: 'suppressed', detail: '', gate: 'CAP' } as const;
    await sut.bus.publishVerdict({ node: 'a-1', verdict: 'DOWN', epoch: 1, seq: 1 } as Verdict);
    await sut.bus.emit('incident', 'a-1', told);
    let text = '';
    // Nothing says when a gateway has read an event but the figures themselves.
    while (!text.includes('{gate="CAP",result="stop"} 1') || !text.includes('muster_verdicts_total{verdict="DOWN"} 1'))
      text = await (await sut.get('/metrics')).text();
  });

  it('describes itself, for programs and as a page to read', async () => {
    const document = (await (await sut.get('/openapi.json')).json()) as { openapi: string; paths: object };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toContain('/v1/nodes/{name}/fence');
    const page = await sut.get('/docs');
    expect(page.headers.get('content-type')).toContain('text/html');
  });
});

describe('/v1 while the bus is down', () => {
  it('answers 503 with Retry-After within a second, and comes back by itself', async () => {
    const sut = await GatewayUnderTest.start();
    try {
      sut.answer('inventory.status', () => status());
      expect((await sut.get('/v1/status')).status).toBe(200);
      await sut.nats.kill();
      const took = await quickest(1000, async () => {
        const started = performance.now();
        const down = await sut.get('/v1/status');
        expect(down.status).toBe(503);
        expect(down.headers.get('retry-after')).toBe('1');
        expect(await down.json()).toMatchObject({ code: 'BUS_UNAVAILABLE' });
        return performance.now() - started;
      });
      expect(took).toBeLessThan(1000);
      expect(await (await sut.get('/metrics')).text()).toContain('muster_up 0');
      const back = new Promise<void>((resolve) => {
        sut.bus.onStatus((s) => s === 'connected' && resolve());
      });
      await sut.nats.restart();
      await back;
      let answer = await sut.get('/v1/status');
      while (answer.status !== 200) answer = await sut.get('/v1/status');
      expect(answer.status).toBe(200);
    } finally {
      await sut.stop();
    }
  });
});
