import { UsageFailure } from '../failure/failure.js';
import { parseDuration } from '../output/times.js';

/** @throws UsageFailure */
export function wholeNumber(option: string, text: string, least = -999_999_999): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new UsageFailure(`${option}: "${text}" is no whole number`);
  if (Number(text) < least) throw new UsageFailure(`${option}: at least ${least}`);
  return Number(text);
}

/** A duration in whole seconds, at least one. @throws UsageFailure */
export function seconds(option: string, text: string): number {
  const whole = parseDuration(text) / 1000;
  if (whole < 1) throw new UsageFailure(`${option}: at least 1s`);
  return whole;
}
