import { createReadStream } from 'node:fs';
import { MusterError } from '#contracts';

/** One file of an archive: either a text, or a file of this machine. */
export type ArchiveFile = { path: string; mode: number } & ({ text: string } | { file: string; size: number });

const BLOCK = 512;
/** 2000-01-01: the same in every build, and no time that tar calls implausible. */
const MODIFIED = 946_684_800;

/**
 * The files as a tar in the order given, as POSIX has it (ustar): root's, without anything of this machine but their
 * content. Read as it goes; a file that changes its size meanwhile is refused.
 */
export async function* tar(files: Iterable<ArchiveFile>): AsyncGenerator<Buffer> {
  for (const file of files) {
    const size = sizeOf(file);
    yield header(file.path, file.mode, size);
    let written = 0;
    for await (const chunk of contentOf(file)) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== size) throw new MusterError('CONFIG_INVALID', `${file.path} changed while it was read`);
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

const sizeOf = (file: ArchiveFile): number => ('text' in file ? Buffer.byteLength(file.text) : file.size);

export async function* contentOf(file: ArchiveFile): AsyncGenerator<Buffer> {
  if ('text' in file) yield Buffer.from(file.text);
  else for await (const chunk of createReadStream(file.file, { highWaterMark: 1 << 20 })) yield chunk as Buffer;
}

function header(path: string, mode: number, size: number): Buffer {
  const [prefix, name] = split(path);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void =>
    void block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'ascii');
  block.write(name, 0, 100, 'utf8');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(MODIFIED, 136, 12);
  block.write('        0', 148, 'ascii'); // the checksum counts as blanks; type 0: a plain file
  block.write('ustar\x0000', 257, 'ascii');
  block.write(prefix, 345, 155, 'utf8');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

/** A name holds 100 bytes; before a slash 155 more have room. */
function split(path: string): [string, string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return [prefix, name];
  }
  throw new MusterError('CONFIG_INVALID', `the path ${path} is too long for an archive`);
}
