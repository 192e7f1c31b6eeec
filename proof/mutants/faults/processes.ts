/** Faults in the recovery of processes after a freeze or an outage. */
import type { TestedMutant } from '../mutant.ts'

const CONTRACT = 'packages/jobmill/test/conformance/postgres.test.ts'
const OPENING = 'packages/jobmill/test/processes/opening.test.ts'

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
    test: { file: 'test/proof/simulate.test.ts', name: 'seed 126:' },
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
  {
    name: 'a stop leaves a store open that is still opening',
    file: 'runtime/lifecycle.ts',
    find: 'await letGo(limits)\n    isOpen',
    replace: 'if (isOpen) await letGo(limits)\n    isOpen',
    test: { file: OPENING, name: 'D9 P6 SIGTERM ends a process whose SQLite' },
  },
  {
    name: 'postgres: a connection that is being opened survives the close of the store',
    file: 'store-postgres/postgres-store.ts',
    find: 'const last = connection\n',
    replace: 'const last = lifecycle.opened?.context.connection\n',
    test: { file: OPENING, name: 'D9 P6 SIGTERM ends a process whose PostgreSQL' },
  },
  {
    name: 'sqlite: an open waits for a lock after the close of the store',
    file: 'store-sqlite/live.ts',
    find: 'closing?.aborted === true ||',
    replace: '',
    test: { file: OPENING, name: 'D9 P6 SIGTERM ends a process whose SQLite' },
  },
  {
    name: 'a quiet process still claims by direct dispatch',
    file: 'dispatch/offers.ts',
    find: 'if (state.isStopping || state.isQuiet) return false',
    replace: 'if (state.isStopping) return false',
    test: { file: 'packages/jobmill/test/dispatch/offers.test.ts', name: 'is not made while it is quiet' },
  },
  {
    name: 'postgres: claim leases jobs to a quiet instance',
    file: 'store-postgres/schema/functions/claim.ts',
    find: ' AND i.requested IS NULL;',
    replace: ';',
    test: { file: CONTRACT, name: 'asked for quiet gets no lease' },
  },
  {
    name: 'postgres: direct dispatch leases jobs to a quiet instance',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: ' AND i.requested IS NULL;',
    replace: ';',
    test: { file: CONTRACT, name: 'P2 direct dispatch leases no job to a quiet' },
  },
  {
    name: 'postgres: an instance that was asked to stop takes duties',
    file: 'store-postgres/schema/functions/heartbeat.ts',
    find: " AND me.requested IS DISTINCT FROM 'stop'",
    replace: '',
    test: { file: CONTRACT, name: 'one that was asked to stop releases them' },
  },
  {
    name: 'a process that was asked to stop raises no signal',
    file: 'runtime/jobmill.ts',
    find: 'if (endsProcess) raiseStopSignal()',
    replace: 'if (endsProcess) return',
    test: {
      file: 'packages/jobmill/test/processes/requests.test.ts',
      name: 'P6 a process that is asked to stop ends with code 0',
    },
  },
]
