/** Bucket `admission`, key `reservations`: one value decides for all nodes of a request, or for none. */
export interface Reservations {
  /** Node → what holds it. */
  held: Record<string, { job?: string; claim?: string; generation: number; at: number }>;
  /** Grows with every reservation. */
  generation: number;
}
export const RESERVATIONS_KEY = 'reservations';

/** Bucket `admission`, key `permits`: fencing permits, so that two deciders cannot both pass brake and cap. */
export interface Permits {
  granted: { incident: string; node: string; at: number }[];
}
export const PERMITS_KEY = 'permits';
