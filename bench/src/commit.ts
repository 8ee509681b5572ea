import { execaSync } from 'execa';

/** What a result was found with. Throws where there is no git, or no checkout. */
export interface Commit {
  commit: string;
  /** With changes on top of the commit, other than results. */
  dirty: boolean;
}

/** @param dir of the checkout; by default our own */
export function describeCommit(dir: string = import.meta.dirname): Commit {
  const git = (...args: string[]): string => execaSync('git', args, { cwd: dir }).stdout;
  return {
    commit: git('rev-parse', 'HEAD'),
    dirty: git('status', '--porcelain', '--', ':/', ':(top,exclude)docs/results') !== '',
  };
}
