/** What is told of folders of control hosts that the installation has no more. */
export const goneHosts = (dir: string, gone: readonly string[]): string =>
  `${gone.join(', ')}: no control host any more, and left as it was; delete ${gone.map((name) => `${dir}/hosts/${name}`).join(' ')}`;
