import type { InventoryStore, Table } from './inventory-store.js';

/** Other values of bucket `settings`: the same bucket and the same watch serve all of its keys, only the type differs. */
export const settingsOf = <T>(store: InventoryStore): Table<T> => ({
  bucket: store.bus.bucket<T>('settings'),
  view: store.settings.view as unknown as Table<T>['view'],
});
