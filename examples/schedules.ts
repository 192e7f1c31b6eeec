/**
 * Cron schedules: defined in code, changed by an operator at run time, and across clock changes. Uses a
 * SQLite file, or PostgreSQL if DATABASE_URL is set. Run it in two terminals on one database: each tick still
 * enqueues one job.
 */
import { defineJob, isJobmillError, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const ranThrice = Promise.withResolvers<void>()
let runs = 0
const collect = defineJob({
  kind: 'metrics.collect',
  run({ payload, job }: JobContext<{ source: string }>) {
    console.log(`runs     collect ${payload.source}, ${JSON.stringify(job.metadata)}`)
    runs += 1
    if (runs === 3) ranThrice.resolve()
  },
})
const report = defineJob({ kind: 'report.build', run: () => {} })

const url = process.env['DATABASE_URL']
const mill = jobmill({
  store: url === undefined ? sqlite('schedules.db') : postgres(url),
  jobs: [collect, report],
  schedules: [
    { name: 'collect', job: collect, when: 'every 1s', payload: { source: 'sensors' }, missed: 'skip' },
    { name: 'report', job: report, when: '0 9 * * MON-FRI', zone: 'Europe/Paris', overlap: 'skip' },
  ],
  log: 'silent',
})

// Describe an expression before creating a schedule. On 28 March 2027 there is no 02:30 in Paris.
console.log(`means    ${await mill.schedules.describe('30 2 * * *', 'Europe/Paris')}`)
const start = '2027-03-27T00:00:00Z'
for (const at of await mill.schedules.nextRuns({ when: '30 2 * * *', zone: 'Europe/Paris', start }, 3))
  console.log(`next     ${new Date(at).toISOString()}`)

// An invalid expression is refused.
try {
  await mill.schedules.create({ name: 'typo', job: report, when: '0 25 * * *' })
} catch (error) {
  if (!isJobmillError(error)) throw error
  console.log(`refused  ${error.message}`)
}

await mill.start()
await ranThrice.promise
const history = await mill.schedules.history('collect')
const instants = new Set(history.map(({ at }) => at))
console.log(`history  ${history.length - instants.size} ticks ran twice`)

// An override by an operator survives deploys; the view lists where it differs from code.
const changed = await mill.schedules.change('report', { when: '@monthly' })
console.log(`changed  report: ${changed.text}; differs from code: ${changed.differs.join(', ')}`)

// Enqueue one job now.
const { outcome, job } = await mill.schedules.trigger('report')
await mill.job(job).result()
console.log(`trigger  ${outcome}, and done`)

// Create and delete a schedule without a deploy.
const { text } = await mill.schedules.create({ name: 'extra', job: 'report.build', when: 'every 6h' })
console.log(`created  extra: ${text}; deleted: ${await mill.schedules.delete('extra')}`)

await mill.stop()
console.log('stopped')
