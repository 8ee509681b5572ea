import { createHash } from 'node:crypto';

/** What tells one machine of the lab from the next. */
export interface Hardware {
  /** As its BMC sends it, 32 hexadecimal digits. */
  guid: string;
  boardSerial: string;
  chassisSerial: string;
}

/** By the folder of the lab and the number of the host: no two hosts of any labs have the same. */
export function hardwareOf(folder: string, n: number): Hardware {
  const hex = createHash('sha256').update(`${folder} hardware ${n}`).digest('hex');
  return {
    guid: hex.slice(0, 32),
    boardSerial: `BRD${hex.slice(32, 40)}`.toUpperCase(),
    chassisSerial: `CHS${hex.slice(40, 48)}`.toUpperCase(),
  };
}

const reversed = (hex: string): string => (hex.match(/../g) ?? []).reverse().join('');

/** The UUID that the machine itself shows: makers differ in how they write the bytes that the BMC sends. */
export function systemUuid({ guid }: Hardware, n: number): string {
  const smbios =
    reversed(guid.slice(0, 8)) + reversed(guid.slice(8, 12)) + reversed(guid.slice(12, 16)) + guid.slice(16);
  const hex = [guid, smbios, reversed(guid)][n % 3] ?? guid;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A FRU with a chassis and a board area (Platform Management FRU Information Storage Definition 1.0). */
export function fruBytes(h: Hardware): number[] {
  const chassis = area([0x17, ...field('LAB'), ...field(h.chassisSerial)]);
  const board = area([
    0,
    0,
    0,
    0,
    ...field('Muster'),
    ...field('Lab host'),
    ...field(h.boardSerial),
    ...field('LAB'),
    ...field(''),
  ]);
  return [...summed([1, 0, 1, 1 + chassis.length / 8, 0, 0, 0]), ...chassis, ...board];
}

const field = (text: string): number[] => [0xc0 | text.length, ...Buffer.from(text)];

/** Version and length before it, the end mark after it, filled up to a multiple of 8 with the sum. */
function area(body: readonly number[]): number[] {
  const bytes = [1, 0, ...body, 0xc1];
  while (bytes.length % 8 !== 7) bytes.push(0);
  bytes[1] = (bytes.length + 1) / 8;
  return summed(bytes);
}

const summed = (bytes: readonly number[]): number[] => [
  ...bytes,
  (256 - (bytes.reduce((sum, byte) => sum + byte, 0) % 256)) % 256,
];
