/** Whose code blocks are run. */
export const PAGES = ['README.md', 'docs/install.md'] as const;
/** What they are run in: see run-quickstart.ts. */
export const SCENES = ['one-machine', 'three-hosts'] as const;
export type SceneName = (typeof SCENES)[number];
