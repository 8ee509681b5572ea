import { buildConfig, type ServiceConfig } from '#service';

const built = new Map<string, ServiceConfig>();

/** The configuration of a played program, which only reads it: built once for all lives of all histories of this process. */
export function playedConfig(values: { instance: string } & Record<string, unknown>): ServiceConfig {
  const key = JSON.stringify(values);
  let config = built.get(key);
  if (config === undefined) built.set(key, (config = buildConfig({ dataDir: 'played', ...values }, undefined, 'sim')));
  return config;
}
