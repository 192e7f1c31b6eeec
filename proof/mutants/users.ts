/** Defects that new users found: each fault restores the behavior before its fix. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'

export const USERS: readonly TestedMutant[] = [
  {
    name: 'sqlite: a relative path follows the folder of the process',
    file: 'store-sqlite/sqlite.ts',
    find: 'trimmed : resolve(trimmed)',
    replace: "trimmed : trimmed || resolve('')",
    test: { file: `${TESTS}/sqlite/open.test.ts`, name: 'D4 a relative path' },
  },
  {
    name: 'sqlite: a stale snapshot is reported as a lock',
    file: 'store-sqlite/errors.ts',
    find: "error.code === 'SQLITE_BUSY_SNAPSHOT'",
    replace: "error.code === 'SQLITE_SNAPSHOT'",
    test: { file: `${TESTS}/sqlite/transactions.test.ts`, name: 'D10' },
  },
  {
    name: 'cli: a start that waits for a silent database ignores the second signal',
    file: 'cli/run-mill.ts',
    find: 'Promise.race([begun, ended])',
    replace: 'Promise.race([begun])',
    test: { file: `${TESTS}/cli/start.test.ts`, name: 'D9 P6 ends at the second signal' },
  },
  {
    name: 'runJob forgets what an enqueue was given',
    file: 'testing/kit/enqueue-nowhere.ts',
    find: '...recordedJob(job), withCompletion: false',
    replace: '...recordedJob({ ...job, tags: [] }), withCompletion: false',
    test: { file: `${TESTS}/kit/run-job.test.ts`, name: 'N6 runJob and testMill record' },
  },
  {
    name: 'a list without the last error of its jobs',
    file: 'runtime/list-jobs.ts',
    find: 'error: errors.get(job.id) ?? null',
    replace: "error: errors.get('') ?? null",
    test: { file: `${TESTS}/runtime/operate.test.ts`, name: 'N10 lists carry the last error' },
  },
  {
    name: 'cli: a config that needs tsx is not told so',
    file: 'cli/config-errors.ts',
    find: "NODE_OPTIONS='--import tsx'",
    replace: "NODE_OPTIONS=''",
    test: { file: `${TESTS}/cli/cli.test.ts`, name: 'N12' },
  },
  {
    name: 'sqlite: a client of pg is reported as a handle that cannot run statements',
    file: 'store-sqlite/tx.ts',
    find: 'if (isForPostgres(tx))',
    replace: 'if (isForPostgres(tx) && tx === null)',
    test: { file: `${TESTS}/kit/postgres.test.ts`, name: 'N13 a handler' },
  },
  {
    name: 'cli: work serves all queues, whatever it is told',
    file: 'cli/commands/start.ts',
    find: 'serve.length > 0 && { serve:',
    replace: 'serve.length > 1_000 && { serve:',
    test: { file: `${TESTS}/cli/start.test.ts`, name: 'N17 work serves' },
  },
  {
    name: 'http: frameAncestors is ignored',
    file: 'http/page.ts',
    find: 'framingHeaders(frameAncestors)',
    replace: 'framingHeaders(frameAncestors.slice(0, 0))',
    test: { file: `${TESTS}/http/page.test.ts`, name: 'N19 frameAncestors' },
  },
]
