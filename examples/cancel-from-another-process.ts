/**
 * Cancels a job that another process runs. This program starts itself a second time: the parent enqueues and
 * cancels, the child works. It uses a SQLite file, or PostgreSQL if DATABASE_URL is set.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, isInterruption, jobmill, stopOnSignals } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const renderVideo = defineJob({
  kind: 'video.render',
  async run({ signal }) {
    process.send?.('running')
    try {
      await sleep(60_000, null, { signal })
    } catch (error) {
      const reason: unknown = signal.reason
      if (isInterruption(reason)) console.log(`child    interrupted: ${reason.why}, "${reason.message}"`)
      throw error // the attempt ends as cancelled
    }
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite('cancel.db') : postgres(url)
const mill = jobmill({ store, jobs: [renderVideo], log: 'silent' })

if (process.send !== undefined) {
  stopOnSignals(mill, { stopped: () => process.disconnect() })
  await mill.start()
} else {
  const job = await mill.enqueue(renderVideo)
  const child = fork(import.meta.filename)
  await once(child, 'message')
  console.log(`parent   the job is ${(await mill.get(job.id))?.state ?? 'gone'} in process ${child.pid}`)
  const { verdict } = await mill.cancel(job.id, 'the customer changed their mind')
  console.log(`parent   cancel: ${verdict}`)
  await job.result().catch((error: unknown) => console.log(`parent   ${String(error)}`))
  console.log(`parent   the job is ${(await mill.get(job.id))?.state ?? 'gone'}`)
  child.kill('SIGTERM')
  await once(child, 'exit')
  await mill.stop()
}
