import { expect, it } from 'vitest';
import { systemClock } from '../system/system-clock.js';
import { KvView } from './kv-view.js';
import type { WatchOptions } from './kv-watch.js';

it('hands out its records as one list until one of them changes, and a list stays as it was', async () => {
  const watched: WatchOptions<number>[] = [];
  const view = await KvView.open<number>((o) => {
    watched.push(o);
    queueMicrotask(() => o.onLive?.());
    return { live: true, close: async () => Promise.resolve() };
  }, systemClock);
  const [watch] = watched;
  watch?.onChange('a', 1, 1);
  const first = view.entries();
  expect(view.entries()).toBe(first);
  watch?.onChange('b', 2, 2);
  watch?.onChange('a', undefined, 3);
  expect(view.entries()).toEqual([{ key: 'b', value: 2, revision: 2 }]);
  expect(first).toEqual([{ key: 'a', value: 1, revision: 1 }]);
});
