/** Faults in how the stores detect that tables were replaced, restored or emptied. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'

export const REPLACED: readonly TestedMutant[] = [
  {
    name: 'postgres: the fast path of enqueue does not check cached ids',
    file: 'store-postgres/fragments.ts',
    find: 'EXISTS (SELECT FROM jobmill.names AS v WHERE v.version = ${version}::uuid)',
    replace: '${version}::uuid IS NOT NULL',
    test: { file: `${TESTS}/postgres/names.test.ts`, name: 'ids are swapped' },
  },
  {
    name: 'postgres: enqueue does not check cached ids',
    file: 'store-postgres/fragments.ts',
    find: `WHERE v.version = (SELECT (p ->> 'names')::uuid FROM given) LIMIT 1`,
    replace: 'LIMIT 1',
    test: { file: `${TESTS}/postgres/names.test.ts`, name: 'ids are swapped' },
  },
  {
    name: 'postgres: a new name does not change the version of the names',
    file: 'store-postgres/schema/names.ts',
    find: 'IF EXISTS (SELECT FROM added) THEN',
    replace: 'IF false THEN',
    test: { file: `${TESTS}/postgres/replaced.test.ts`, name: 'its job lands in the right queue and kind' },
  },
  {
    name: 'postgres: tokens are issued twice after a backup is restored on a server',
    file: 'store-postgres/schema/functions/pieces.ts',
    find: 'greatest((extract(epoch FROM clock_timestamp()) * 1000000)::int8, ',
    replace: 'greatest(0, ',
    test: {
      file: `${TESTS}/postgres/replaced.test.ts`,
      name: 'P2 another process claims the job again',
    },
  },
  {
    name: 'postgres: rows of queues and kinds can be removed while jobs refer to them on a server',
    file: 'store-postgres/schema/names.ts',
    find: 'IF EXISTS (SELECT FROM jobmill.job) THEN',
    replace: 'IF false THEN',
    test: { file: `${TESTS}/admin/names-removed.test.ts`, name: 'is refused while jobs exist' },
  },
  {
    name: 'sqlite: rows of queues and kinds can be removed while jobs refer to them in a file',
    file: 'store-sqlite/schema/queues.ts',
    find: 'WHEN EXISTS (SELECT 1 FROM jobmill_job) BEGIN',
    replace: 'WHEN 0 BEGIN',
    test: { file: `${TESTS}/admin/names-removed.test.ts`, name: 'is refused while jobs exist' },
  },
  {
    name: 'postgres: jobs without a queue or kind are not reported by retention',
    file: 'store-postgres/retain/retain.ts',
    find: 'if (isLast) await warnOfUnnamed(context)',
    replace: 'if (!isLast) await warnOfUnnamed(context)',
    test: { file: `${TESTS}/admin/names-removed.test.ts`, name: 'report jobs without names' },
  },
  {
    name: 'postgres: a started process does not compare the rows of queues and kinds',
    file: 'store-postgres/names/names.ts',
    find: 'if (rows !== current.rows) load()',
    replace: "if (rows === 'never') load()",
    test: {
      file: `${TESTS}/postgres/replaced.test.ts`,
      name: 'a started process restores a kind on its own, and its jobs run',
    },
  },
  {
    name: 'postgres: an instance that registers again does not declare its limits, queues and schedules',
    file: 'runtime/engine.ts',
    find: 'register: registerAgain,',
    replace: 'register,',
    test: { file: `${TESTS}/postgres/replaced.test.ts`, name: 'all tables are truncated' },
  },
  {
    name: 'postgres: missing tables are not created again',
    file: 'store-postgres/schema/recovery.ts',
    find: `if (!MISSING.has(codeOf(error) ?? '')) throw error`,
    replace: 'if (error !== undefined) throw error',
    test: { file: `${TESTS}/postgres/replaced.test.ts`, name: 'the schema is dropped: jobs enqueued' },
  },
  {
    name: 'postgres: a sequence that is behind its table is not raised when a row is refused',
    file: 'store-postgres/schema/recovery.ts',
    find: 'if (isNumberTaken(error)) {',
    replace: 'if (isNumberTaken(null)) {',
    test: { file: `${TESTS}/postgres/sequences.test.ts`, name: 'D3 P1 under a working mill' },
  },
  {
    name: 'postgres: sequences that are behind their tables are not raised at open',
    file: 'store-postgres/schema/sequences.ts',
    find: 'if (behind.length > 0) await raiseSequences(target)',
    replace: '',
    test: { file: `${TESTS}/postgres/sequences.test.ts`, name: 'and open raises it' },
  },
  {
    name: 'postgres: retention keeps locks and keys of jobs that do not exist on a server',
    file: 'store-postgres/retain/retain.ts',
    find: '(isLast && (await releaseStray(context)))',
    replace: '(isLast && releaseStray === undefined)',
    test: { file: `${TESTS}/admin/emptied.test.ts`, name: 'D3 P1 job: the doctor reports' },
  },
  {
    name: 'sqlite: retention keeps locks and keys of jobs that do not exist in a file',
    file: 'store-sqlite/connection/look-first.ts',
    find: 'if ((request.queues?.length ?? 0) === 0) await releaseStray(live)',
    replace: '',
    test: { file: `${TESTS}/admin/emptied.test.ts`, name: 'D3 P1 job: the doctor reports' },
  },
  {
    name: 'sqlite: the permit of a removed job is not released when its handler ends',
    file: 'store-sqlite/finish/finish.ts',
    find: 'if (job === undefined) freeHolder(work, item.id)',
    replace: '',
    test: { file: `${TESTS}/admin/emptied.test.ts`, name: 'D3 P1 job: the doctor reports' },
  },
  {
    name: 'uploads: tables that are created again get another id of the inbox',
    package: 'uploads',
    file: 'inbox/identity.ts',
    find: '.values({ n: 1, id })',
    replace: '.values({ n: 1, id: newId() })',
    test: { file: 'packages/uploads/test/owner.test.ts', name: 'D3 belongs to the same inbox' },
  },
]
