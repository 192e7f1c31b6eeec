/**
 * The conformance suite: a store that passes it keeps the guarantees. Works with any runner that can register
 * a test.
 */
import type { Store } from 'jobmill/store'
import { aHandOff, aJob } from '../factories.ts'
import { type Bench, onBench } from './bench.ts'
import { positionCases } from './inspect/position.ts'
import { failureCases } from './inspect/failures.ts'
import { findCases } from './inspect/find.ts'
import { cancelCases } from './operate/cancel.ts'
import type { Case } from './case.ts'
import type { Group, OptionalGroup } from './groups.ts'
import type { ConformanceSubject } from './subject.ts'
import { claimCases } from './claim/claim.ts'
import { deletedScheduleCases } from './schedules/deleted-schedules.ts'
import { dedupeEndedCases } from './enqueue/dedupe-ended.ts'
import { dedupeCases } from './enqueue/dedupe.ts'
import { enqueueCases } from './enqueue/enqueue.ts'
import { finishCases } from './finish/finish.ts'
import { finishEffectCases } from './finish/finish-effects.ts'
import { forgetCases } from './finish/forget.ts'
import { forgetEffectCases } from './finish/forget-effects.ts'
import { handOffCases } from './enqueue/hand-off.ts'
import { handOffRoomCases } from './enqueue/hand-off-room.ts'
import { handedOffCases } from './enqueue/handed-off.ts'
import { instanceCases } from './instances/instances.ts'
import { lifecycleCases } from './lifecycle.ts'
import { listCases } from './inspect/list.ts'
import { logCases } from './finish/logs.ts'
import { notCrashedCases } from './instances/not-crashed.ts'
import { onDeadCases } from './instances/on-dead.ts'
import { operateCases } from './operate/operate.ts'
import { orderKeyCases } from './enqueue/order-key.ts'
import { progressCases } from './finish/progress.ts'
import { limitOverrideCases } from './limits/limit-overrides.ts'
import { overrideCases } from './queues/overrides.ts'
import { queueCases } from './queues/queues.ts'
import { readCases } from './inspect/read.ts'
import { reapCases } from './instances/reap.ts'
import { replaceCases } from './enqueue/replace.ts'
import { resultCases } from './inspect/results.ts'
import { retainCases } from './operate/retain.ts'
import { stageCases } from './claim/stage.ts'
import { fenceCases } from './finish/fence.ts'
import { heartbeatCases } from './instances/heartbeat.ts'
import { raceCases } from './claim/races.ts'
import { sameIdCases } from './enqueue/same-id.ts'
import { transactionCases } from './enqueue/transactions.ts'
import { waitCases } from './notifier/waits.ts'
import { unservedKindCases } from './inspect/unserved-kinds.ts'
import { metricCases } from './metrics/metrics.ts'
import { leadershipCases } from './instances/leadership.ts'
import { limitCases } from './limits/limits.ts'
import { limitChangeCases } from './limits/limit-changes.ts'
import { limitKeyCases } from './limits/limit-keys.ts'
import { limitKeyEndCases } from './limits/limit-key-ends.ts'
import { permitCases } from './limits/permits.ts'
import { permitEndCases } from './limits/permit-ends.ts'
import { queueLimitCases } from './limits/queue-limits.ts'
import { queueLimitHeartbeatCases } from './limits/queue-limit-heartbeat.ts'
import { retainMoreCases } from './operate/retain-more.ts'
import { notificationCases } from './notifier/notifications.ts'
import { scheduleCases } from './schedules/schedules.ts'
import { scheduleChangeCases } from './schedules/schedule-changes.ts'
import { slotCases } from './instances/slots.ts'
import { tickCases } from './schedules/ticks.ts'
import { tickOnceCases } from './schedules/ticks-once.ts'
import { timelineCases } from './metrics/timeline.ts'

