/** Faults in running a job and in deciding its next state. One test must find each. */
import type { TestedMutant } from '../mutant.ts'

const TESTS = 'packages/jobmill/test'

export const ATTEMPTS: readonly TestedMutant[] = [
  {
    name: 'a job with the payload of a newer release is dead at once',
    file: 'job/attempt/decide.ts',
    find: 'return unfit(ended.error, circumstances)',
    replace:
      "return { outcome: 'failed-permanently', transition: { to: 'dead', refund: true }, error: errorText(ended.error) }",
    test: { file: `${TESTS}/unit/decide.test.ts`, name: 'spends no attempt while the job is young' },
  },
  {
    name: 'a second completion with another result is ignored',
    file: 'work/outcome/complete.ts',
    find: 'if (reply.again === true && before !== resultOf(item)) throw completedTwice(attempt)',
    replace: '',
    test: { file: `${TESTS}/runtime/complete.test.ts`, name: 'a second completion with another result' },
  },
  {
    name: 'one refused progress write blocks all others',
    file: 'work/notes.ts',
    find: 'if (!isDataError(error)) return due.forEach(keep)',
    replace: 'if (Boolean(error)) return due.forEach(keep)',
    test: { file: `${TESTS}/work/notes.test.ts`, name: 'block no other' },
  },
  {
    name: 'an onDead job runs in the queue of the dead job',
    file: 'job/attempt/on-dead.ts',
    find: 'queue: orderKey === null ? ON_DEAD_QUEUE : queue',
    replace: "queue: orderKey === '' ? ON_DEAD_QUEUE : queue",
    test: { file: `${TESTS}/runtime/on-dead.test.ts`, name: 'N16 it does not wait' },
  },
  {
    name: 'a command has no default timeout',
    file: 'work/handlers/child-options.ts',
    find: 'timeout = DEFAULTS.childTimeoutMs,',
    replace: "timeout = DEFAULTS.childTimeoutMs > 0 ? 'none' : '1m',",
    test: { file: `${TESTS}/work/handlers/command.test.ts`, name: 'A the policy comes from the job' },
  },
  {
    name: 'the payload of a command cannot override the default timeout',
    file: 'work/run-attempt.ts',
    find: 'hasOwnTimeout?.(JSON.parse(lease.payload)) === true',
    replace: "hasOwnTimeout?.(JSON.parse(lease.payload)) === 'never'",
    test: { file: `${TESTS}/work/handlers/command-stop.test.ts`, name: 'wins over the default' },
  },
]
