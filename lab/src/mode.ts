import { execaSync } from 'execa';
import type { LabMode } from './plan.js';

/** Why this machine cannot give each host a network of its own; undefined: it can. */
export function whyNoNamespaces(): string | undefined {
  if (process.getuid?.() !== 0) return 'that needs root';
  const tried = execaSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { reject: false });
  if (!tried.failed) return undefined;
  // Root in a container without the right to it: told once, instead of ip's own words half way through.
  return `namespaces cannot be made here: ${tried.stderr || tried.shortMessage}`;
}

/** The mode where none was asked for. */
export const bestMode = (): LabMode => (whyNoNamespaces() === undefined ? 'netns' : 'loopback');
