/** Defects that new users found: each fault restores the behavior before its fix. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'

export const USERS: readonly TestedMutant[] = [
  {
    name: 'sqlite: a relative path changes with the working directory',
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
    name: 'cli: start ignores the second signal while the database does not respond',
    file: 'cli/run-mill.ts',
    find: 'Promise.race([begun, ended])',
    replace: 'Promise.race([begun])',
    test: { file: `${TESTS}/cli/start.test.ts`, name: 'D9 P6 ends at the second signal' },
  },
  {
    name: 'runJob does not record the options of an enqueue',
    file: 'testing/kit/enqueue-nowhere.ts',
    find: '...recordedJob(job), withCompletion: false',
    replace: '...recordedJob({ ...job, tags: [] }), withCompletion: false',
    test: { file: `${TESTS}/kit/run-job.test.ts`, name: 'N6 runJob and testMill record' },
  },
  {
    name: 'a list of jobs lacks their last error',
    file: 'runtime/list-jobs.ts',
    find: 'error: errors.get(job.id) ?? null',
    replace: "error: errors.get('') ?? null",
    test: { file: `${TESTS}/runtime/operate.test.ts`, name: 'N10 lists carry the last error' },
  },
  {
    name: 'cli: the error for a config that needs tsx does not name the fix',
    file: 'cli/config-errors.ts',
    find: "NODE_OPTIONS='--import tsx'",
    replace: "NODE_OPTIONS=''",
    test: { file: `${TESTS}/cli/cli.test.ts`, name: 'N12' },
  },
  {
    name: 'sqlite: a pg client is reported as a handle that cannot run statements',
    file: 'store-sqlite/tx.ts',
    find: 'if (isForPostgres(tx))',
    replace: 'if (isForPostgres(tx) && tx === null)',
    test: { file: `${TESTS}/kit/postgres.test.ts`, name: 'N13 a handler' },
  },
  {
    name: 'cli: work ignores the queues that it was given',
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
