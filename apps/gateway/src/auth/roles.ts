import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';

/** Each role may do all that the ones before it may. */
export const Roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof Roles)[number];

export const mayAct = (has: Role, needs: Role): boolean => Roles.indexOf(has) >= Roles.indexOf(needs);

/** What a route asks for; `agent-token`: a token for enrolment, which is nobody's role. */
export type Needs = Role | 'agent-token' | 'anyone';

export const ROLE_KEY = 'muster:role';

/** What a route needs, and its line in the API's reference. A route without it is served to nobody. */
export const Allow = (role: Needs, summary: string, description?: string): MethodDecorator =>
  applyDecorators(
    SetMetadata(ROLE_KEY, role),
    ApiOperation({ summary, ...(description === undefined ? {} : { description }) }),
  );
