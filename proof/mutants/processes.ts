/** Faults in the recovery of processes after a freeze or an outage. */
import type { TestedMutant } from './mutant.ts'

export const PROCESSES: readonly TestedMutant[] = [
  {
    name: 'a process does not report that a handler blocked it',
    file: 'runtime/engine.ts',
    find: 'await register(stoodStill)',
    replace: 'await register(stoodStill && false)',
    test: {
      file: 'packages/jobmill/test/processes/mill-processes.test.ts',
      name: 'a process that was paused past its lease',
    },
  },
  {
    name: 'the reaper ignores a failed heartbeat',
    file: 'work/heartbeat/contact.ts',
    find: 'failed: () => void (since = null),',
    replace: 'failed() {},',
    test: { file: 'test/simulate.test.ts', name: 'seed 1920' },
  },
  {
    name: 'a command ends when the processes that it knows are gone, without another scan',
    file: 'work/handlers/process-group.ts',
    find: "if (found === 'none') return",
    replace: "if (found === 'none' || this.#strays.signal('SIGKILL') === 0) return",
    test: {
      file: 'packages/jobmill/test/work/handlers/command-stop.test.ts',
      name: 'S5 a chain of processes',
    },
  },
]
