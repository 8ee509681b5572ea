import { MusterError } from '#contracts';

/** The revision that an edit rests on, from `If-Match: "<revision>"`. @throws MusterError BAD_REQUEST */
export function ifMatch(header: string | undefined): { revision?: number } {
  if (header === undefined || header === '*') return {};
  const match = /^(?:W\/)?"(\d{1,15})"$/.exec(header);
  if (match === null) throw new MusterError('BAD_REQUEST', 'If-Match takes one revision: "<number>"');
  return { revision: Number(match[1]) };
}
