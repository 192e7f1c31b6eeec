/** Faults in stopping a mill, in logging and in options. */
import type { TestedMutant } from '../mutant.ts'

const TESTS = 'packages/jobmill/test'

export const RUNTIME: readonly TestedMutant[] = [
  {
    name: 'each of the last writes of a stop has its own time limit',
    file: 'work/grace.ts',
    find: 'leftMs = Math.max(0, leftMs - (platform.monotonic() - startedAt))',
    replace: 'leftMs = Math.max(0, leftMs)',
    test: { file: `${TESTS}/runtime/stop-limits.test.ts`, name: 'D9 all last writes together' },
  },
  {
    name: 'a second stop waits for the last writes',
    file: 'work/grace.ts',
    find: 'if (isOver && shorterMs === 0) skip()',
    replace: 'if (isOver && shorterMs < 0) skip()',
    test: { file: `${TESTS}/runtime/stop-limits.test.ts`, name: 'D9 a second stop skips' },
  },
  {
    name: 'stop() takes a handler of another mill for its own',
    file: 'work/inside-handler.ts',
    find: 'return `runAttempt of mill ${number}`',
    replace: "return number === 0 ? '' : 'runAttempt'",
    test: { file: `${TESTS}/runtime/lifecycle.test.ts`, name: 'D a handler stops another mill' },
  },
  {
    name: 'a rejected promise of a logger ends the process',
    file: 'observe/log/logger.ts',
    find: 'whenRejected(returned, () => {})',
    replace: 'void returned',
    test: { file: `${TESTS}/observe/log-events.test.ts`, name: 'N2 a logger that rejects' },
  },
  {
    name: 'an error in the fields of a log line loses its message',
    file: 'job/text/plain-errors.ts',
    find: 'if (isError(value)) return plainError(value, 0)',
    replace: 'if (isError(value)) return value',
    test: { file: `${TESTS}/observe/log-events.test.ts`, name: 'N3 errors in the fields of a handler' },
  },
  {
    name: 'SIGHUP ends a worker without a stop',
    file: 'runtime/stop-on-signals.ts',
    find: "'SIGTERM', 'SIGINT', 'SIGHUP'",
    replace: "'SIGTERM', 'SIGINT'",
    test: { file: `${TESTS}/cli/start.test.ts`, name: 'S5 P6 SIGHUP' },
  },
  {
    name: 'a second signal waits for everything in flight',
    file: 'runtime/stop-on-signals.ts',
    find: 'systemPlatform.timer(END_MS, () => endNow(signal), { unref: true })',
    replace: 'void endNow',
    test: { file: `${TESTS}/runtime/stop-limits.test.ts`, name: 'P6 D9 a second signal ends a stop' },
  },
  {
    name: 'enqueue ignores a kind in its options',
    file: 'enqueue/client.ts',
    find: "'kind' in options || 'payload' in options",
    replace: "'kind' in options && 'payload' in options",
    test: { file: `${TESTS}/runtime/context.test.ts`, name: 'N enqueue refuses a kind' },
  },
  {
    name: 'the base of a backoff exceeds its max',
    file: 'job/queue/queue-sources.ts',
    find: 'base <= max ? settings :',
    replace: 'base <= max || max >= 0 ? settings :',
    test: { file: `${TESTS}/conformance/postgres.test.ts`, name: 'N1 a base of the backoff' },
  },
  {
    name: 'a release that was abandoned is emitted',
    file: 'work/workers.ts',
    find: 'if (finished === null) return\n',
    replace: "if (finished === null) return emit('released', lease)\n",
    test: { file: `${TESTS}/runtime/lifecycle.test.ts`, name: 'D low a release that could not' },
  },
  {
    name: 'a slow read that fails discards a newer value from the cache',
    file: 'platform/cache.ts',
    find: 'if (last?.answer === answer) last = null',
    replace: 'last = null',
    test: { file: 'packages/server/test/cache.test.ts', name: 'D low a slow read that fails' },
  },
  {
    name: 'http: the server of a mill that was never started stays open after its stop',
    file: 'runtime/lifecycle.ts',
    find: 'closing.abort(millStopped())',
    replace: 'if (engine !== null) closing.abort(millStopped())',
    test: { file: 'packages/server/test/local.test.ts', name: 'D low serve closes its server' },
  },
  {
    name: 'large follow-ups are one statement',
    file: 'store-postgres/finish/finish.ts',
    find: 'const slices = slicesOf(item.followUps ?? [])',
    replace: 'const slices = slicesOf([]).map(() => item.followUps ?? [])',
    test: { file: `${TESTS}/postgres/statements.test.ts`, name: 'D7 P10 large follow-ups' },
  },
]
