/** Faults in writing job outcomes while the database refuses them. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const ALONE = `${TESTS}/work/finish-alone.test.ts`
const REFUSED = `${TESTS}/postgres/refused-writes.test.ts`
const POSTGRES = `${TESTS}/conformance/postgres.test.ts`
const SQLITE = `${TESTS}/conformance/sqlite.test.ts`
const BATCHES = `${TESTS}/postgres/batches.test.ts`

export const OUTCOMES: readonly TestedMutant[] = [
  {
    name: 'a smaller form of an outcome is written after one accepted rehearsal',
    file: 'work/outcome/finish-alone.ts',
    find: 'const PROOF = 10',
    replace: 'const PROOF = 1',
    test: { file: ALONE, name: 'at random, 90 in 100' },
  },
  {
    name: 'writes a smaller form without trying the full form again',
    file: 'work/outcome/finish-alone.ts',
    find: '      await rehearsal(one, trial)\n      return false',
    replace:
      '      await rehearsal(one, trial)\n      return trial.accepted.every((times) => times >= PROOF) && isSmallerWritten(one, trial)',
    test: { file: ALONE, name: 'only right after a refusal of the full form' },
  },
  {
    name: 'blames without a control',
    file: 'work/outcome/plainer.ts',
    find: 'yield { form, controls: [control] }',
    replace: 'yield { form, controls: [] }',
    test: { file: ALONE, name: 'for all outcomes of one shape' },
  },
  {
    name: 'the full form and the smaller one are tried in turns',
    file: 'work/outcome/finish-alone.ts',
    find: 'platform.random() >= shareOfFull(trial)',
    replace: '(trial.refused + trial.fullRefused + Math.max(...trial.accepted)) % 2 === 0',
    test: { file: ALONE, name: 'in every second statement' },
  },
  {
    name: 'a rehearsal without a lease counts as accepted',
    file: 'work/outcome/finish-alone.ts',
    find: 'if (reply?.accepted !== true || reply.again === true) return',
    replace: 'if (reply === undefined) return',
    test: { file: ALONE, name: 'is not at fault for a rehearsal' },
  },
  {
    name: 'one outcome that fails blocks the rest of its batch',
    file: 'work/outcome/finisher.ts',
    find: 'if (!isData && (tries % TRIES_TOGETHER !== 0 || perWrite === 1)) continue',
    replace: 'if (!isData) continue',
    test: { file: ALONE, name: 'with a note: unknown error' },
  },
  {
    name: 'a batch whose first half is refused blocks all others',
    file: 'work/outcome/finisher.ts',
    find: 'batch = [...batch.slice(1), ...batch.slice(0, 1)]',
    replace: '',
    test: { file: ALONE, name: 'delays neither the others' },
  },
  {
    name: 'an outcome is blamed for the lock of another transaction',
    file: 'job/errors.ts',
    find: 'if (!isJobmillError(error) || isDataError(error)) return true\n  const { severity',
    replace: "if (!isJobmillError(error) || error.code !== 'STORE_CLOSED') return true\n  const { severity",
    test: { file: ALONE, name: 'outages and locks say nothing' },
  },
  {
    name: 'refused follow-ups are dropped from the completion',
    file: 'work/outcome/plainer.ts',
    find: 'const rest = { id, token, outcome, transition, followUps, cool }',
    replace: 'const rest = { id, token, outcome, transition, followUps: followUps && undefined, cool }',
    test: { file: ALONE, name: 'with follow-ups costs an attempt' },
  },
  {
    name: 'an outcome whose error text is refused is never written',
    file: 'work/outcome/plainer.ts',
    find: 'const errors = [`${UNSTORED}: ${reason}`, UNSTORED]',
    replace: 'const errors = [`${error}: ${reason}`]',
    test: { file: ALONE, name: 'is tried with less and less of it' },
  },
  {
    name: 'a job is dead without an error text',
    file: 'work/outcome/plainer.ts',
    find: 'return errors.map((text) => ({ ...rest, error: text }))',
    replace: 'return errors.map((text) => (text.startsWith(UNSTORED) ? rest : { ...rest, error: text }))',
    test: { file: REFUSED, name: 'with the reason in its place' },
  },
  {
    name: 'a result that cannot be stored leaves no reason',
    file: 'work/outcome/plainer.ts',
    find: 'return [`${note}: ${reason}`, note].map((text) => ({ ...done, error: text }))',
    replace: 'return [`${note}: ${reason}`, note].map(() => done)',
    test: { file: ALONE, name: 'with a note: data error' },
  },
  {
    name: 'an outcome that cannot be written is dropped, and its handler runs again',
    file: 'work/outcome/finisher.ts',
    find: 'for (const one of left) alone.add(one)',
    replace: 'settle(left, [])',
    test: { file: ALONE, name: 'for every outcome blame none' },
  },
  {
    name: 'postgres: a rehearsed finish is committed',
    file: 'store-postgres/finish/finish.ts',
    find: '    throw REHEARSED\n',
    replace: '    return undefined as never\n',
    test: { file: POSTGRES, name: 'a rehearsed finish' },
  },
  {
    name: 'sqlite: a rehearsed finish is committed',
    file: 'store-sqlite/finish/finish.ts',
    find: '  throw new Rehearsed(replies)\n',
    replace: '  return replies as never\n',
    test: { file: SQLITE, name: 'a rehearsed finish' },
  },
  {
    name: 'a result that was not written is emitted',
    file: 'work/run-job.ts',
    find: 'if (finished.accepted) tools.written(attempt, item, finished)',
    replace:
      'if (finished.accepted) tools.written(attempt, { ...item, transition: decision.transition }, finished)',
    test: { file: REFUSED, name: 'one job alone keeps being refused' },
  },
  {
    name: 'a write of outcomes has no limit in size',
    file: 'work/outcome/finisher.ts',
    find: 'if (count >= perWrite || (count > 0 && size + own > MOST_CHARS)) break',
    replace: 'if (count >= perWrite) break',
    test: { file: `${TESTS}/work/finisher.test.ts`, name: 'D7 with large results' },
  },
  {
    name: 'concurrent writes of outcomes have no limit in size',
    file: 'work/outcome/finisher.ts',
    find: 'if (chars < MOST_CHARS) await write(take())',
    replace: 'await write(take())',
    test: { file: `${TESTS}/work/finisher.test.ts`, name: 'D7 of concurrent writes' },
  },
  {
    name: 'a result is dropped because tables are missing',
    file: 'job/errors.ts',
    find: '!error.retryable && error.statusCode !== 503',
    replace: "!error.retryable && !error.code.startsWith('STORE_')",
    test: { file: `${TESTS}/work/finisher.test.ts`, name: 'D low wait for the migration' },
  },
  {
    name: 'an outcome is reported in its full form although a smaller one was written',
    file: 'work/outcome/finish-alone.ts',
    find: 'if (isUnknownOutcome(error)) {\n      one.isUnknown = true',
    replace: 'if (isUnknownOutcome(error)) {',
    test: { file: ALONE, name: 'D low is reported as it was written' },
  },
  {
    name: 'one refused payload rejects the calls of its batch',
    file: 'enqueue/batcher.ts',
    find: 'isUnknown || !isRefusal(error)',
    replace: 'isUnknown || (isJobmillError(error) && error.retryable)',
    test: { file: `${TESTS}/unit/batcher.test.ts`, name: 'D1 an error that a trigger raised' },
  },
  {
    name: 'two jobs under one id are enqueued with a completion',
    file: 'runtime/enqueue-inside.ts',
    find: 'const added = jobs.filter(({ id }) => !seen.has(id))',
    replace: 'const added = jobs',
    test: { file: `${TESTS}/runtime/complete-together.test.ts`, name: 'D8 P11 under one id are one job' },
  },
  {
    name: 'a job is written before its queue is checked',
    file: 'enqueue/requests.ts',
    find: 'own.queue === undefined ? (definition?.queue ?? queueOf(kind)) : own.queue',
    replace: 'own.queue ?? definition?.queue ?? queueOf(kind)',
    test: { file: `${TESTS}/runtime/arguments.test.ts`, name: 'N20 every method refuses a wrong type' },
  },
  {
    name: 'an attempt whose transaction began too early is spent',
    file: 'job/attempt/decide.ts',
    find: 'return retriedForFree(ended.error, 0)',
    replace: "return failed('failed', ended.error, circumstances)",
    test: { file: BATCHES, name: 'whose transactions are too early' },
  },
  {
    name: 'postgres: a job that cannot be read stops all claims',
    file: 'store-postgres/claim/claim.ts',
    find: 'if (!mayBeDamage(error) || !(await endUnreadable(context, request))) throw error',
    replace: 'throw error',
    test: { file: `${TESTS}/postgres/comes-back.test.ts`, name: 'that the server cannot read' },
  },
]
