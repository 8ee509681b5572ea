/** The OpenAPI document of the built gateway. */
export async function openapi() {
  const { describeWithoutServer } = await import('../../dist/apps/gateway/src/openapi/without-server.js');
  return describeWithoutServer();
}
