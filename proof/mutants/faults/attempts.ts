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
  {
    name: 'a failed job fails the whole chunk',
    file: 'work/chunks.ts',
    find: 'else if (thrown === null) member.resolve()',
    replace: 'else if (thrown === null && failures.size === 0) member.resolve()',
    test: { file: `${TESTS}/runtime/chunks.test.ts`, name: 'a job that fails is retried alone' },
  },
  {
    name: 'a chunk is larger than its size',
    file: 'work/chunks.ts',
    find: 'if (waiting.size >= size) start()',
    replace: 'if (waiting.size > size) start()',
    test: { file: `${TESTS}/runtime/chunks.test.ts`, name: 'up to the size of a chunk per call' },
  },
  {
    name: 'a job that is cancelled while it waits for a chunk stays in it',
    file: 'work/chunks.ts',
    find: 'waiting.delete(member)\n',
    replace: '\n',
    test: { file: `${TESTS}/runtime/chunks.test.ts`, name: 'cancelled while it waits is in no chunk' },
  },
  {
    name: 'a chunk may be larger than its queue has workers',
    file: 'runtime/options/queue-options.ts',
    find: 'if (slots > 0 && slots < chunk.size) {',
    replace: 'if (slots > 0 && slots > chunk.size) {',
    test: { file: `${TESTS}/runtime/chunks.test.ts`, name: 'a chunk larger than its queue has workers' },
  },
]
