import { afterEach, expect, it, vi } from 'vitest';
import { Lease, systemClock, type LeaseListener } from '#bus';
import type { ServiceContext } from '#service';
import type { InventoryStore } from '../store/inventory-store.js';
import { ConductorService } from './conductor.service.js';

afterEach(() => vi.restoreAllMocks());

it('goes on, and says so, where a subscription of its term cannot be closed', async () => {
  let announce: LeaseListener = () => undefined;
  vi.spyOn(Lease.prototype, 'on').mockImplementation((l: LeaseListener) => {
    announce = l;
    return () => undefined;
  });
  vi.spyOn(Lease.prototype, 'start').mockReturnValue();
  const stopped = vi.spyOn(Lease.prototype, 'stop').mockResolvedValue();
  const warned: [object, string][] = [];
  const log = { debug: () => undefined, warn: (facts: object, line: string) => void warned.push([facts, line]) };
  const bus = {
    ...{ clock: systemClock, random: { hex: () => 'x' }, bucket: () => ({}) },
    answer: () => ({ close: () => Promise.reject(new Error('it is drained')) }),
  };
  const context = { ...{ bus, log, clock: systemClock, random: bus.random }, config: { instance: 'i-1' } };
  const store = { onChange: () => () => undefined };
  const sut = new ConductorService(context as unknown as ServiceContext, store as unknown as InventoryStore);
  sut.onApplicationBootstrap();

  announce('acquired', 1);
  announce('lost', 1);
  await vi.waitFor(() => expect(warned).toHaveLength(1));
  expect(warned[0]?.[1]).toContain('it is drained');

  announce('acquired', 2);
  await sut.onApplicationShutdown();
  expect(warned).toHaveLength(2);
  expect(stopped).toHaveBeenCalledOnce();
});
