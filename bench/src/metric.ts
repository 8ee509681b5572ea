/** One figure of a bench. Times in ms, rates per second, shares of one core from 0 to 1. */
export interface Metric {
  name: string;
  unit: string;
  value: number;
  /** `≥ 5000`, `< 200`, `= 0`: what it should be on two cores. */
  goal?: string;
  /** What it is taken from: `20 kills`, `120 s`. */
  over?: string;
  /** What the same machine did in the same run without our part: the machine is noisy, the ratio is not. */
  peer?: { name: string; value: number };
  /** value / peer.value */
  ratio?: number;
}

/** The last line with `--json`. */
export interface BenchResult {
  bench: string;
  machine: string;
  metrics: Metric[];
  /** Parts that gave no figures, or not all of theirs, and why; only where there are such. */
  failed?: FailedPart[];
}

export interface FailedPart {
  part: string;
  why: string;
}

export interface BenchOptions {
  /** What it does, as it goes. */
  say: (line: string) => void;
  /** Fewer rounds, where all of them take long. */
  quick: boolean;
  /** Without the fleets of others that it is compared with: Serf's, Pacemaker's. */
  own: boolean;
  /** One part of several. One that fails is in the result as `failed`, and what the others find is not lost for it. */
  attempt: (part: string, work: () => Promise<void>) => Promise<void>;
}

/** Its figures come at the end. */
export type Bench = (o: BenchOptions) => Promise<Metric[]>;

const rounded = (n: number): number => Number(n.toPrecision(4));

export function metric(
  name: string,
  unit: string,
  value: number,
  more: Omit<Metric, 'name' | 'unit' | 'value'> = {},
): Metric {
  const { peer } = more;
  return {
    name,
    unit,
    value: rounded(value),
    ...more,
    ...(peer && { peer: { ...peer, value: rounded(peer.value) }, ratio: rounded(value / peer.value) }),
  };
}

/** Undefined where there is no goal. */
export function reached(m: Metric): boolean | undefined {
  const [, sign, bound] = /^([<≤≥=]) *([\d.]+)/.exec(m.goal ?? '') ?? [];
  if (sign === undefined) return undefined;
  const limit = Number(bound);
  if (sign === '=') return m.value === limit;
  return sign === '<' ? m.value < limit : sign === '≤' ? m.value <= limit : m.value >= limit;
}
