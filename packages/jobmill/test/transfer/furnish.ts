// A database with some of everything, made by the usual verbs.
import { anInstance } from '../../../conformance/src/factories.ts'
import { alerted, crashed, planned, settings } from './furnish-cluster.ts'
import { ended, waiting } from './furnish-jobs.ts'
import { inOrder, keyed } from './furnish-keys.ts'
import type { Place } from './places.ts'
import { HOUR, type Words, wordsOn } from './words.ts'

const ALL = [settings, waiting, ended, keyed, inOrder, planned, alerted, crashed]

/** With all parts, or with these. At the end nothing runs, and no instance is alive. */
export async function furnish(
  place: Place,
  parts: readonly ((words: Words) => Promise<void>)[] = ALL,
): Promise<void> {
  const { id } = anInstance()
  await place.store.instances.register(anInstance({ id, leaseMs: 24 * HOUR }))
  const words = wordsOn(place, id)
  for (const part of parts) await part(words)
  await place.store.instances.deregister(id)
}
