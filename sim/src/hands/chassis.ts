/** When and by what the power of a machine changed. */
export interface PowerChange {
  atMs: number;
  on: boolean;
  by: string;
}

/** A machine, as it truly is. Times in virtual ms. */
export class Chassis {
  readonly changes: PowerChange[] = [];
  private powered = true;
  /** Its system runs, or would at this boot. */
  private alive = true;

  constructor(
    readonly node: string,
    private readonly now: () => number,
  ) {}

  /** What its board and its BMC both say of it. */
  get guid(): string {
    return Buffer.from(this.node).toString('hex').padStart(32, '0');
  }

  get on(): boolean {
    return this.powered;
  }

  /** On, and its system runs. */
  get lives(): boolean {
    return this.powered && this.alive;
  }

  /** As by a kernel crash: it serves nobody, and its power stays on. */
  hang(): void {
    this.alive = false;
  }

  /** A person, or a watchdog, resets it. */
  reboot(): void {
    if (this.powered) this.alive = true;
  }

  switch(on: boolean, by: string): void {
    if (on === this.powered) return;
    this.powered = on;
    this.changes.push({ atMs: this.now(), on, by });
    if (on) this.alive = true;
  }
}
