/** Faults in writing job outcomes while the database refuses them. One test must find each. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'
const FINISHER = `${TESTS}/work/finisher.test.ts`
const REFUSED = `${TESTS}/postgres/refused-writes.test.ts`
const SQLITE_WRITES = `${TESTS}/sqlite/writing.test.ts`

export const OUTCOMES: readonly TestedMutant[] = [
  {
    name: 'an outcome is reduced after a single unknown error',
    file: 'work/finish-alone.ts',
    find: 'const PROOF = { refusals: 15, written: 8 }',
    replace: 'const PROOF = { refusals: 1, written: 0 }',
    test: { file: FINISHER, name: 'whatever succeeds without them' },
  },
  {
    name: 'one outcome that fails blocks the rest of its batch',
    file: 'work/finisher.ts',
    find: 'if (!isData && (tries % TRIES_TOGETHER !== 0 || perWrite === 1)) continue',
    replace: 'if (tries > 0) continue',
    test: { file: FINISHER, name: 'is blamed once similar outcomes were written' },
  },
  {
    name: 'outcomes written to other tables count as proof against a refused one',
    file: 'work/written-shapes.ts',
    find: 'shape.item === item && ',
    replace: '',
    test: { file: FINISHER, name: 'is blamed once similar outcomes were written' },
  },
  {
    name: 'jobs without keys and permits count as proof against a job that has them',
    file: 'work/written-shapes.ts',
    find: ' && released.every((one) => shape.released.includes(one))',
    replace: '',
    test: { file: SQLITE_WRITES, name: 'blames no job that has one' },
  },
  {
    name: 'postgres: the keys and permits of a refused job are not read',
    file: 'store-postgres/instances.ts',
    find: 'const holdings = holdingsOfRow(row, ',
    replace: 'const holdings = holdingsOfRow({}, ',
    test: { file: REFUSED, name: 'that refuses with 23514 blames no job' },
  },
  {
    name: 'a result is dropped without proof although the error is not a data error',
    file: 'work/finish-alone.ts',
    find: 'if (!isProven && !isDataError(error)) return false',
    replace: '',
    test: { file: FINISHER, name: 'whatever succeeds without them' },
  },
  {
    name: 'outcomes that were not written count as proof against a refused one',
    file: 'work/written-shapes.ts',
    find: 'if (reply?.accepted !== true || reply.again === true || reply.state !== stateAsked(item)) return null',
    replace: 'if (reply === undefined) return null',
    test: { file: FINISHER, name: 'is not blamed because of others that' },
  },
  {
    name: 'outcomes written before a refusal count as proof against the refused one',
    file: 'work/finish-alone.ts',
    find: 'if (reason !== one.reason) {',
    replace: 'if (one.refusals === 0) {',
    test: { file: FINISHER, name: 'is not blamed if the error changes' },
  },
  {
    name: 'proof for one error counts for another error',
    file: 'work/finish-alone.ts',
    find: 'return [waiting.item.id, shapeOf(waiting.item), reason].join',
    replace: 'void reason\n  return [waiting.item.id, shapeOf(waiting.item)].join',
    test: { file: FINISHER, name: 'is blamed at once for the same error' },
  },
  {
    name: 'a burst of written outcomes counts as one',
    file: 'work/written-shapes.ts',
    find: 'counts.set(key, (counts.get(key) ?? 0) + 1)',
    replace: 'counts.set(key, 1)',
    test: { file: FINISHER, name: 'after one burst of similar outcomes' },
  },
  {
    name: 'a batch whose first half is refused blocks all others',
    file: 'work/finisher.ts',
    find: 'batch = [...batch.slice(1), ...batch.slice(0, 1)]',
    replace: '',
    test: { file: FINISHER, name: 'delays neither its neighbors' },
  },
  {
    name: 'an outcome is blamed for the lock of another transaction',
    file: 'work/finish-alone.ts',
    find: "if (isJobmillError(error) && error.code === 'STORE_BUSY') return false",
    replace: '',
    test: { file: FINISHER, name: 'is never blamed for a lock' },
  },
  {
    name: 'a constraint that refuses every row makes all jobs dead',
    file: 'work/finish-alone.ts',
    find: "if (reply === 'refused' && isProven)",
    replace: "if (reply === 'refused')",
    test: { file: SQLITE_WRITES, name: 'blames no job' },
  },
  {
    name: 'a transient data error loses a result',
    file: 'work/finish-alone.ts',
    find: 'const DATA_PROOF = { refusals: 5, written: 3 }',
    replace: 'const DATA_PROOF = { refusals: 1, written: 3 }',
    test: { file: FINISHER, name: 'loses neither data nor an attempt' },
  },
  {
    name: 'an outcome stays reduced although its reduced form was refused too',
    file: 'work/finish-alone.ts',
    find: "    waiting.item = item\n    return 'refused'",
    replace: "    return 'refused'",
    test: { file: FINISHER, name: 'stays unchanged while all other outcomes fail too' },
  },
  {
    name: 'refused follow-ups are dropped from the completion',
    file: 'work/plainer.ts',
    find: 'return { ...rest, transition: { ...transition, result: null }, error: why }',
    replace:
      'return { ...rest, followUps: undefined, transition: { ...transition, result: null }, error: why }',
    test: { file: FINISHER, name: 'with follow-ups spends an attempt' },
  },
  {
    name: 'an outcome whose error text is refused is never written',
    file: 'work/plainer.ts',
    find: 'if (item.error === undefined || item.error === UNSTORED) return null',
    replace: "if (transition.to !== 'done' || item.error === undefined) return null",
    test: { file: FINISHER, name: 'is retried with less and less data' },
  },
  {
    name: 'a job is dead without an error text',
    file: 'work/plainer.ts',
    find: 'return { ...rest, transition, error: isReplaced ? UNSTORED : `${UNSTORED}: ${errorText(error)}` }',
    replace: 'return isReplaced ? null : { ...rest, transition }',
    test: { file: REFUSED, name: 'with the reason in its place' },
  },
  {
    name: 'an outcome that cannot be written is dropped, and its handler runs again',
    file: 'work/finisher.ts',
    find: 'for (const one of left) watch.add(one)',
    replace: 'tell(left, [])',
    test: { file: FINISHER, name: 'is retried even when nothing is left to remove' },
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
    name: 'postgres: one refused write loses the result of a handler',
    file: 'job/errors.ts',
    find: "return isJobmillError(error) && !error.retryable && !error.code.startsWith('STORE_')",
    replace: 'return Boolean(error)',
    test: { file: REFUSED, name: 'whatever the code' },
  },
]
