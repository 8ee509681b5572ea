import { type Needs, Roles } from '../auth/roles.js';
import type { Route } from './routes.js';

/** Routes that anybody may ask without showing anything, with the reason. A new one has to be written here. */
export const OPEN_ROUTES: Readonly<Record<string, string>> = {
  'GET /healthz': 'supervisors and load balancers hold no token; it says of the store what is wrong, not where',
  'GET /readyz': 'as `/healthz`',
  'GET /openapi.json': 'the reference: the same in every installation of a version',
  'GET /docs': 'the same as a page; it asks for nothing',
  'GET /docs/start.js': 'its start',
  'GET /docs/{file}': 'its three files: style, program, icon',
};

/** Who shows what. */
export const CALLERS = ['none', 'wrong', ...Roles] as const;
export type Caller = (typeof CALLERS)[number];

/** What the guard says to whom: let in, 401 or 403. */
export function accessOf(needs: Needs, caller: Caller): 'yes' | 401 | 403 {
  if (needs === 'anyone') return 'yes';
  // No role opens it: a token of another kind does.
  if (needs === 'agent-token' || caller === 'none' || caller === 'wrong') return 401;
  return Roles.indexOf(caller) >= Roles.indexOf(needs) ? 'yes' : 403;
}

/** docs/access.md: every route by who is let in. */
export function accessPage(routes: readonly Route[]): string {
  const rows = [...routes]
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1))
    .map((route) => {
      const needs = route.needs as Needs;
      const cells = CALLERS.map((caller) => String(accessOf(needs, caller)));
      return `| \`${route.method} ${route.path}\` | ${cells.join(' | ')} |`;
    });
  return `# Who may ask what

Written by \`npm run schemas\` from the routes themselves; a spec asks each of them of a running gateway. It holds where
\`http.tokens\` is configured; a unix socket needs no token, and without \`http.tokens\` there are only that and loopback
addresses. \`POST /v1/agents/enrol\` takes tokens of its own kind. \`compat.allowFrom\` opens to its networks, without a
token, what an operator may on the clusterm surface ([security.md](security.md)). What is no route is 404.

| route | ${CALLERS.map((caller) => (caller === 'none' ? 'no token' : caller === 'wrong' ? 'wrong token' : caller)).join(' | ')} |
| --- | ${CALLERS.map(() => '---').join(' | ')} |
${rows.join('\n')}
`;
}
