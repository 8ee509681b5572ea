import { register } from 'node:module';
import { TestRunner } from 'vitest';
import { OpenHandles } from './open-handles.mjs';

register('./source-hooks.mjs', import.meta.url);
// The lines in the trace of an error are those of the source: Node knows them, and Vite, which would answer first, does not.
process.setSourceMapsEnabled(true);
delete Error.prepareStackTrace;

/**
 * How a worker runs its spec files, one after the other: a file fails that leaves open what keeps its process alive
 * (timers, sockets, servers, child processes).
 */
export default class SpecRunner extends TestRunner {
  onBeforeCollect() {
    this.handles = new OpenHandles();
  }

  async onAfterRunSuite(suite) {
    const isFile = suite.file === suite;
    // Where a test or hook has failed, that is told, and not what it has left behind.
    const left = isFile && suite.result.state === 'pass' ? await this.handles.left() : undefined;
    if (left !== undefined) {
      const { message, stack } = new Error(left);
      suite.result.state = 'fail';
      suite.result.errors = [{ name: 'Error', message, stack }];
    }
    await super.onAfterRunSuite(suite);
  }
}