/** Every case by the part that it is about. A store without a part skips its group as a whole. */
export const conformanceGroups: Readonly<Record<Group, readonly Case[]>> = {
  jobs: [
    ...lifecycleCases,
    ...enqueueCases,
    ...sameIdCases,
    ...dedupeCases,
    ...dedupeEndedCases,
    ...replaceCases,
    ...orderKeyCases,
    ...stageCases,
    ...claimCases,
    ...finishCases,
    ...fenceCases,
    ...finishEffectCases,
    ...forgetCases,
    ...forgetEffectCases,
    ...progressCases,
    ...logCases,
    ...cancelCases,
    ...operateCases,
    ...retainCases,
    ...retainMoreCases,
    ...readCases,
    ...resultCases,
    ...findCases,
    ...listCases,
    ...raceCases,
  ],
  queues: [...queueCases],
  instances: [
    ...instanceCases,
    ...heartbeatCases,
    ...reapCases,
    ...notCrashedCases,
    ...onDeadCases,
    ...leadershipCases,
    ...slotCases,
  ],
  overrides: [...overrideCases],
  inspect: [...unservedKindCases, ...positionCases, ...failureCases],
  directDispatch: [...handOffCases, ...handOffRoomCases, ...handedOffCases],
  transactions: [...transactionCases],
  schedules: [
    ...scheduleCases,
    ...scheduleChangeCases,
    ...deletedScheduleCases,
    ...tickCases,
    ...tickOnceCases,
  ],
  limits: [
    ...limitOverrideCases,
    ...limitCases,
    ...limitChangeCases,
    ...limitKeyCases,
    ...limitKeyEndCases,
    ...permitCases,
    ...permitEndCases,
    ...queueLimitCases,
    ...queueLimitHeartbeatCases,
  ],
  metrics: [...metricCases, ...timelineCases],
  notifier: [...waitCases, ...notificationCases],
}

export const conformanceCases: readonly Case[] = Object.values(conformanceGroups).flat()

/** Registers one test per case: with the `test` of vitest, of node:test, or of any other runner. */
export function storeConformance(
  subject: ConformanceSubject,
  test: (name: string, run: () => Promise<void>) => unknown,
): void {
  const gaps = new Set(subject.knownGaps)
  const absent = new Set<Group>(subject.without)
  const left = new Map<Group, number>()
  for (const [group, cases] of Object.entries(conformanceGroups) as [Group, readonly Case[]][]) {
    for (const { name, run, needs = [] } of cases) {
      const missing = [group, ...needs].find((one) => absent.has(one))
      if (missing !== undefined) {
        left.set(missing, (left.get(missing) ?? 0) + 1)
        continue
      }
      const isGap = gaps.delete(name)
      test(isGap ? `known gap: ${name}` : name, () => {
        const pass = onBench(subject, run)
        return isGap ? mustFail(pass, name) : pass
      })
    }
  }
  for (const group of subject.without ?? [])
    test(`absent: ${group} (${left.get(group) ?? 0} cases are not run)`, () =>
      onBench(subject, (bench) => mustBeAbsent(group, subject, bench)))
  for (const name of gaps) {
    test(`known gap: ${name}`, () =>
      Promise.reject(new Error(`no case that runs is called "${name}": remove it from knownGaps`)))
  }
}

async function mustBeAbsent(
  group: OptionalGroup,
  { transaction }: ConformanceSubject,
  { store, worker }: Bench,
): Promise<void> {
  const isThere =
    group === 'transactions'
      ? transaction !== undefined
      : group === 'directDispatch'
        ? (await store.enqueue([aJob()], { handOff: aHandOff(await worker()) }))[0]?.lease !== undefined
        : (store as Store)[group] !== undefined
  if (isThere) throw new Error(`the store has ${group}: remove it from without`)
}

async function mustFail(pass: Promise<void>, name: string): Promise<void> {
  const failed = await pass.then(
    () => false,
    () => true,
  )
  if (!failed) throw new Error(`"${name}" passes now: remove it from knownGaps`)
}
