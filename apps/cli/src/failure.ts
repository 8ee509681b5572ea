/** What ends the program with one line on stderr and exit code 1. */
export class Failure extends Error {
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
  constructor(message: string) {
    super(message, 2);
    this.name = 'UsageFailure';
  }
}
