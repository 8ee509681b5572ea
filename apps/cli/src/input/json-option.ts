import { UsageFailure } from '../failure/failure.js';

/** `--extra-vars JSON`: an object; blank is none. @throws UsageFailure */
export function parseExtraVars(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  return parseJsonOption('--extra-vars', text);
}

/** @throws UsageFailure */
export function parseJsonOption(option: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageFailure(`${option}: not valid JSON: ${(cause as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageFailure(`${option}: expected a JSON object`);
  return value as Record<string, unknown>;
}
