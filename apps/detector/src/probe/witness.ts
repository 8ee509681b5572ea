import type { ProbeNet } from './probe-net.js';

/** Something that is no node: where it answers, it is not us who are cut off. Asked only while that matters. */
export class Witness {
  private reached = false;
  private busy = false;

  constructor(private readonly net: Pick<ProbeNet, 'answersAt'>) {}

  get ok(): boolean {
    return this.reached;
  }

  forget(): void {
    this.reached = false;
  }

  async ask(hostPort: string): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.reached = await this.net.answersAt(hostPort);
    this.busy = false;
  }
}
