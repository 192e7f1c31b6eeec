/** Faults in how outcomes of jobs are written while the database refuses them: each is for one test to find. */
import type { TestedMutant } from './mutant.ts'

const TESTS = 'packages/jobmill/test'
const FINISHER = `${TESTS}/work/finisher.test.ts`
const REFUSED = `${TESTS}/postgres/refused-writes.test.ts`
const SQLITE_WRITES = `${TESTS}/sqlite/writing.test.ts`

export const OUTCOMES: readonly TestedMutant[] = [
  {
    name: 'an outcome is plainer after one error that nobody knows',
    file: 'work/finish-alone.ts',
    find: 'return one.strikes >= MOST_STRIKES',
    replace: 'return true',
    test: { file: FINISHER, name: 'nothing is judged in an outage' },
  },
  {
    name: 'one item that fails stops its neighbours',
    file: 'work/finisher.ts',
    find: 'if (!isData && (tries % TRIES_TOGETHER !== 0 || perWrite === 1)) continue',
    replace: 'if (tries > 0) continue',
    test: { file: FINISHER, name: 'alone lets its neighbours through' },
  },
  {
    name: 'an item is judged by outcomes that go to other tables',
    file: 'work/finish-alone.ts',
    find: 'shapes.has(shapeOf(one.waiting.item)) && ',
    replace: '',
    test: { file: FINISHER, name: 'alone lets its neighbours through' },
  },
  {
    name: 'an item is judged for a lock of another transaction',
    file: 'work/finish-alone.ts',
    find: 'if (one.areOthersWritten && !isLocked)',
    replace: 'if (one.areOthersWritten)',
    test: { file: FINISHER, name: 'is never at fault for a lock' },
  },
  {
    name: 'a constraint that refuses every row makes all jobs dead',
    file: 'work/finish-alone.ts',
    find: 'return one.refusals >= DATA_TRIES && one.strikes >= MOST_DATA_STRIKES',
    replace: 'return true',
    test: { file: SQLITE_WRITES, name: 'blames no job' },
  },
  {
    name: 'an error of data that passes loses a result',
    file: 'work/finish-alone.ts',
    find: 'const DATA_TRIES = 5',
    replace: 'const DATA_TRIES = 1',
    test: { file: FINISHER, name: 'for a moment loses nothing' },
  },
  {
    name: 'an outcome stays without its data although that was refused too',
    file: 'work/finish-alone.ts',
    find: '    waiting.item = item\n    return false',
    replace: '    return false',
    test: { file: FINISHER, name: 'together with those of all others stays as it was' },
  },
  {
    name: 'follow-ups that are refused are dropped from the completion',
    file: 'work/plainer.ts',
    find: 'return { ...rest, transition: { ...transition, result: null }, error: why }',
    replace:
      'return { ...rest, followUps: undefined, transition: { ...transition, result: null }, error: why }',
    test: { file: FINISHER, name: 'with follow-ups costs an attempt' },
  },
  {
    name: 'an outcome whose text is refused is never written',
    file: 'work/plainer.ts',
    find: 'if (item.error === undefined || item.error === UNSTORED) return null',
    replace: "if (transition.to !== 'done' || item.error === undefined) return null",
    test: { file: FINISHER, name: 'is tried with less and less of it' },
  },
  {
    name: 'a job that is dead without an error text',
    file: 'work/plainer.ts',
    find: 'return { ...rest, transition, error: isReplaced ? UNSTORED : `${UNSTORED}: ${errorText(error)}` }',
    replace: 'return isReplaced ? null : { ...rest, transition }',
    test: { file: REFUSED, name: 'with the reason in its place' },
  },
  {
    name: 'an outcome that cannot be written is forgotten, so that its handler runs again',
    file: 'work/finisher.ts',
    find: 'for (const one of left) alone.add(one)',
    replace: 'tell(left, [])',
    test: { file: FINISHER, name: 'even plainly is tried on' },
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
    name: 'postgres: what a returned handler gives is lost with one refused write',
    file: 'job/errors.ts',
    find: "return isJobmillError(error) && !error.retryable && !error.code.startsWith('STORE_')",
    replace: 'return Boolean(error)',
    test: { file: REFUSED, name: 'whatever the code' },
  },
]
