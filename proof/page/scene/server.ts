/**
 * Mission Control in a process of its own, next to the workers, so that its CPU time can be measured. Sends
 * its URL when it serves, and its CPU time so far in reply to every message. SIGTERM stops it.
 */
import { bulkJob, jobmill, type Mill } from 'jobmill'
import { serve } from 'jobmill-server'
import { type Place, storeAt } from '../../cluster/places.ts'

export interface ServerTask {
  readonly place: Place
}

/** What the process sends. */
export type FromServer = { readonly url: string } | { readonly cpuMs: number }

const { place } = JSON.parse(process.argv[2] ?? '{}') as ServerTask

const mill: Mill<never> = jobmill({
  store: await storeAt(place),
  jobs: [bulkJob(() => mill)],
  instance: { label: 'mission-control' },
  log: 'silent',
})

const send = (message: FromServer): void => void process.send?.(message)

// The parent process is gone.
process.on('disconnect', () => process.exit())
// Ctrl+C reaches every process of the terminal; the parent decides.
process.on('SIGINT', () => {})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  send({ cpuMs: (user + system) / 1_000 })
})
await mill.start()
const { url, close } = await serve(mill, { port: 0, requestsPerSecond: 100_000 })
process.on(
  'SIGTERM',
  () =>
    void close()
      .then(() => mill.stop())
      .then(() => process.disconnect()),
)
send({ url })
