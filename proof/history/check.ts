/** The checker: finds violated guarantees in a history. Pure, so that a planted fault can test it. */
import type { Entry } from './entry.ts'
import { neverTakenAlive } from './rules/alive.ts'
import { onlyClaimable } from './rules/claimable.ts'
import { cancelledStaysSo } from './rules/cancelled.ts'
import { onlyRealCrashes } from './rules/crashes.ts'
import { stopsWhenLost } from './rules/stops-when-lost.ts'
import { keysHeld } from './rules/keys.ts'
import { leases } from './rules/leases.ts'
import { limits } from './rules/limits.ts'
import { oneAtATimePerOrderKey } from './rules/order-key.ts'
import { eventsReceivedOnce } from './rules/events.ts'
import { cancelsFollowed } from './rules/follow-ups.ts'
import { nothingForgotten } from './rules/forgotten.ts'
import { nothingLost } from './rules/lost.ts'
import { orderKept } from './rules/order.ts'
import { notRepeated } from './rules/repeated.ts'
import { parkedIsOver } from './rules/parked.ts'
import { stepsRecordedOnce } from './rules/steps.ts'
import { ticks } from './rules/ticks.ts'
import { neverInEarlierVersion } from './rules/versions.ts'
import type { Violation } from './violation.ts'

export type { Violation } from './violation.ts'

const RULES = [
  nothingLost,
  nothingForgotten,
  leases,
  onlyClaimable,
  neverTakenAlive,
  onlyRealCrashes,
  stopsWhenLost,
  notRepeated,
  cancelledStaysSo,
  orderKept,
  oneAtATimePerOrderKey,
  keysHeld,
  limits,
  ticks,
  stepsRecordedOnce,
  eventsReceivedOnce,
  parkedIsOver,
  neverInEarlierVersion,
  cancelsFollowed,
]

export function checkHistory(history: readonly Entry[]): Violation[] {
  return RULES.flatMap((rule) => rule(history))
}
