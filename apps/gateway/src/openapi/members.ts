import { answerSchemas, namedSchemas } from './answer-schemas.js';
import type { Schema } from './schemas.js';

/**
 * Names of all members that an answer of the route may have, of a list those of its items; undefined: it answers no
 * JSON, or nothing that names them.
 * @param route `GET /v1/nodes/{name}`
 */
export function membersOf(route: string): string[] | undefined {
  const properties = propertiesOf(answerSchemas[route] ?? {});
  const items = properties?.['items'];
  const item = items?.['type'] === 'array' ? propertiesOf(items['items'] as Schema) : properties;
  return item && Object.keys(item).sort();
}

function propertiesOf(schema: Schema): Record<string, Schema> | undefined {
  const { $ref, allOf, properties } = schema as {
    $ref?: string;
    allOf?: Schema[];
    properties?: Record<string, Schema>;
  };
  if ($ref !== undefined) return propertiesOf(namedSchemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  if (allOf === undefined) return properties;
  const parts = allOf.map(propertiesOf);
  return parts.includes(undefined) ? undefined : (Object.assign({}, ...parts) as Record<string, Schema>);
}
