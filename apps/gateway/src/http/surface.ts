/** Muster's own API, with problem+json errors; every other path belongs to the clusterm surface and its plain texts. */
export const isOwnSurface = (url: string): boolean =>
  /^\/(v1|healthz|readyz|metrics|docs|openapi\.json)(?:[/?]|$)/.test(url);
