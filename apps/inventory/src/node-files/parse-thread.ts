import { parentPort, workerData } from 'node:worker_threads';
import type { NodeImportRequest } from '#contracts';
import { parseFile } from './parse-file.js';
import type { FileContent } from './file-row.js';

/** Without content: it begins now. */
export interface ParseThreadMessage {
  content?: FileContent;
}

/** Reads one file in a thread of its own, and ends. */
const { format, content } = workerData as Pick<NodeImportRequest, 'format' | 'content'>;
const say = (message: ParseThreadMessage): void => parentPort?.postMessage(message);
say({});
say({ content: parseFile(format, content) });
