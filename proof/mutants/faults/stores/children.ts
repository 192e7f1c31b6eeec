/** Faults in child jobs, rewind and fork, on both stores. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const MILLS = 'packages/jobmill/test/steps/children.test.ts'
const SQLITE = 'packages/jobmill/test/conformance/sqlite.test.ts'
const POSTGRES = 'packages/jobmill/test/conformance/postgres.test.ts'

export const CHILDREN: readonly TestedMutant[] = [
  {
    name: 'sqlite: the end of a child does not wake its parent',
    file: 'store-sqlite/steps/child-ends.ts',
    find: 'if (parent !== undefined) wakeIfArrived',
    replace: 'if (parent === null) wakeIfArrived',
    test: { file: SQLITE, name: 'P18 a parent is woken by the last' },
  },
  {
    name: 'postgres: the end of a child does not wake its parent',
    file: 'store-postgres/fragments.ts',
    find: 'SELECT parent_id, false FROM child_ended UNION',
    replace: 'SELECT parent_id, false FROM child_ended WHERE false UNION',
    test: { file: POSTGRES, name: 'P18 a parent is woken by the last' },
  },
  {
    name: 'postgres: a parent is woken by the first of its children',
    file: 'store-postgres/schema/functions/wait-for.ts',
    find: 'CASE WHEN s.kind = ${CHILD} THEN NOT ${openChild',
    replace: 'CASE WHEN s.kind = ${CHILD} THEN true OR NOT ${openChild',
    test: { file: POSTGRES, name: 'P18 a parent is woken by the last' },
  },
  {
    name: 'postgres: a step enqueues its children twice',
    file: 'store-postgres/steps/children.ts',
    find: 'if (!opened.is_new) return opened.is_held',
    replace: 'if (!opened.is_held) return false',
    test: { file: POSTGRES, name: 'P18 the children of a step are enqueued once' },
  },
  {
    name: 'postgres: a step whose children failed wakes the parent from a later wait',
    file: 'store-postgres/schema/functions/wait-for.ts',
    find: 'SET token = CASE WHEN is_over THEN 0 ELSE i.token END',
    replace: 'SET token = i.token',
    test: { file: POSTGRES, name: 'P18 a step whose children failed' },
  },
  {
    name: 'sqlite: a step whose children failed wakes the parent from a later wait',
    file: 'store-sqlite/steps/steps.ts',
    find: 'run(isOver ? 0 : token, pk, name)',
    replace: 'run(token, pk, name)',
    test: { file: SQLITE, name: 'P18 a step whose children failed' },
  },
  {
    name: 'sqlite: a finish wakes no parent that the same call parks',
    file: 'store-sqlite/finish/finish.ts',
    find: 'if ((job.flags & IS_CHILD) !== 0) writeOut(call)',
    replace: '',
    test: { file: SQLITE, name: 'P18 the finish of the last child and the park of its parent' },
  },
  {
    name: 'postgres: the children of a cancelled job continue',
    file: 'store-postgres/claim/stage.ts',
    find: 'await cancel(context, abandoned, PARENT_CANCELLED, { skipLocked: true })',
    replace: 'await cancel(context, abandoned.slice(0, 0), PARENT_CANCELLED, { skipLocked: true })',
    test: { file: POSTGRES, name: 'P8 P18 the children of a cancelled job' },
  },
  {
    name: 'postgres: a cancelled job loses its wake-up before its children are cancelled',
    file: 'store-postgres/claim/stage.ts',
    find: 'WHERE b.parent_id = call.job_id',
    replace: 'WHERE false AND b.parent_id = call.job_id',
    test: {
      file: 'packages/jobmill/test/postgres/abandoned.test.ts',
      name: 'P4 P8 children are cancelled although a process stops',
    },
  },
  {
    name: 'sqlite: the children of a job that is cancelled while it waits continue',
    file: 'store-sqlite/operate/actions.ts',
    find: 'if (isCancelled(did)) cancelChildren(work, job)',
    replace: '',
    test: { file: SQLITE, name: 'P8 P18 the children of a cancelled job' },
  },
  {
    name: 'postgres: a retried child is not waited for again',
    file: 'store-postgres/operate/retry.ts',
    find: 'UPDATE jobmill.child AS c SET ended_as = NULL, result = NULL, error = NULL',
    replace: 'UPDATE jobmill.child AS c SET ended_as = c.ended_as',
    test: { file: POSTGRES, name: 'P18 a child that is retried' },
  },
  {
    name: 'postgres: a rewind keeps the events of removed steps',
    file: 'store-postgres/steps/rewind.ts',
    find: 'UPDATE jobmill.job_event AS e SET step = NULL',
    replace: 'UPDATE jobmill.job_event AS e SET step = e.step',
    test: { file: POSTGRES, name: 'P18 an event that a removed step took' },
  },
  {
    name: 'postgres: a fork copies steps that were not recorded',
    file: 'store-postgres/steps/rewind.ts',
    find: 'AND (s.ended_at IS NOT NULL OR',
    replace: 'AND (true OR s.ended_at IS NOT NULL OR',
    test: { file: POSTGRES, name: 'P17 a fork is a new job' },
  },
  {
    name: 'a failed child does not fail its parent',
    file: 'work/steps/child-steps.ts',
    find: 'if (failed.length > 0) throw',
    replace: 'if (failed.length < 0) throw',
    test: { file: MILLS, name: 'a dead child fails its parent' },
  },
]
