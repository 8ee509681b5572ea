import type { JobRecord } from '#contracts';
import { LiveLines } from '../output/live-lines.js';
import type { Terminal } from '../output/terminal.js';
import { jobText, nodeLines, phaseColours, type NodeLine } from './node-progress.js';

/** Shows a job from read to read. */
export interface ProgressDisplay {
  show(job: JobRecord): void;
  /** The last state of it: all that there is to say stays on the screen. */
  end(job: JobRecord): void;
}

/** In place on a terminal; in a pipe one line per change, each beginning with the node that it is about. */
export const progressDisplay = (terminal: Terminal): ProgressDisplay =>
  terminal.canRedraw ? new InPlace(terminal) : new ChangesOnly(terminal);

class ChangesOnly implements ProgressDisplay {
  private readonly told = new Map<string, string>();

  constructor(private readonly terminal: Terminal) {}

  show(job: JobRecord): void {
    this.print(`job ${job.id}`, jobText(job));
    this.nodes(job);
  }

  end(job: JobRecord): void {
    this.nodes(job);
    this.print(`job ${job.id}`, jobText(job));
  }

  private nodes(job: JobRecord): void {
    for (const { node, text, phase } of nodeLines(job)) if (phase !== 'waiting') this.print(node, text);
  }

  private print(subject: string, text: string): void {
    if (this.told.get(subject) === text) return;
    this.told.set(subject, text);
    this.terminal.line(`${subject}: ${text}`);
  }
}

const order: NodeLine['phase'][] = ['failed', 'running', 'waiting', 'ok'];

class InPlace implements ProgressDisplay {
  private readonly live: LiveLines;

  constructor(private readonly terminal: Terminal) {
    this.live = new LiveLines(terminal);
  }

  /** As many nodes as fit, those first that somebody may want to look at. */
  show(job: JobRecord): void {
    const nodes = nodeLines(job);
    const room = Math.max(1, this.terminal.height - 3);
    const shown =
      nodes.length <= room
        ? nodes
        : nodes.toSorted((a, b) => order.indexOf(a.phase) - order.indexOf(b.phase)).slice(0, room - 1);
    const hidden = nodes.length - shown.length;
    this.live.draw([
      { text: `job ${job.id}: ${jobText(job)}, ${counted(nodes)}`, colour: 'bold' },
      ...this.columns(shown),
      ...(hidden > 0 ? [{ text: `  and ${hidden} more`, colour: 'dim' as const }] : []),
    ]);
  }

  end(job: JobRecord): void {
    this.live.clear();
    for (const line of nodeLines(job)) this.terminal.line(`${line.node}: ${painted(this.terminal, line)}`);
    this.terminal.line(`job ${job.id}: ${job.status}`);
  }

  private columns(nodes: NodeLine[]): { text: string; colour: (typeof phaseColours)[NodeLine['phase']] }[] {
    const width = Math.max(...nodes.map((n) => n.node.length));
    return nodes.map((n) => ({ text: `  ${n.node.padEnd(width)}  ${n.text}`, colour: phaseColours[n.phase] }));
  }
}

const painted = (terminal: Terminal, line: NodeLine): string => terminal.paint(phaseColours[line.phase], line.text);

function counted(nodes: NodeLine[]): string {
  const ended = nodes.filter((n) => n.phase === 'ok' || n.phase === 'failed').length;
  return `${ended} of ${nodes.length} nodes done`;
}
