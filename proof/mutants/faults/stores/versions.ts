/** Faults in versions of definitions and in the follow-ups of cancels. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const MILLS = 'packages/jobmill/test/steps/versions.test.ts'
const SQLITE = 'packages/jobmill/test/conformance/sqlite.test.ts'
const POSTGRES = 'packages/jobmill/test/conformance/postgres.test.ts'

export const VERSIONS: readonly TestedMutant[] = [
  {
    name: 'sqlite: the first step does not keep the version',
    file: 'store-sqlite/steps/steps.ts',
    find: 'if (!hasSteps && versionedKind !== undefined)',
    replace: 'if (hasSteps && versionedKind !== undefined)',
    test: { file: SQLITE, name: 'P14 P17 after a recorded step' },
  },
  {
    name: 'sqlite: later steps change the version',
    file: 'store-sqlite/steps/steps.ts',
    find: 'if (!hasSteps && versionedKind !== undefined)',
    replace: 'if (versionedKind !== undefined)',
    test: { file: SQLITE, name: 'P14 later steps, and later versions' },
  },
  {
    name: 'postgres: later steps change the version',
    file: 'store-postgres/steps/record.ts',
    find: 'AND (r.flags & ${HAS_STEPS} = 0 OR NOT EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = r.id))',
    replace: '',
    test: { file: POSTGRES, name: 'P14 later steps, and later versions' },
  },
  {
    name: 'postgres: a rolled-back step decides the version',
    file: 'store-postgres/steps/record.ts',
    find: '${HAS_STEPS} = 0 OR NOT EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = r.id))',
    replace: '${HAS_STEPS} = 0)',
    test: { file: POSTGRES, name: 'P14 P17 a step in a transaction that was rolled back' },
  },
  {
    name: 'sqlite: an old release that registers again ends follow-ups',
    file: 'store-sqlite/instances/instances.ts',
    find: 'if (isNew) sql(FOLLOW)',
    replace: 'sql(FOLLOW)',
    test: { file: SQLITE, name: 'P3 an instance of an earlier release that registers again' },
  },
  {
    name: 'postgres: an old release that registers again ends follow-ups',
    file: 'store-postgres/instances/instances.ts',
    find: "AND NOT EXISTS (SELECT FROM jobmill.instance AS i WHERE i.id = (SELECT (p ->> 'instance')::uuid FROM given))",
    replace: '',
    test: { file: POSTGRES, name: 'P3 an instance of an earlier release that registers again' },
  },
  {
    name: 'postgres: a stale token changes the version',
    file: 'store-postgres/steps/record.ts',
    find: 'held AS h JOIN input AS i ON i.id = h.id AND i.token = h.token JOIN jobmill.kind AS k',
    replace: 'held AS h JOIN input AS i ON i.id = h.id JOIN jobmill.kind AS k',
    test: { file: POSTGRES, name: 'P4 P14 a stale token' },
  },
  {
    name: 'postgres: a retried job loses its version',
    file: 'store-postgres/steps/record.ts',
    find: 'UPDATE jobmill.job AS j SET kind_id = k.kind_id FROM kept AS k WHERE',
    replace: 'UPDATE jobmill.job AS j SET kind_id = j.kind_id FROM kept AS k WHERE',
    test: { file: POSTGRES, name: 'P14 a job that is retried or rewound' },
  },
  {
    name: 'postgres: a job that runs again loses its version',
    file: 'store-postgres/steps/record.ts',
    find: 'UPDATE jobmill.running AS r SET kind_id = k.kind_id FROM kept AS k WHERE',
    replace: 'UPDATE jobmill.running AS r SET kind_id = r.kind_id FROM kept AS k WHERE',
    test: { file: POSTGRES, name: 'P14 P17 after a recorded step' },
  },
  {
    name: 'a process handles only its own version',
    file: 'job/kind/kind-name.ts',
    find: 'Array.from({ length: version ?? 0 }, (_, at) => at + 1)',
    replace: 'version === undefined ? [] : [version]',
    test: { file: MILLS, name: 'P14 P17 a job that recorded a step in version 3' },
  },
  {
    name: 'a fork forgets the version of its steps',
    file: 'runtime/operate/steps.ts',
    find: 'kind: storedKind({ kind, minVersion })',
    replace: 'kind: storedKind({ kind, minVersion: minVersion === 0 ? 1 : null })',
    test: { file: MILLS, name: 'P14 P17 a fork needs the version' },
  },
  {
    name: 'sqlite: a cancelled job has no follow-up',
    file: 'store-sqlite/finish/leave-running.ts',
    find: 'if (to === CANCELLED) followCancel',
    replace: 'if (to < 0) followCancel',
    test: { file: SQLITE, name: 'P3 a waiting job that is cancelled' },
  },
  {
    name: 'postgres: a cancelled job without steps has no follow-up',
    file: 'store-postgres/fragments.ts',
    find: 'e.flags & ${HAS_STEPS} <> 0 OR (',
    replace: 'e.flags & ${HAS_STEPS} <> 0 OR false AND (',
    test: { file: POSTGRES, name: 'P3 a waiting job that is cancelled' },
  },
  {
    name: 'postgres: the record of a cancel is deleted before its follow-up exists',
    file: 'store-postgres/claim/stage.ts',
    find: 'AND NOT EXISTS (SELECT FROM to_follow AS f WHERE f.wake = call.id)',
    replace: '',
    test: { file: POSTGRES, name: 'P3 a waiting job that is cancelled' },
  },
  {
    name: 'postgres: a kind without onCancelled gets follow-ups',
    file: 'store-postgres/claim/stage.ts',
    find: 'AND (SELECT k.on_cancelled FROM jobmill.kind AS k WHERE k.id = j.kind_id)',
    replace: '',
    test: { file: POSTGRES, name: 'P8 P18 the children of a cancelled job' },
  },
  {
    name: 'sqlite: a registration without onCancelled does not count',
    file: 'store-sqlite/instances/instances.ts',
    find: 'WHERE id = ? AND on_cancelled <> ?',
    replace: 'WHERE id = ? AND on_cancelled < ?',
    test: { file: SQLITE, name: 'only jobs of kinds with onCancelled' },
  },
  {
    name: 'postgres: a job that is cancelled twice before a stage has two follow-ups with one id',
    file: 'store-postgres/claim/stage.ts',
    find: '[...new Map(followUps.map((job) => [job.id, job])).values()]',
    replace: 'followUps',
    test: { file: POSTGRES, name: 'P3 a job that is retried and cancelled again before the next stage' },
  },
  {
    name: 'postgres: stage ends although cancelled jobs lack their follow-ups',
    file: 'store-postgres/claim/stage.ts',
    find: ' + followed.length > 0',
    replace: ' > 0',
    test: { file: POSTGRES, name: 'P3 stages enqueue the follow-ups of many' },
  },
]
