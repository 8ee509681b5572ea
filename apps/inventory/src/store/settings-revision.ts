import { MusterError } from '#contracts';

/**
 * Of an edit that rests on a revision of the settings, which have another by now.
 * @param expected absent: it rests on none
 * @throws MusterError REVISION_CONFLICT
 */
export function refuseOtherRevision(settings: { revision: number } | undefined, expected: number | undefined): void {
  const revision = settings?.revision ?? 0;
  if (expected === undefined || revision === expected) return;
  throw new MusterError(
    'REVISION_CONFLICT',
    `the settings are at revision ${revision}, not ${expected}: read them anew, and look whether the change still fits`,
    { revision },
  );
}
