import { matches } from '#bus/streams/subject-filter.js';

/** {@link matches} for one filter that is asked again and again. */
export function matcher(filter: string): (subject: string) => boolean {
  if (filter === '>') return () => true;
  if (!filter.includes('*')) {
    if (!filter.includes('>')) return (subject) => subject === filter;
    const prefix = filter.slice(0, -1);
    return (subject) => subject.length > prefix.length && subject.startsWith(prefix);
  }
  return (subject) => matches(filter, subject);
}

export const isLiteral = (filter: string): boolean => !/(^|\.)[*>](\.|$)/.test(filter);
