/** The OpenAPI document of the built gateway. */
export async function openapi() {
  const { describeWithoutServer } = await import('../../dist/apps/gateway/src/http/without-server.js');
  return describeWithoutServer();
}

/** docs/access.md by the routes of the built gateway. */
export async function accessPage() {
  const { accessPageWithoutServer } = await import('../../dist/apps/gateway/src/http/without-server.js');
  return accessPageWithoutServer();
}
