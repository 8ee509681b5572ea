/**
 * FNV-1a over everything that happened, in two lanes of 32 bits: the same seed gives the same digits, or something in the
 * history is not drawn from it. No defence against anybody who wants two to be equal.
 */
export class EventHash {
  private low = 0x811c9dc5;
  private high = 0xcbf29ce4;

  add(label: string, atNs: number): void {
    let low = this.low;
    let high = this.high;
    for (let i = 0; i < label.length; i++) {
      const c = label.charCodeAt(i);
      low = Math.imul(low ^ c, 0x01000193);
      high = Math.imul(high ^ c, 0x01000193) ^ (low >>> 15);
    }
    low = Math.imul(low ^ ((atNs % 0x1_0000_0000) | 0), 0x01000193);
    high = Math.imul(high ^ ((atNs / 0x1_0000_0000) | 0), 0x01000193) ^ (low >>> 15);
    this.low = low;
    this.high = high;
  }

  /** 16 hexadecimal digits. */
  get digest(): string {
    return [this.high, this.low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
