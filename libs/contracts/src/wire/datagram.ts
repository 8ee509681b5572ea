import { createHash, hash, timingSafeEqual } from 'node:crypto';

/** Bytes of every datagram, each way: an echo is never larger than its probe, so nobody can be used as an amplifier. */
export const DATAGRAM_BYTES = 64;

export const DatagramTypes = { PROBE: 1, ECHO: 2, HELLO: 3, WELCOME: 4 } as const;
export type DatagramType = (typeof DatagramTypes)[keyof typeof DatagramTypes];

export interface Datagram {
  type: DatagramType;
  /** {@link peerId} of the sender, and of the one it is meant for. */
  from: bigint;
  to: bigint;
  /** Epoch of the sender's process. */
  epoch: bigint;
  /** {@link bootMark} of the sender's boot; 0: not told, by a monitor or an agent of an earlier Muster. */
  boot: number;
  /** Index of the network in the sorted list of the sender's networks. */
  network: number;
  /** Low 16 bits of the sender's peer list version. */
  listVersion: number;
  /** 16 fresh random bytes; the echo brings them back. */
  nonce: Buffer;
}

const MAGIC = 0x4d55; // "MU"
const VERSION = 1;
const MAC_AT = 48;
const MAC_BYTES = 16;

/** 8 bytes that stand for a name on the wire. */
export const peerId = (name: string): bigint => createHash('sha256').update(name).digest().readBigUInt64BE(0);

/** 1 to 255: all that a datagram has room for of a boot id, to tell two machines apart that bear one epoch. */
export const bootMark = (bootId: string): number =>
  1 + (createHash('sha256').update(bootId).digest().readUInt16BE(0) % 255);

/** Keys that are accepted, the first is used to sign: two, so that a key can be changed without a silent minute. */
export interface DatagramKeys {
  cluster: string;
  keys: readonly Buffer[];
}

/**
 * The text of a key file: one or two keys, 16 to 64 bytes each, hex, one a line; lines with `#` are remarks.
 * @throws RangeError that says what is expected
 */
export function parseDatagramKeys(text: string): Buffer[] {
  const lines = text.split('\n').map((l) => l.trim());
  const keys = lines.filter((l) => l !== '' && !l.startsWith('#'));
  if (keys.length < 1 || keys.length > 2 || !keys.every((k) => /^([0-9a-f]{2}){16,64}$/i.test(k)))
    throw new RangeError('one or two lines of 32 to 128 hex digits are expected');
  return keys.map((k) => Buffer.from(k, 'hex'));
}

/** Bytes of a block of SHA-256. */
const BLOCK = 64;
const sha256 = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

/**
 * HMAC-SHA256 (RFC 2104) over a datagram's body and the name of the cluster, truncated. By two hashes, whose beginnings
 * are laid out once: an `Hmac` of Node is an object with a stream and a context, and took a seventh of an agent's time.
 */
class Mac {
  /** key ⊕ 0x36… · body · cluster */
  private readonly inner: Buffer;
  /** key ⊕ 0x5c… · hash of the inner */
  private readonly outer = Buffer.alloc(BLOCK + 32);

  constructor(
    key: Buffer,
    readonly cluster: string,
  ) {
    const block = Buffer.alloc(BLOCK);
    (key.length > BLOCK ? sha256(key) : key).copy(block);
    this.inner = Buffer.concat([block.map((byte) => byte ^ 0x36), Buffer.alloc(MAC_AT), Buffer.from(cluster)]);
    this.outer.set(block.map((byte) => byte ^ 0x5c));
  }

  of(datagram: Buffer): Buffer {
    datagram.copy(this.inner, BLOCK, 0, MAC_AT);
    sha256(this.inner).copy(this.outer, BLOCK);
    return sha256(this.outer).subarray(0, MAC_BYTES);
  }
}

/** By the key itself: which keys are in use changes while a cluster's are exchanged. */
const macs = new WeakMap<Buffer, Mac>();

function macBy(key: Buffer, cluster: string): Mac {
  let mac = macs.get(key);
  if (mac?.cluster !== cluster) macs.set(key, (mac = new Mac(key, cluster)));
  return mac;
}

/** A Buffer's own functions for numbers are four times as slow where nothing is optimized, as in the agent. */
const fieldsOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** magic 2 · version 1 · type 1 · from 8 · to 8 · epoch 8 · network 1 · boot 1 · listVersion 2 · nonce 16 · mac 16 */
export function encodeDatagram(d: Datagram, keys: DatagramKeys): Buffer {
  const out = Buffer.alloc(DATAGRAM_BYTES);
  const fields = fieldsOf(out);
  fields.setUint16(0, MAGIC);
  fields.setUint8(2, VERSION);
  fields.setUint8(3, d.type);
  fields.setBigUint64(4, d.from);
  fields.setBigUint64(12, d.to);
  fields.setBigUint64(20, d.epoch);
  fields.setUint8(28, d.network);
  fields.setUint8(29, d.boot);
  fields.setUint16(30, d.listVersion);
  d.nonce.copy(out, 32, 0, 16);
  const key = keys.keys[0];
  if (key === undefined) throw new RangeError('no datagram key');
  macBy(key, keys.cluster).of(out).copy(out, MAC_AT);
  return out;
}

/** Why a datagram was dropped: counted, never answered. */
export type DatagramRefusal = 'size' | 'magic' | 'version' | 'type' | 'mac';

export function decodeDatagram(bytes: Buffer, keys: DatagramKeys): Datagram | DatagramRefusal {
  if (bytes.length !== DATAGRAM_BYTES) return 'size';
  const fields = fieldsOf(bytes);
  if (fields.getUint16(0) !== MAGIC) return 'magic';
  if (fields.getUint8(2) !== VERSION) return 'version';
  const type = fields.getUint8(3);
  if (type < 1 || type > 4) return 'type';
  const given = bytes.subarray(MAC_AT);
  if (!keys.keys.some((key) => timingSafeEqual(macBy(key, keys.cluster).of(bytes), given))) return 'mac';
  return {
    type: type as DatagramType,
    from: fields.getBigUint64(4),
    to: fields.getBigUint64(12),
    epoch: fields.getBigUint64(20),
    network: fields.getUint8(28),
    boot: fields.getUint8(29),
    listVersion: fields.getUint16(30),
    nonce: Buffer.from(bytes.subarray(32, 48)),
  };
}
