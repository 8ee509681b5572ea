/**
 * What a history left behind of the real world: a socket, a timer, a child process. A simulation that waits for one of
 * them is no simulation, and the same seed would not give the same events.
 */
export class RealHandles {
  private readonly before = counted();

  /** Throws, and names the history and what it left. Asked right after the history, before anything else is begun. */
  assertNone(history: string): void {
    const left: string[] = [];
    for (const [type, count] of counted()) {
      const more = count - (this.before.get(type) ?? 0);
      if (more > 0) left.push(`${more} × ${type}`);
    }
    if (left.length > 0) throw new Error(`${history} left real handles: ${left.sort().join(', ')}`);
  }
}

function counted(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo())
    // Immediates are those of the run itself.
    if (type !== 'Immediate') counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
