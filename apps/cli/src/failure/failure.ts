/** What ends the program with exit code 1 and, unless there are more things to say, one line on stderr. */
export class Failure extends Error {
  /** Lines that come before the message, each complete by itself: what is wrong at which line of a file. */
  readonly findings: string[] = [];

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
    this.name = 'Failure';
  }
}

/** The command line is wrong: one line, how it is used, exit code 2. */
export class UsageFailure extends Failure {
  /** `Usage: muster …` of the command that was meant. */
  usage = 'Usage: muster [options] [command]';

  constructor(message: string) {
    super(message, 2);
    this.name = 'UsageFailure';
  }
}
