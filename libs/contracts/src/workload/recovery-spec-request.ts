import { IsIn, IsOptional, Matches, MaxLength, ValidateBy } from 'class-validator';
import { isCommand, isEnvironment, PLAIN, Restarts } from './recovery-spec.js';

const rule = (name: string, validate: (value: unknown) => boolean, words: string): PropertyDecorator =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => `$property ${words}` } });

/**
 * What is started: a unit that Muster writes from `exec`, or one of the host's own by its name in `unit`. A member of
 * another name is refused.
 */
export class RecoverySpecRequest {
  /** Command line, or list of words (quoted as they are); begins with an absolute path. Absent: `unit` is the host's own. */
  @IsOptional()
  @rule('isCommand', isCommand, 'must be a command line, or a list of words, that begins with an absolute path')
  exec?: string | string[];

  /** A service unit's name. @default muster-workload-<name>.service, written from `exec` */
  @IsOptional()
  @Matches(/^[A-Za-z0-9][A-Za-z0-9:_.@-]{0,200}\.service$/)
  unit?: string;

  /** @default Workload <name> */
  @IsOptional()
  @MaxLength(200)
  @Matches(PLAIN)
  description?: string;

  /** Who runs it. @default root */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/)
  user?: string;

  /** @default systemd's own, / */
  @IsOptional()
  @Matches(/^-?(~|\/[^\p{Cc}]*)$/u)
  workingDirectory?: string;

  @IsOptional()
  @rule('isEnvironment', isEnvironment, 'must be an object of variables by name, each a text, number or boolean')
  environment?: Record<string, string | number | boolean>;

  /** @default on-failure */
  @IsOptional()
  @IsIn(Restarts)
  restart?: (typeof Restarts)[number];
}
