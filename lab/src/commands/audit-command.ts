import { runAudit, type AuditAnswer } from '../audit/run-audit.js';
import { selfTest } from '../audit/self-test.js';
import type { Cli } from './cli.js';

export function auditCommand(cli: Cli): void {
  cli.program
    .command('audit')
    .description('checks, from the ledger, the BMC logs and the API, that nothing forbidden happened')
    .option('--self-test', 'plant one violation of each kind; each must be reported')
    .action(async (o: { selfTest?: boolean }) => {
      if (o.selfTest === true) {
        const test = selfTest();
        const line = (p: { kind: string; reported: boolean }): string =>
          `${p.reported ? 'reported' : 'MISSED  '}  ${p.kind}`;
        cli.answer(
          test,
          [...test.planted.map(line), `a story without fault: ${test.clean.length} violations`].join('\n'),
        );
        cli.exitCode(test.ok ? 0 : 1);
        return;
      }
      const found = await runAudit(cli.folder());
      cli.answer(found, auditText(found));
      cli.exitCode(found.ok ? 0 : 1);
    });
}

function auditText(a: AuditAnswer): string {
  const ms = (n: number): string => `${n.toFixed(0)} ms`;
  return [
    ...a.workloads.map((w) => `${w.workload}: longest gap ${ms(w.longestGapMs)}, overlap ${ms(w.longestOverlapMs)}`),
    ...a.violations.map((v) => `${v.kind} ${v.subject}: ${v.detail}`),
    ...a.unjudged.map((line) => `not judged: ${line}`),
    a.ok ? 'audit: ok' : `audit: ${a.violations.length} violations`,
  ].join('\n');
}
