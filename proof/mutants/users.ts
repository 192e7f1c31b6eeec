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
    test: { file: `${TESTS}/runtime/operate.test.ts`, name: 'N10 lists include the last error' },
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
  {
    name: 'a job with the payload of a newer release spends its attempts on older processes',
    file: 'job/decide.ts',
    find: "transition: { to: 'scheduled', delayMs, refund: true },\n    error: errorText(error)",
    replace: "transition: { to: 'scheduled', delayMs, refund: false },\n    error: errorText(error)",
    test: { file: `${TESTS}/runtime/context.test.ts`, name: 'D5 a payload that the previous release' },
  },
  {
    name: 'postgres: the settings of a pool are not read',
    file: 'store-postgres/server-address.ts',
    find: "fieldsOf(poolOptions(pool), 'pool')",
    replace: "fieldsOf({}, 'pool')",
    test: { file: `${TESTS}/postgres/comes-back.test.ts`, name: 'N7 the settings of a pg.Pool' },
  },
  {
    name: 'postgres: the ssl option is ignored',
    file: 'store-postgres/server-address.ts',
    find: '...(ssl !== undefined && { ssl })',
    replace: '...(ssl === null && { ssl })',
    test: { file: `${TESTS}/postgres/comes-back.test.ts`, name: 'N7 ssl applies to every connection' },
  },
  {
    name: 'postgres: the database tools ignore the ssl option',
    file: 'store-postgres/admin/reach.ts',
    find: 'connect({ url, connections: 1,',
    replace: 'connect({ url: Object.assign({}, url, { ssl: false }), connections: 1,',
    test: { file: `${TESTS}/postgres/comes-back.test.ts`, name: 'N7 ssl applies to every connection' },
  },
  {
    name: 'postgres: an invalid ssl option is accepted',
    file: 'store-postgres/server-address.ts',
    find: "  checkSsl(ssl, 'ssl')\n",
    replace: '',
    test: { file: `${TESTS}/postgres/open.test.ts`, name: 'N7 invalid settings' },
  },
  {
    name: 'the error for a Date in a payload does not name the fix',
    file: 'enqueue/requests.ts',
    find: 'hasDate(payload) ? DATES : undefined',
    replace: 'hasDate(null) ? DATES : undefined',
    test: { file: `${TESTS}/enqueue/requests.test.ts`, name: 'N9' },
  },
  {
    name: 'an error has no status code',
    file: 'job/errors.ts',
    find: 'get statusCode(): number',
    replace: 'get status(): number',
    test: { file: `${TESTS}/unit/reference-docs.test.ts`, name: 'N18' },
  },
  {
    name: 'postgres: the notifier does not get the login of the pool',
    file: 'store-postgres/options.ts',
    find: 'return notifierAddress(notifier, url, { ssl, password })',
    replace: 'return addressOf({ url: notifier, ssl, password })',
    test: {
      file: `${TESTS}/postgres/comes-back.test.ts`,
      name: 'N7 a notifier without a password uses that of the pool',
    },
  },
  {
    name: 'postgres: the password field of a pool wins over its connection string',
    file: 'store-postgres/server-address.ts',
    find: "found[key] !== undefined && !(key === 'password' && hasPassword(found['connectionString']))",
    replace: 'found[key] !== undefined',
    test: {
      file: `${TESTS}/postgres/comes-back.test.ts`,
      name: 'N7 the password of a connection string wins',
    },
  },
]
