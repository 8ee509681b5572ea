import { certificateEnd } from '#contracts/keys/certificate-end.js';
import { beyondLoopback } from '#contracts/keys/nats-tls.js';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import { hostSubject } from './host-alarms.js';

const SUBJECT = 'nats';

/** One while services, or agents as they are told, speak to NATS over a network without TLS. */
export function plainAlarms(o: { encrypted: boolean; servers: readonly string[] }): WantedAlarm[] {
  const open = o.encrypted ? [] : [...new Set(beyondLoopback(o.servers))];
  if (open.length === 0) return [];
  const message = `NATS is spoken to without TLS at ${open.join(', ')}.`;
  return [{ code: 'nats-plain', subject: SUBJECT, severity: 'warning', message }];
}

/** What a certificate is shown by. */
export type CertificateOwner = 'nats' | 'http';

const NAMES: Record<CertificateOwner, string> = { nats: 'NATS', http: 'the API (http.tls)' };

/**
 * One from 30 days before the end of a certificate on, critical from 3 days before. Times: ms of the wall clock.
 * @param host whose it is, where there are several control hosts
 */
export function expiryAlarms(owner: CertificateOwner, endsAt: number, now: number, host?: string): WantedAlarm[] {
  const end = certificateEnd(endsAt, now);
  if (end === 'far') return [];
  const day = new Date(endsAt).toISOString().slice(0, 10);
  const severity = end === 'soon' ? 'warning' : 'critical';
  const words = end === 'ended' ? 'has ended:' : 'ends';
  const where = host === undefined ? '' : ` on ${host}`;
  const message = `The certificate of ${NAMES[owner]}${where} ${words} ${day}.`;
  return [{ code: 'certificate-expires', subject: hostSubject(owner, host), severity, message }];
}

/**
 * Why a certificate on disk is none, as half a sentence; undefined: who looks may not read it, and its server may.
 * @param code of the error, by the system or by who parses it
 */
export function whyBroken(code: string | undefined): string | undefined {
  if (code === 'EACCES' || code === 'EPERM') return undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'the file is not there any more';
  if (code !== undefined && /^E(?!RR_)/.test(code)) return `the file cannot be read (${code})`;
  return 'it is no certificate (PEM), or only a part of one';
}

/**
 * What is on disk cannot be shown, and what was there before still is.
 * @param why half a sentence
 */
export function brokenAlarm(owner: CertificateOwner, why: string, host?: string): WantedAlarm {
  const where = host === undefined ? '' : ` on ${host}`;
  const next = owner === 'nats' ? 'NATS does not start with it' : 'the gateway does not start with it';
  const message = `The certificate of ${NAMES[owner]}${where} on disk is not used: ${why}. The one before still is; ${next}.`;
  return { code: 'certificate-broken', subject: hostSubject(owner, host), severity: 'warning', message };
}
