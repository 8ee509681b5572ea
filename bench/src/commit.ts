import { execaSync } from 'execa';

/** What a result was found with. Throws where there is no git, or no checkout. */
export interface Commit {
  commit: string;
  /** With changes on top of the commit, other than results. */
  dirty: boolean;
}

export const describeCommit = (): Commit => ({
  commit: git('rev-parse', 'HEAD'),
  dirty: git('status', '--porcelain', '--', ':/', ':(top,exclude)docs/results') !== '',
});

const git = (...args: string[]): string => execaSync('git', args, { cwd: import.meta.dirname }).stdout;
