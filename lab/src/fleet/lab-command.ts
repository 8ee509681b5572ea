import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { MusterError } from '#contracts';

export interface LabAt {
  dir: string;
  /** Hears each line of progress that the lab prints. */
  onProgress?: (line: string) => void;
}

const CLI = join(import.meta.dirname, '..', 'main.js');

/** Runs the lab's own command line and answers its JSON. COMMAND_FAILED carries its last words. */
export function runLab(options: LabAt, args: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, '--dir', options.dir, '--json', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let lastWords = '';
    child.stdout.on('data', (d: Buffer) => (out += d.toString()));
    child.stderr.on('data', (d: Buffer) => {
      for (const line of d
        .toString()
        .split('\n')
        .filter((l) => l.trim() !== '')) {
        lastWords = line;
        options.onProgress?.(line);
      }
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const answer = out.trim().split('\n').at(-1) ?? '';
      if (code !== 0 && args[0] !== 'audit')
        reject(new MusterError('COMMAND_FAILED', `lab ${args.join(' ')}: ${lastWords || answer || `exit ${code}`}`));
      else resolve(answer === '' ? {} : JSON.parse(answer));
    });
  });
}
