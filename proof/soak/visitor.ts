/** A second process that comes and goes: it runs the same jobs until SIGTERM or a kill. */
import { isJobmillError, jobmill } from 'jobmill'
import { storeAt } from '../cluster/places.ts'
import { optionsFor } from './jobs.ts'
import type { Task } from './messages.ts'

const { place, leaks } = JSON.parse(process.argv[2] ?? '{}') as Task
const mill = jobmill(optionsFor(await storeAt(place), leaks))
process.on('disconnect', () => process.exit())
process.on('SIGINT', () => {})
process.on('SIGTERM', () => void mill.stop({ grace: '2s' }).then(() => process.disconnect()))
try {
  await mill.start()
  process.send?.('ready')
} catch (error) {
  // The database may be unreachable at that moment: a failed start leaves nothing behind, and the next
  // visitor comes soon.
  if (!isJobmillError(error) || !error.retryable) throw error
  process.disconnect()
}
