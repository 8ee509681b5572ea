/** A text that is shorter, in characters, travels inside its JSON. */
const WORTH_IT = 4_000;

/**
 * An answer as it travels. A long `text` of it comes behind its JSON, after a line break, as it is: within, each quote of
 * it would be escaped here and unescaped there, and for a page of nodes that costs more than all the rest.
 * @param takesTrailing whoever asks has said that it reads that; one of before does not
 */
export function writeAnswer(packet: Readonly<Record<string, unknown>>, takesTrailing: boolean): string {
  const response = packet['response'];
  if (!takesTrailing || !hasText(response) || response.text.length < WORTH_IT) return JSON.stringify(packet);
  return `${JSON.stringify({ ...packet, response: { ...response, text: '' } })}\n${response.text}`;
}

/** What {@link writeAnswer} has written, either way. JSON that is written without indentation has no line break. */
export function readAnswer(written: string): unknown {
  const end = written.indexOf('\n');
  if (end === -1) return JSON.parse(written);
  const packet = JSON.parse(written.slice(0, end)) as { response: { text: string } };
  packet.response.text = written.slice(end + 1);
  return packet;
}

const hasText = (response: unknown): response is { text: string } =>
  typeof response === 'object' && response !== null && typeof (response as { text?: unknown }).text === 'string';
