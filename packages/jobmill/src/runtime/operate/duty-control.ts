/** Manual control of duties: list them, see their leaders, and run one pass now. */
import { checkString } from '../../job/names.ts'
import type { Slot } from '../../store/types/duty.ts'
import type { Counts } from '../../upkeep/duty.ts'
import type { DutyStatus } from '../../upkeep/duty-log.ts'
import { retainAll } from '../../upkeep/retain.ts'
import type { MillTools } from '../tools.ts'
import { reapAndEmit } from '../upkeep.ts'

export interface DutyView {
  readonly name: string
  /**
   * The instance that runs it for the whole cluster. Null when there is none, or when each instance runs it
   * for itself.
   */
  readonly leader: string | null
  /** When a pass last succeeded or was not needed, as reported by the leader. Null when unknown. */
  readonly lastSuccessAt: number | null
  /** Failed passes in a row. */
  readonly failures: number
  /** The status in this process. Null if this process does not have the duty. */
  readonly here: DutyStatus | null
}

export interface DutyControl {
  /** The duties of the cluster and, if it is started, those of this process. */
  duties(): Promise<DutyView[]>
  /**
   * Runs one pass of a duty in this process, even if another instance leads it. Returns what the pass did.
   */
  runDuty(name: string): Promise<Counts>
  /** How the workers of queues with a total are split over the instances. */
  slots(): Promise<Slot[]>
  /** Reclaims the jobs of dead processes now. Does not require `mill.start()`. */
  recover(): Promise<Counts>
  /** Deletes jobs and records past their retention now. Does not require `mill.start()`. */
  retain(): Promise<Counts>
}

export function dutyControl({ opened, lifecycle, options, emit }: MillTools): DutyControl {
  const never = new AbortController().signal
  return {
    async duties() {
      const known = await (await opened()).instances.duties()
      const here = lifecycle.engine?.duties() ?? []
      const names = new Set([...known, ...here].map(({ name }) => name))
      return [...names].toSorted().map((name) => {
        const record = known.find((one) => one.name === name)
        const own = here.find((one) => one.name === name) ?? null
        return {
          name,
          leader: record?.leader ?? null,
          lastSuccessAt: record?.lastSuccessAt ?? null,
          failures: record?.failures ?? own?.failures ?? 0,
          here: own,
        }
      })
    },
    async runDuty(name) {
      checkString(name, 'name')
      await lifecycle.started('runDuty')
      return lifecycle.engine?.runDuty(name) ?? {}
    },
    slots: async () => (await opened()).instances.slots(),
    recover: async () => reapAndEmit(await opened(), options.crashesUntilDead, emit, never),
    retain: async () => retainAll(await opened(), options.retain.ages, never),
  }
}
