/**
 * The conformance suite: a store that passes it keeps the guarantees. Works with any runner that can register
 * a test.
 */
import type { Store } from '../../store/store.ts'
import { aHandOff, aJob } from '../factories.ts'
import { type Bench, onBench } from './bench.ts'
import { positionCases } from './position.ts'
import { failureCases } from './failures.ts'
import { findCases } from './find.ts'
import { cancelCases } from './cancel.ts'
import type { Case } from './case.ts'
import type { Group, OptionalGroup } from './groups.ts'
import type { ConformanceSubject } from './subject.ts'
import { claimCases } from './claim.ts'
import { deletedScheduleCases } from './deleted-schedules.ts'
import { dedupeEndedCases } from './dedupe-ended.ts'
import { dedupeCases } from './dedupe.ts'
import { enqueueCases } from './enqueue.ts'
import { finishCases } from './finish.ts'
import { finishEffectCases } from './finish-effects.ts'
import { forgetCases } from './forget.ts'
import { forgetEffectCases } from './forget-effects.ts'
import { handOffCases } from './hand-off.ts'
import { handOffRoomCases } from './hand-off-room.ts'
import { handedOffCases } from './handed-off.ts'
import { inputCases } from './input.ts'
import { instanceCases } from './instances.ts'
import { lifecycleCases } from './lifecycle.ts'
import { listCases } from './list.ts'
import { logCases } from './logs.ts'
import { notCrashedCases } from './not-crashed.ts'
import { onDeadCases } from './on-dead.ts'
import { operateCases } from './operate.ts'
import { orderKeyCases } from './order-key.ts'
import { progressCases } from './progress.ts'
import { limitOverrideCases } from './limit-overrides.ts'
import { overrideCases } from './overrides.ts'
import { queueCases } from './queues.ts'
import { readCases } from './read.ts'
import { reapCases } from './reap.ts'
import { replaceCases } from './replace.ts'
import { resultCases } from './results.ts'
import { retainCases } from './retain.ts'
import { stageCases } from './stage.ts'
import { fenceCases } from './fence.ts'
import { heartbeatCases } from './heartbeat.ts'
import { raceCases } from './races.ts'
import { sameIdCases } from './same-id.ts'
import { transactionCases } from './transactions.ts'
import { waitCases } from './waits.ts'
import { unservedKindCases } from './unserved-kinds.ts'
import { metricCases } from './metrics.ts'
import { leadershipCases } from './leadership.ts'
import { limitCases } from './limits.ts'
import { limitChangeCases } from './limit-changes.ts'
import { limitKeyCases } from './limit-keys.ts'
import { limitKeyEndCases } from './limit-key-ends.ts'
import { permitCases } from './permits.ts'
import { permitEndCases } from './permit-ends.ts'
import { queueLimitCases } from './queue-limits.ts'
import { queueLimitHeartbeatCases } from './queue-limit-heartbeat.ts'
import { retainMoreCases } from './retain-more.ts'
import { notificationCases } from './notifications.ts'
import { scheduleCases } from './schedules.ts'
import { scheduleChangeCases } from './schedule-changes.ts'
import { slotCases } from './slots.ts'
import { tickCases } from './ticks.ts'
import { tickOnceCases } from './ticks-once.ts'
import { timelineCases } from './timeline.ts'

/** Every case by the part that it is about. A store without a part skips its group as a whole. */
export const conformanceGroups: Readonly<Record<Group, readonly Case[]>> = {
  jobs: [
    ...lifecycleCases,
    ...inputCases,
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
