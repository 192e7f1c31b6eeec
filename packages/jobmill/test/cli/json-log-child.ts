/**
 * A child process of json-log.test.ts: writes log lines and ends at once, in the way that its argument
 * selects.
 */
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { jsonLogger } from '../../src/cli/output/json-log.ts'
import { defineJob, jobmill } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry.ts'
import { sqlite } from '../../src/sqlite.ts'

const [, , what = ''] = process.argv

/** More lines than a pipe can hold. */
function many(): void {
  const log = jsonLogger('info')
  for (let n = 0; n < 5_000; n += 1) log.info(`line ${n}`, { n, text: 'x'.repeat(50) })
  log.error('the last', {})
  // SIGKILL, so that no cleanup can help.
  process.kill(process.pid, 'SIGKILL')
}

function odd(): void {
  const log = jsonLogger('info')
  const cause = new Error('refused')
  log.debug('not written', {})
  log.error('an error', { part: 'claim', error: new Error('away', { cause }) })
  log.error('a thrown object', { error: { code: 7 } })
  log.warn('a text of %s and "quotes"\nin two lines', { nested: { deep: [cause] }, large: 10n })
  const round: Record<string, unknown> = {}
  round['round'] = round
  log.warn('a\u009B2J\u202Eb', { text: '\u2028\u0085' })
  log.warn('a circle', { round, list: Array.from({ length: 1_000 }, (_, n) => n) })
}

async function mill(): Promise<void> {
  const fails = defineJob({
    kind: 'fails',
    maxAttempts: 1,
    run() {
      throw new TypeError('no such host')
    },
  })
  const working = jobmill({
    store: sqlite(':memory:'),
    jobs: [fails],
    log: jsonLogger('info'),
    tracing: openTelemetry({ tracerProvider: new BasicTracerProvider() }),
  })
  await working.start()
  const job = await working.enqueue(fails, null)
  await job.result().catch(() => {})
  await working.stop()
}

if (what === 'many') many()
else if (what === 'odd') odd()
else await mill()
process.exit(0)
