export interface DeliveredAt {
  deliveries: number;
  streamSeq: number;
  consumerSeq: number;
  pending: number;
}

/** `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>[.…]` */
export function deliveredAt(reply: string): DeliveredAt | undefined {
  const t = reply.split('.');
  if (t[0] !== '$JS' || t[1] !== 'ACK' || t.length < 9) return undefined;
  const at = t.length > 9 ? 6 : 4;
  const [deliveries, streamSeq, consumerSeq, , pending] = t.slice(at).map(Number);
  if (![deliveries, streamSeq, consumerSeq, pending].every(Number.isSafeInteger)) return undefined;
  return { deliveries: deliveries!, streamSeq: streamSeq!, consumerSeq: consumerSeq!, pending: pending! };
}
