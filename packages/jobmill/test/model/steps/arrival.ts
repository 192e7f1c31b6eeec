// What happens to a reply that contains leases.
import * as fc from 'fast-check'
import type { LeaseName } from '../lease-name.ts'
import type { Worker } from '../world.ts'

type Arrival = 'at once' | 'later' | 'never'

export const anArrival: fc.Arbitrary<Arrival> = fc.constantFrom('at once', 'at once', 'later', 'never')

export function arrive(worker: Worker, leases: LeaseName[], arrival: Arrival): void {
  if (arrival === 'at once') worker.hand.push(...leases)
  if (arrival === 'later') worker.onTheWay.push(leases)
}
