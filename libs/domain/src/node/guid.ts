/** Left in the field by makers of boards: the same on many machines, so it names none. */
const FILLERS = new Set([
  '03000200040005000006000700080009',
  '00020003000400050006000700080009',
  '123456781234567890abcddeefaabbcc',
  '4c4c4544000020108020802d2d202020',
  '4c4c454400002010802080c04f202020',
]);

/**
 * 32 hexadecimal digits of a GUID however it was written; undefined where it is none that can tell one machine from
 * another: zeros, FF and other repetitions, a filler.
 */
export function guidOf(text: string | undefined): string | undefined {
  const hex = (text ?? '').replace(/[^0-9a-fA-F]/g, '').toLowerCase();
  if (hex.length !== 32 || /^(..)\1*$/.test(hex) || /^(.)\1*$/.test(hex)) return undefined;
  return writings(hex).some((w) => FILLERS.has(w)) ? undefined : hex;
}

const reversed = (hex: string): string => (hex.match(/../g) ?? []).reverse().join('');

/** The first three fields with their bytes the other way round, as SMBIOS has them. */
const smbios = (hex: string): string =>
  reversed(hex.slice(0, 8)) + reversed(hex.slice(8, 12)) + reversed(hex.slice(12, 16)) + hex.slice(16);

/** As rfc4122, smbios and ipmi write the same sixteen bytes: BMCs differ in which one they mean. */
const writings = (hex: string): string[] => [hex, smbios(hex), reversed(hex), smbios(reversed(hex))];

/** Are the two one GUID, in any of the encodings that `ipmitool mc guid` knows? */
export const sameGuid = (a: string, b: string): boolean => writings(a).includes(b);

/** One text for all writings of one GUID. */
export const guidKey = (hex: string): string => [...writings(hex)].sort()[0] ?? hex;

/**
 * A GUID as a BMC sends it that may tell machines apart, so that its serial numbers need not be read in a hurry. It is asked of what
 * has just been read alone: a maker's filler passes here, and names no machine for {@link guidOf}.
 */
export const tellsApart = (guid: string | undefined): boolean => guid !== undefined && !/^(..)\1*$/.test(guid);
